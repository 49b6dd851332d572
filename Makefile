# Everything runs from a fresh clone: the environment is made on first use and kept in .venv.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: setup demo test test-python lint soak bench clean

setup: $(READY)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("onesided needs Python 3.11 or later") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)

demo: setup
	@$(BIN)/onesided demo --out demo

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

test: lint test-python

test-python: setup
	@$(BIN)/pytest --numprocesses 2 --dist worksteal

# The long versions of races, kills and stochastic controls.
soak: setup
	@$(BIN)/pytest -m soak

bench: setup
	@$(BIN)/python benchmarks/run.py

clean:
	rm -rf .venv demo results
