# Every target CI runs, and the two a newcomer needs: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TOOLS := $(VENV)/.tools
# What is imported is compiled then, and kept: without that, each process of the tests compiles it all again.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
LOCK := uv pip compile --quiet --generate-hashes --universal --python-version 3.11 \
  --no-emit-index-url --no-header --no-annotate
ENDPOINT := build/endpoint
DISTRIBUTED := build/distributed
PEERS := build/peers
ENGINES := demur/sampling
KERNEL := $(wildcard hatch_build.py src/$(ENGINES)/*.[ch])
CONVENTIONS := build/conventions
SANITIZED := build/sanitized
CHECKS := -fsanitize=address,undefined -fno-sanitize-recover=all
# Python keeps what it allocated, and other packages mix new and free: neither is the kernel's, which is plain C.
CHECKED = LD_PRELOAD="$$(gcc -print-file-name=libasan.so)" ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0 PYTHONMALLOC=malloc \
  PYTHONPATH=$(SANITIZED) DEMUR_ENGINE=c $(BIN)/python -m pytest -n 0 -s
CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser)

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint types imports test-slow fuzz sanitize test-browser test-inspect test-endpoint test-conventions test-distributed bench bench-peers docs golden messages \
  screenshots coverage lock format ci clean writable

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

writable:
	@test -w . || { echo "$(CURDIR) is read-only: copy the folder to where you may write, and run make there" >&2; exit 1; }

$(READY): requirements.lock pyproject.toml $(KERNEL) | writable
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "demur needs a working Python 3.11 or newer, and $(PYTHON) is not one. Name one: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "$(PYTHON) could not make a virtual environment (on Debian: apt-get install python3-venv)" >&2; exit 1; }
	$(INSTALL) --require-hashes -r requirements.lock
	$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(TOOLS): requirements-dev.lock $(READY)
	$(INSTALL) --require-hashes -r requirements-dev.lock
	@touch $@

setup: $(TOOLS)  ## make .venv with demur and the tools to work on it, everything pinned

demo: $(READY)  ## evaluate two made-up systems and say where the report is
	@$(BIN)/demur demo --folder build/demo

test: $(TOOLS)  ## the tests and the doctests
	$(BIN)/python -m pytest -n auto --dist worksteal

check: lint types imports test  ## everything that must be clean before a commit

lint: $(TOOLS)  ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(TOOLS)  ## mypy --strict
	$(BIN)/mypy

imports: $(TOOLS)  ## the rooms import only downwards
	$(BIN)/lint-imports

test-slow: $(TOOLS)  ## long tests: more cases and examples, large random comparisons, coverage of intervals
	$(BIN)/python -m pytest -n auto --dist worksteal -m slow

fuzz: $(TOOLS)  ## the fuzzers among the slow tests alone, with counts (FUZZ_SECONDS for each, 40 if not given)
	$(BIN)/python -m pytest -n auto --dist worksteal -m fuzz

sanitize: $(TOOLS)  ## the tests of the kernel, every access to memory and every overflow checked (needs gcc)
	rm -rf $(SANITIZED) && mkdir -p $(SANITIZED) && cp -r src/demur $(SANITIZED) && rm -f $(SANITIZED)/$(ENGINES)/_kernel*.so
	CC=gcc CFLAGS="-g $(CHECKS)" LDFLAGS="$(CHECKS)" $(BIN)/python hatch_build.py $(SANITIZED)/$(ENGINES)
	$(CHECKED) -m "" tests/sampling/test_kernel.py tests/sampling/test_kernel_draws.py tests/sampling/test_engine.py
	$(CHECKED) tests/sampling tests/inference tests/contracts/test_golden.py

test-browser: $(TOOLS)  ## the report in a real chromium
	@test -x "$(CHROMIUM)" || \
	  { echo "no chromium here (on Debian: apt-get install chromium), or name one: make CHROMIUM=/path/to/chromium $@" >&2; exit 1; }
	CHROMIUM="$(CHROMIUM)" $(BIN)/python -m pytest -m browser

$(ENDPOINT)/.ready: requirements-endpoint.lock | writable
	$(PYTHON) -m venv $(ENDPOINT)
	$(ENDPOINT)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-endpoint.lock
	@touch $@

test-endpoint: $(TOOLS) $(ENDPOINT)/.ready  ## demur produce against a real llama.cpp server with random weights
	DEMUR_ENDPOINT_PYTHON="$(abspath $(ENDPOINT))/bin/python" $(BIN)/python -m pytest -m endpoint tests/produce/test_real_server.py

# The tools themselves come without what they need: of each a single file is run, which needs torch at most.
$(CONVENTIONS)/.ready: requirements-conventions.lock | writable
	$(PYTHON) -m venv $(CONVENTIONS)
	$(CONVENTIONS)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes -r requirements-conventions.lock
	@touch $@

test-conventions: $(TOOLS) $(CONVENTIONS)/.ready  ## the emulations against the tools themselves (torch: 5 GB)
	DEMUR_CONVENTIONS_PYTHON="$(abspath $(CONVENTIONS))/bin/python" $(BIN)/python -m pytest -m conventions tests/features/conventions/test_real_tools.py

$(DISTRIBUTED)/.ready: requirements-distributed.lock $(TOOLS) | writable
	$(INSTALL) --no-deps --require-hashes --upgrade --target $(DISTRIBUTED) -r requirements-distributed.lock
	@touch $@

test-distributed: $(DISTRIBUTED)/.ready  ## workers of a Dask cluster of separate processes, one of which is killed
	PYTHONPATH="$(abspath $(DISTRIBUTED))" $(BIN)/python -m pytest -m distributed tests/extensions/scale

bench: $(TOOLS)  ## one table of how much longer others take, measured in the same run
	$(BIN)/python bench

$(PEERS)/.ready: requirements-bench.lock $(TOOLS) | writable
	$(INSTALL) --no-deps --require-hashes --upgrade --target $(PEERS) -r requirements-bench.lock
	@touch $@

bench-peers: $(PEERS)/.ready  ## the same with peers that demur needs for nothing else (0.5 GB)
	PYTHONPATH="$(abspath $(PEERS))" $(BIN)/python bench

docs: $(TOOLS)  ## write the pages that are generated from the code
	$(BIN)/python docs/make_definitions.py
	$(BIN)/python docs/make_schemas.py
	$(BIN)/python docs/make_calibration.py
	$(BIN)/python docs/make_cli.py
	$(BIN)/python docs/make_examples.py
	$(BIN)/python docs/make_figures.py
	$(BIN)/python docs/make_notebook.py

messages: $(TOOLS)  ## write the file of messages anew, when the wording of one is meant to change
	UPDATE_MESSAGES=1 $(BIN)/python -m pytest -n 0 -m "" tests

golden: $(TOOLS)  ## write the golden files of the tests anew, when a number is meant to change
	$(BIN)/python docs/make_golden.py

screenshots: $(TOOLS)  ## photograph the demo's report for the docs (needs chromium)
	CHROMIUM="$(CHROMIUM)" $(BIN)/python docs/make_screenshots.py

coverage: $(TOOLS)  ## measure again how often intervals cover, and write docs/coverage.md (a quarter of an hour)
	$(BIN)/python docs/make_coverage.py

format: $(TOOLS)  ## let ruff rewrite the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock:  ## pin the newest versions, what demur needs as its developers have it (needs uv on PATH)
	$(LOCK) pyproject.toml --upgrade --extra inspect --extra parquet --extra plot --extra produce --group dev -o requirements-dev.lock
	$(LOCK) pyproject.toml --constraint requirements-dev.lock --group build -o requirements.lock
	$(LOCK) --upgrade --group endpoint -o requirements-endpoint.lock
	$(LOCK) --upgrade --group conventions -o requirements-conventions.lock
	$(LOCK) --upgrade --no-deps --group conventions-tools >> requirements-conventions.lock
	$(LOCK) --upgrade --group distributed -o requirements-distributed.lock
	$(LOCK) --upgrade --constraint requirements-dev.lock --group bench -o requirements-bench.lock

ci: test lint types imports test-slow sanitize test-browser test-endpoint test-distributed  ## what .ci/run runs

clean:  ## remove what the other targets made
	rm -rf $(VENV) build src/$(ENGINES)/_kernel*.so .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
