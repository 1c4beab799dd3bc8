# Every target sets itself up: a virtual environment in .venv from the locked requirements. Needs Python 3.11 or newer.
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3; do \
	$$name -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$name && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check install
RUNS ?= 10

.PHONY: help demo test lint format prove bench clean

help:
	@echo "make demo    serve the platform with an organization to try (ARGS=\"--port 8081\")"
	@echo "make test    run the tests"
	@echo "make lint    check style, types and import directions"
	@echo "make format  write the code in the project's style"
	@echo "make prove   run what takes longer (RUNS=$(RUNS))"
	@echo "make bench   measure, beside a peer in the same run"
	@echo "make clean   remove the virtual environment and caches"

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with venv is needed; set PYTHON=/path/to/python"; exit 1; }
	@echo "setting up .venv, once" >&2
	@$(PYTHON) -m venv .venv || { rm -rf .venv; exit 1; }

.venv/platform.stamp: requirements/platform.txt pyproject.toml | $(BIN)/python
	@$(PIP) --require-hashes --requirement requirements/platform.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/dev.stamp: requirements/dev.txt .venv/platform.stamp
	@$(PIP) --require-hashes --requirement requirements/dev.txt
	@touch $@

demo: .venv/platform.stamp
	@exec $(BIN)/searchport demo $(ARGS)

test: .venv/dev.stamp
	$(BIN)/python -m pytest -n auto -m "not prove" $(ARGS)

lint: .venv/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: .venv/dev.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

prove: .venv/dev.stamp
	SEARCHPORT_PROVE_RUNS=$(RUNS) $(BIN)/python -m pytest --timeout=3600 $(ARGS) -m "prove or hypothesis"

bench: .venv/dev.stamp
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
