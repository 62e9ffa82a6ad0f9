# Four verbs. Each makes what it needs in .venv (nothing outside this folder) and says what it does.
#   make audit   install, then run the main job (dpso audit)
#   make test    install with what the tests need (a cluster too, and the examples' libraries if they can be had),
#                then run all tests
#   make lint    ruff, mypy --strict, and import-linter on who may import whom
#   make bench   the measurements behind the README's tables
# Needs make and Python 3.11 or newer; PYTHON=... names another interpreter.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: audit test lint bench clean
.DELETE_ON_ERROR:

audit: $(VENV)/.has-base
	@echo "make audit: dpso audit $(ARGS)"
	@$(BIN)/dpso audit $(ARGS)

test: $(VENV)/.has-test
	@echo "make test: pytest on all cores $(ARGS)"
	@$(BIN)/python -m pytest -n auto $(ARGS)

lint: $(VENV)/.has-dev
	@echo "make lint: ruff check"
	@$(BIN)/ruff check --no-cache .
	@echo "make lint: mypy --strict"
	@$(BIN)/mypy --no-incremental
	@echo "make lint: lint-imports"
	@$(BIN)/lint-imports --no-cache

bench: $(VENV)/.has-test
	@echo "make bench: dpso bench $(ARGS)"
	@$(BIN)/dpso bench $(ARGS)

# A stamp is older than these files when the dependencies may have changed; otherwise nothing is
# installed and no network is used.
$(VENV)/.has-base: pyproject.toml Makefile | $(BIN)/python
	@echo "installing dpso into $(VENV)"
	@$(PIP) -e .
	@touch $@

$(VENV)/.has-test: pyproject.toml Makefile | $(BIN)/python
	@echo "installing dpso[test,cluster,examples] into $(VENV)"
	@$(PIP) -e '.[test,cluster]'
	@$(PIP) -e '.[examples]' 2>$(VENV)/examples.log || \
	  echo "the libraries of the extra 'examples' cannot be installed here ($(VENV)/examples.log): their tests are skipped"
	@touch $@ $(VENV)/.has-base

$(VENV)/.has-dev: $(VENV)/.has-test
	@echo "installing dpso[dev] into $(VENV)"
	@$(PIP) -e '.[dev]'
	@touch $@

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found; name one: make PYTHON=/path/to/python3" >&2; exit 2; }
	@echo "creating $(VENV) with $(PYTHON)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) cannot create a virtual environment; on Debian or Ubuntu: apt-get install python3-venv" >&2; exit 2; }

clean:
	rm -rf $(VENV) dpso-out
