# Every target sets up what it needs: a virtual environment in .venv, made anew when pyproject.toml changes.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

define LOWEST
import tomllib
with open("pyproject.toml", "rb") as file:
    print(*(line.replace(">=", "==") for line in tomllib.load(file)["project"]["dependencies"]), sep="\n")
endef
export LOWEST

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-lowest check format bench real-server-demo clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Make the virtual environment with everything that development needs

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: setup ## Measure a mock endpoint and hold the report against its truth (10 s)
	$(BIN)/loadgen demo

test: setup ## Run the test suite
	$(BIN)/python -m pytest

test-lowest: ## Run the test suite with the oldest dependencies that pyproject.toml allows
	$(MAKE) VENV=.venv-lowest .venv-lowest/.ready
	$(PYTHON) -c "$$LOWEST" > .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --requirement .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pytest

check: setup ## Lint, type-check and test: the whole truth
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

format: setup ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup ## Run the benchmarks
	$(BIN)/python benchmarks/run.py

real-server-demo: setup ## Measure a real model server on the CPU (installs PyTorch into .venv-real)
	LOADGEN=$(BIN)/loadgen PYTHON=$(PYTHON) examples/real_server/demo.sh

clean: ## Remove what the other targets made
	rm -rf .venv .venv-lowest .venv-real build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
