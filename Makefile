# Each verb makes what it needs in .venv (nothing outside this folder) and says what it does.
#   make audit           install, then run the main job (dpso audit)
#   make test            install with what the tests need (a cluster too, and the examples' libraries if they can be had),
#                        then run all tests
#   make nightly         the same tests at full length, on examples of hypothesis that nobody has seen
#   make lint            ruff (rules and format), mypy --strict, and import-linter on who may import whom
#   make coverage        all tests, and the lines and branches of the product that none of them reaches
#   make mutation        small changes drawn from each room: how many do the tests notice? (an hour; ARGS="--seed 5" continues)
#   make docs            the documentation site, in dpso-out/site; fails on a dead link
#   make bench           the measurements behind the tables of docs/
#   make install-check   the wheel in a venv of its own beside sympy: what works without the extra `paper`, every command, then the audit
#   make release-check   TAG=v1.2.3: is that the version of this tree?
#   make dist            the files of a release, checked (DPSO_URL=... is the address that they name)
# Needs make and Python 3.11 or newer; PYTHON=... names another interpreter.

SHELL := /bin/sh
# Tests start hundreds of processes: byte code is kept.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

# One process more than there are cores: some tests wait for others to die or to answer.
SPREAD = -n $(shell $(BIN)/python -c 'import os; print((os.cpu_count() or 1) + 1)') --dist worksteal

.PHONY: audit test nightly lint coverage mutation bench install-check release-check dist docs clean
.DELETE_ON_ERROR:

audit: $(VENV)/.has-base
	@echo "make audit: dpso audit $(ARGS)"
	@$(BIN)/dpso audit $(ARGS)

test: $(VENV)/.has-test
	@echo "make test: pytest on all cores $(ARGS)"
	@$(BIN)/python -m pytest $(SPREAD) $(ARGS)

# The seed is printed first: `make nightly SEED=...` repeats a night.
SEED ?= $(shell date +%Y%m%d%H)
nightly: $(VENV)/.has-test
	@echo "make nightly: pytest with fresh examples, SEED=$(SEED) $(ARGS)"
	@$(BIN)/dpso audit --only properties.moreau_constants properties.neighbours_move_the_gradient --seed $(SEED) --out $(VENV)/nightly
	@$(BIN)/python -m pytest $(SPREAD) --hypothesis-profile nightly --hypothesis-seed $(SEED) $(ARGS)

lint: $(VENV)/.has-dev
	@echo "make lint: ruff check"
	@$(BIN)/ruff check --no-cache .
	@echo "make lint: ruff format --check"
	@$(BIN)/ruff format --no-cache --check .
	@echo "make lint: mypy --strict"
	@$(BIN)/mypy --no-incremental
	@echo "make lint: lint-imports"
	@$(BIN)/lint-imports --no-cache

coverage: $(VENV)/.has-dev
	@echo "make coverage: pytest under coverage, with the processes that tests start $(ARGS)"
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest $(SPREAD) $(ARGS)
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

mutation: $(VENV)/.has-dev
	@echo "make mutation: python -m bench.mutation --record $(ARGS)"
	@$(BIN)/python -m bench.mutation --record $(ARGS)

bench: $(VENV)/.has-test
	@echo "make bench: dpso bench $(ARGS)"
	@$(BIN)/dpso bench $(ARGS)

docs: $(VENV)/.has-docs
	@echo "make docs: mkdocs build --strict"
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "dpso-out/site/index.html"

# In a venv of its own: the wheel alone, then with the extra `paper`. PyTorch brings sympy, and sympy an mpmath older
# than the newest, so this is also where every check runs on that one.
FRESH := $(VENV)/fresh
install-check: | $(BIN)/python
	@echo "make install-check: the wheel beside sympy in $(FRESH)"
	@rm -rf $(FRESH) && $(BIN)/python -m venv $(FRESH)
	@$(BIN)/python -m pip --disable-pip-version-check wheel --quiet --no-deps --wheel-dir $(FRESH)/dist .
	@$(FRESH)/bin/python -m pip --disable-pip-version-check install --quiet sympy $(FRESH)/dist/*.whl
	@$(FRESH)/bin/python -I tests/helpers/base_journey.py
	@$(FRESH)/bin/python -m pip --disable-pip-version-check install --quiet sympy "$$(echo $(FRESH)/dist/*.whl)[paper]"
	@$(FRESH)/bin/python -m pip --disable-pip-version-check check
	@$(FRESH)/bin/python -I tests/helpers/wheel_journey.py
	@cd $(FRESH) && bin/dpso audit --level quick >audit.log 2>&1 || { cat audit.log >&2; exit 1; }
	@echo "every verdict as recorded with $$($(FRESH)/bin/python -m pip list 2>/dev/null | grep -i -E '^(mpmath|sympy) ' | tr -s ' \n' ' ')"
	@rm -rf $(FRESH)

# TAG=v1.2.3 must be the version of pyproject.toml; the tests hold that against CHANGELOG.md and CITATION.cff.
release-check: | $(BIN)/python
	@$(BIN)/python -c 'import sys, tomllib; v = "v" + tomllib.load(open("pyproject.toml", "rb"))["project"]["version"]; \
	  sys.exit(0 if sys.argv[1] == v else f"the tag is {sys.argv[1]!r}, and pyproject.toml says {v}")' "$(TAG)"

dist: $(VENV)/.has-dev
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist .
	@$(BIN)/twine check --strict dist/*

# A stamp is older than these files when the dependencies may have changed; otherwise nothing is
# installed and no network is used.
$(VENV)/.has-base: pyproject.toml Makefile | $(BIN)/python
	@echo "installing dpso[paper] into $(VENV)"
	@$(PIP) -e '.[paper]'
	@touch $@

$(VENV)/.has-test: pyproject.toml Makefile | $(BIN)/python
	@echo "installing dpso[paper,cluster,test,examples] into $(VENV)"
	@$(PIP) -e '.[paper,cluster,test]'
	@$(PIP) -e '.[examples]' 2>$(VENV)/examples.log || \
	  echo "the libraries of the extra 'examples' cannot be installed here ($(VENV)/examples.log): their tests are skipped"
	@touch $@ $(VENV)/.has-base

$(VENV)/.has-dev: $(VENV)/.has-test
	@echo "installing dpso[dev] into $(VENV)"
	@$(PIP) -e '.[dev]'
	@touch $@

$(VENV)/.has-docs: $(VENV)/.has-base
	@echo "installing dpso[docs] into $(VENV)"
	@$(PIP) -e '.[paper,docs]'
	@touch $@

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found; name one: make PYTHON=/path/to/python3" >&2; exit 2; }
	@echo "creating $(VENV) with $(PYTHON)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) cannot create a virtual environment; on Debian or Ubuntu: apt-get install python3-venv" >&2; exit 2; }

clean:
	rm -rf $(VENV) dpso-out dist .coverage .coverage.*
