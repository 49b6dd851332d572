# Everything runs from a fresh clone: the environment is made on first use and kept in .venv.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --prefer-binary
# Stamps: what the demo needs, the core and its charts, and what everything else needs.
DEMO := .venv/.demo
READY := .venv/.ready

# Commands start as processes of their own again and again; with bytecode kept they start in half the
# time.
unexport PYTHONDONTWRITEBYTECODE

# Two installations at a time would be in each other's way.
.NOTPARALLEL:
.PHONY: setup demo test test-python lint soak soak-ledgers soak-engines soak-audit soak-mechanisms bench clean

setup: $(READY)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("onesided needs Python 3.11 or later") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv .venv

$(DEMO): pyproject.toml | $(BIN)/python
	@$(PIP) --editable '.[charts]'
	@touch $(DEMO)

# With everything there, the demo has what it needs.
$(READY): pyproject.toml | $(BIN)/python
	@$(PIP) --editable '.[dev]'
	@touch $(DEMO) $(READY)

demo: $(DEMO)
	@$(BIN)/onesided demo --out demo

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

test: lint test-python

test-python: setup
	@$(BIN)/pytest --numprocesses 2 --dist worksteal

# The long versions of races, kills, fuzz and controls, in parts that can be run alone.
SOAK := $(BIN)/pytest -m soak
soak: soak-ledgers soak-engines soak-audit soak-mechanisms

soak-ledgers: setup
	@$(SOAK) tests/contract/test_ledger* tests/contract/test_desk* tests/contract/test_session_crashes.py tests/seams tests/cli

soak-engines: setup
	@$(SOAK) tests/engines tests/laws

soak-audit: setup
	@$(SOAK) tests/contract/test_session_audit.py tests/contract/test_audit* \
	  tests/contract/test_plants.py tests/stochastic/test_planted_leaks.py \
	  tests/stochastic/test_audit*

soak-mechanisms: setup
	@$(SOAK) tests/contract/test_mechanisms.py tests/stochastic tests/unit tests/house \
	  --ignore-glob='*/test_planted_leaks.py' --ignore-glob='*/test_audit_*'

bench: setup
	@$(BIN)/python benchmarks/run.py

clean:
	rm -rf .venv demo results
