# Everything runs from a fresh clone: the environment is made on first use and kept in .venv.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --prefer-binary
# Stamps: what the demo needs, the core and its charts; everything; the console; the site.
DEMO := .venv/.demo
READY := .venv/.ready
CONSOLE := .venv/.console
SITE_READY := .venv/.site-ready
# npm's packages for the site, beside the environment; SITE is where the site is built.
SITE_PACKAGES := .venv/site-packages
SITE := build/site

# Commands start as processes of their own again and again; with bytecode kept they start in half the
# time.
unexport PYTHONDONTWRITEBYTECODE

# Two installations at a time would be in each other's way.
.NOTPARALLEL:
.PHONY: setup demo console docs docs-serve test test-python lint lint-site soak soak-ledgers soak-server soak-engines soak-audit soak-mechanisms bench clean

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
	@touch $(DEMO) $(READY) $(CONSOLE)

demo: $(DEMO)
	@$(BIN)/onesided demo --out demo
	@echo "The same building in a browser: make console"

$(CONSOLE): pyproject.toml | $(BIN)/python
	@$(PIP) --editable '.[charts,server]'
	@touch $(CONSOLE)

# The building of the demo in the console; a later start goes on where this one ended.
console: $(CONSOLE)
	@test -d demo/building || $(BIN)/onesided simulate --scale 0.02 --seed 7 --out demo/building
	@$(BIN)/onesided ui demo/building

$(SITE_READY): pyproject.toml | $(BIN)/python
	@$(PIP) --editable '.[docs]'
	@touch $(SITE_READY)

# Search from a file needs one small script from npm; nothing else of the site does.
$(SITE_PACKAGES)/package.json: docs/_site/package.json
	@command -v npm > /dev/null || { echo "make docs needs npm, for search from a file." >&2; exit 1; }
	@mkdir -p $(SITE_PACKAGES)
	@cp docs/_site/package.json docs/_site/package-lock.json $(SITE_PACKAGES)/
	@npm ci --prefix $(SITE_PACKAGES) --no-fund --no-audit --loglevel=error
	@touch $@

export NO_MKDOCS_2_WARNING := 1
docs: $(SITE_READY) $(SITE_PACKAGES)/package.json
	@ONESIDED_SITE_OFFLINE=true ONESIDED_SITE_PACKAGES=$(abspath $(SITE_PACKAGES)) \
	  $(BIN)/mkdocs build --quiet --strict --site-dir $(SITE)
	@$(BIN)/python docs/_site/check.py $(SITE)
	@echo "$(SITE)/index.html"

docs-serve: $(SITE_READY)
	@$(BIN)/mkdocs serve --strict

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(MAKE) --no-print-directory lint-site

# The site is built and its links are followed, without what npm gives to its search.
lint-site: setup
	@if [ -x $(BIN)/mkdocs ]; then \
	  $(BIN)/mkdocs build --quiet --strict --site-dir .venv/site && \
	  $(BIN)/python docs/_site/check.py .venv/site; \
	else echo "The site is not checked: the extra docs is not installed."; fi

test: lint test-python

test-python: setup
	@$(BIN)/pytest --numprocesses 3 --dist worksteal

# The long versions of races, kills, fuzz and controls, in parts that can be run alone.
SOAK := $(BIN)/pytest -m soak
soak: soak-ledgers soak-server soak-engines soak-audit soak-mechanisms

soak-ledgers: setup
	@$(SOAK) tests/contract/test_ledger* tests/contract/test_desk* tests/contract/test_session_crashes.py tests/contract/test_remote.py tests/seams tests/cli

soak-server: setup
	@$(SOAK) tests/server

soak-engines: setup
	@$(SOAK) tests/engines tests/laws

soak-audit: setup
	@$(SOAK) tests/contract/test_session_audit.py tests/contract/test_audit* \
	  tests/contract/test_plants.py tests/stochastic/test_planted_leaks.py \
	  tests/stochastic/test_audit*

soak-mechanisms: setup
	@$(SOAK) tests/contract/test_mechanisms.py tests/stochastic tests/unit tests/house tests/docs \
	  --ignore-glob='*/test_planted_leaks.py' --ignore-glob='*/test_audit_*'

bench: setup
	@$(BIN)/python benchmarks/run.py

clean:
	rm -rf .venv demo results
