# Every target sets up what it needs: a virtual environment in .venv, made again when pyproject.toml or C code changes.

PYTHON ?= python3
VENV ?= .venv
FUZZ_SECONDS ?= 60
HTTP1_ROUNDS ?= 1000000
FUZZ_EXAMPLES ?= 20
FUZZ_SEED ?=
CONFORMANCE_DATA ?= ../shared/data
BIN := $(VENV)/bin
PACKAGE := $(VENV)/.package
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# uv installs in a fifth of pip's time, which installs what uv does not find: pip knows other settings of indexes.
install = { test -x $(BIN)/uv || $(PIP) uv; } && $(BIN)/uv pip install --quiet --python $(BIN)/python \
	--reinstall-package llm-loadgen $(1) || $(PIP) $(1)
READY := $(VENV)/.ready
# How many tests run at once: tests/conftest.py.
TESTS := -m pytest -n auto --maxprocesses 8 --dist worksteal

# Properties that compute whole reports: `make test` tries them with few examples.
SLOW_PROPERTIES := $(addprefix tests/reporter/test_, bounds_law.py client_health.py growing_log.py metrics_properties.py shards.py) tests/reporter/telemetry/test_energy.py

define LOWEST
import tomllib
with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]
lines = [*project["dependencies"], *project["optional-dependencies"]["tokenizers"]]
print(*(line.replace(">=", "==") for line in lines), sep="\n")
endef
export LOWEST

.DEFAULT_GOAL := help
.PHONY: help setup wheel release demo conformance docs page-assets golden lint test test-all test-lowest test-docker test-hf check format bench replay kill soak chaos hostile conversations search bounds engines real-server-demo clean fuzz fuzzers

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Make the virtual environment with everything that development needs

BUILT_FROM := pyproject.toml hatch_build.py $(wildcard loadgen/driver/client/_*.[ch] reporter/log/_*.[ch])

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(PACKAGE): $(BUILT_FROM)
	$(PYTHON) -m venv $(VENV)
	$(call install,--editable .)
	@touch $@

$(READY): $(BUILT_FROM)
	$(PYTHON) -m venv $(VENV)
	$(call install,--editable '.[dev]')
	$(call install,--no-deps bfcl-eval==2026.3.23)
	@touch $(PACKAGE) $@

$(VENV)/.docs: $(READY)
	$(call install,--editable '.[docs]')
	@touch $@

$(VENV)/.fuzz: $(READY)
	$(call install,--editable '.[fuzz]') || true
	@touch $@

wheel: | $(BIN)/python ## Build a wheel in dist: for this platform with the compiled I/O loop, or without a C compiler for all platforms
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

release: $(PACKAGE) ## Build and check what a release uploads: wheels for glibc and musl on x86-64 and ARM, the pure wheel, the sdist (3 min)
	$(call install,--editable '.[release]')
	$(BIN)/python deploy/release.py

demo: $(PACKAGE) ## Measure a mock endpoint and compare the report with its truth (10 s)
	$(BIN)/loadgen demo

test: setup ## Run the test suite without the tests marked slow (4 min on two cores; `make check` runs all)
	$(BIN)/python $(TESTS) -m "not slow"

test-lowest: ## Run all tests with the oldest dependencies that pyproject.toml allows
	$(MAKE) VENV=.venv-lowest .venv-lowest/.ready
	$(PYTHON) -c "$$LOWEST" > .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --requirement .venv-lowest/lowest.txt
	.venv-lowest/bin/python $(TESTS)

test-docker: setup ## Run the tests of containers, and make their image (needs Docker, and root with debootstrap for the image)
	@docker image inspect llm-loadgen-test >/dev/null 2>&1 || tests/containers/image.sh
	LOADGEN_NEEDS_DOCKER=1 $(BIN)/python -m pytest -m docker tests

test-hf: setup ## Run the tests that need the extra `hf`, and install it: with it, every report loads pandas
	$(call install,--editable '.[hf]')
	$(BIN)/python -m pytest tests/workloads/test_hugging_face.py

check: lint test-all ## Lint, type-check and run all tests

lint: setup ## Lint and type-check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

test-all: setup ## Run all tests
	$(BIN)/python $(TESTS)

page-assets: ## Build the plotting library of HTML pages from the versions in page-assets/package.json (needs npm)
	cd page-assets && npm ci --no-audit --no-fund && npm run --silent build
	cd page-assets && npm sbom --sbom-format cyclonedx --omit dev > sbom.cdx.json
	cd page-assets && sha256sum ../reporter/render/html/assets/charts.min.js > charts.sha256

golden: setup ## Write every golden and generated file again: schemas, options.pyi, docs, expected outputs of tests
	$(BIN)/python -m tests.golden

format: setup ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

fuzz: fuzzers ## Fuzz every decoder and every reader of files for FUZZ_SECONDS (60) each, the compiled HTTP/1.1 under sanitizers, and slow properties with FUZZ_EXAMPLES (20) times the examples that `make test-all` tries
	HTTP1_ROUNDS=$(HTTP1_ROUNDS) $(BIN)/python -m pytest tests/fuzz/test_http1_sanitized.py
	TIMES_AS_MANY_EXAMPLES=$(FUZZ_EXAMPLES) $(BIN)/python $(TESTS) $(SLOW_PROPERTIES)

fuzzers: $(VENV)/.fuzz ## Fuzz every decoder and every reader of files for FUZZ_SECONDS (60) each; by atheris where there is a wheel of it
	nice $(BIN)/python tests/fuzz/run.py --seconds $(FUZZ_SECONDS) $(if $(FUZZ_SEED),--seed $(FUZZ_SEED))
	nice $(BIN)/python tests/fuzz/files.py --seconds $(FUZZ_SECONDS) $(if $(FUZZ_SEED),--seed $(FUZZ_SEED))

conformance: setup ## Compare every scorer with recorded verdicts on real outputs, in CONFORMANCE_DATA
	$(BIN)/python tests/conformance/run.py $(CONFORMANCE_DATA)

replay: setup ## Accuracy sessions on recorded answers, killed and resumed: the published figures (40 s)
	$(BIN)/python benchmarks/accuracy_replay.py $(CONFORMANCE_DATA)

docs: $(VENV)/.docs ## Build the documentation site in build/docs; warnings are errors
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -b html -d build/doctrees docs build/docs

bench: setup ## Run the benchmarks
	CONFORMANCE_DATA=$(CONFORMANCE_DATA) $(BIN)/python benchmarks/run.py

kill: setup ## Kill it at 100 random moments under load, and 50 on a busy machine: nothing is lost, and no process is left (20 min)
	$(BIN)/python benchmarks/kill.py
	$(BIN)/python benchmarks/kill.py --rounds 50 --busy 4

soak: setup ## Ten minutes at a steady rate, and at 90 % of capacity: memory, lag and descriptors are flat (20 min)
	$(BIN)/python benchmarks/soak.py
	$(BIN)/python benchmarks/soak.py --capacity-share 0.9

chaos: setup ## 10,000 requests, a fifth of which meet faults: each ends once and as it must; 20 damaged logs, 60 hostile programs (2 min)
	$(BIN)/python benchmarks/chaos.py --requests 7000
	$(BIN)/python benchmarks/chaos.py --requests 3000 --tls --damages 0
	$(BIN)/python benchmarks/hostile.py --programs 60

hostile: setup ## 500 hostile programs in the sandbox, graders killed at random: nothing is left (5 min)
	$(BIN)/python benchmarks/hostile.py

conversations: setup ## 1,000 conversations of five turns at once: every turn has exactly its context (10 s)
	$(BIN)/python benchmarks/conversations.py

search: setup ## Search for the limit of a server that is known, ten times: within 5 % and two minutes (15 min)
	$(BIN)/python benchmarks/search.py

bounds: setup ## 100 runs on a busy core: the truth lies between the bounds of every figure (20 min)
	$(BIN)/python benchmarks/bounds.py

engines: setup ## Measure vLLM, llama.cpp, Infinity, transformers serve, LiteLLM and Triton on the CPU with tiny models, against their own counters (5 GB in build/engines, 20 min; ENGINES="--only vllm")
	$(BIN)/python -m benchmarks.engines $(ENGINES)

real-server-demo: setup ## Measure a real model server on the CPU (installs PyTorch into .venv-real)
	LOADGEN=$(BIN)/loadgen PYTHON=$(PYTHON) examples/real_server/demo.sh

clean: ## Remove what the other targets made
	rm -rf .venv .venv-lowest .venv-real build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
