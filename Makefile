# Every task of the project. `make demo` and `make test` set up all they need: .venv, the package, its tools.

PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
BIN := $(VENV)/bin
# English to count in make bench, a document per line; without it, text that is drawn at random.
CORPUS ?= $(wildcard ../shared/corpus/english_64m.txt.xz)
# Reviews to split in make bench; without them, the examples.
DATASETS ?= $(wildcard ../shared/datasets)
# What the tests need of the resources is installed beside the environment, not into the user's own folder.
export TEXTVEIL_RESOURCES := $(CURDIR)/$(VENV)/resources
RESOURCES := $(addprefix $(VENV)/resources/,wordnet wordnet-ic spacy-en all-minilm-l6-v2)
# As many tests at a time as there are cores, but not more than memory has room for models.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal
SLOW_RESOURCES := $(addprefix $(VENV)/resources/,smollm2)

.DEFAULT_GOAL := help
.PHONY: help install demo test test-all check format bench clean

help:  ## List the tasks
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "textveil needs Python 3.11 or 3.12: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

$(VENV)/resources/%: $(VENV)/installed
	$(BIN)/textveil resources install $* --from pypi --folder $(VENV)/resources
	touch $@

$(PEERS)/installed: benchmarks/peers.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --requirement benchmarks/peers.txt
	touch $@

install: $(VENV)/installed  ## Make .venv and install textveil into it

demo: $(RESOURCES)  ## Obfuscate a few texts and show what is protected
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

test: check $(RESOURCES)  ## Check the code and run the tests (a few minutes)
	$(PYTEST)

test-all: check $(RESOURCES) $(SLOW_RESOURCES) $(PEERS)/installed  ## Run all tests, also slow ones and those against other libraries
	$(PYTEST) -m ''

check: $(VENV)/installed  ## Lint and type-check
	$(BIN)/ruff check src tests scripts benchmarks
	$(BIN)/ruff format --check src tests scripts benchmarks
	$(BIN)/mypy

format: $(VENV)/installed  ## Format the code
	$(BIN)/ruff check --fix src tests scripts benchmarks
	$(BIN)/ruff format src tests scripts benchmarks

bench: $(RESOURCES) $(PEERS)/installed  ## Measure speed, start-up, memory, splitting, scoring and counting
	$(BIN)/python -m benchmarks.run --peers $(PEERS)/bin/python \
		$(if $(CORPUS),--corpus $(CORPUS)) $(if $(DATASETS),--datasets $(DATASETS))

clean:  ## Remove environments and build products
	rm -rf $(VENV) $(PEERS) build/demo dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
