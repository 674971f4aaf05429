# Two commands do everything on a fresh machine with Python 3.11+ and a C compiler.
PYTHON ?= python3
CC ?= cc
VENV ?= .venv
BIN = $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help dev demo test test-all check house far kernel languages reference site bench counts pictures soak real-model binary sbom clean

help:  ## Show this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

# The uv on PATH; where there is none, one from PyPI in $(VENV).
UV := $(or $(shell command -v uv),$(BIN)/uv)
export UV_PROJECT_ENVIRONMENT = $(VENV)
export UV_PYTHON_DOWNLOADS = never
# A cell can keep no bytecode: what it imports would be compiled again in each.
export UV_COMPILE_BYTECODE = 1
# Hundreds of processes import proctor during the tests: none should compile it again.
unexport PYTHONDONTWRITEBYTECODE
# The machine's certificates, where it has any: it may sit behind a proxy with one of its own.
export UV_SYSTEM_CERTS ?= $(if $(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/cert.pem),true,false)

# Adds to $(VENV) and takes nothing away. uv compiles the C part again when its source has changed; that
# the result was removed, as by `git clean`, it does not see.
SYNC = @$(UV) sync --frozen --inexact --python $(PYTHON) $(shell test -t 2 || echo --quiet) \
	$(if $(wildcard src/proctor/cell/*.so),,--reinstall-package proctor)
LOCKED = pyproject.toml uv.lock setup.py $(wildcard src/proctor/cell/*.[ch])

$(BIN)/uv:
	@echo "== uv, from PyPI, into $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip --disable-pip-version-check install --quiet 'uv>=0.13,<0.14'

$(BIN)/.installed: $(LOCKED) | $(UV)
	@echo "== proctor in $(VENV), its C part compiled: 13 packages, 20 MB"
	$(SYNC) --no-default-groups
	@touch $@

$(BIN)/.ready: $(LOCKED) | $(UV)
	@echo "== proctor in $(VENV), its C part compiled, and what tests need: 80 packages, 600 MB, about a minute"
	$(SYNC)
	@touch $@

# The dependency group %.
$(BIN)/.ready-%: $(LOCKED) | $(UV)
	@echo "== into $(VENV): the group $* of pyproject.toml, of which test has 600 MB and dev 2 GB"
	$(SYNC) --group $*
	@touch $@

dev: $(BIN)/.ready-dev  ## Install into .venv what all tests, checks and pages need: 255 packages, 2 GB

demo: $(BIN)/.installed  ## Install into .venv and judge the bundled programs
	$(BIN)/proctor demo

PYTEST_FLAGS ?=
# Test processes, each file of tests in one of them: more than CPUs, since tests spend much time waiting.
# If one of them dies, the run ends: if it were replaced, pytest-xdist would wait forever.
WORKERS ?= 3
# Folders of tests, as ROOM="judging cli"; all, if none is named.
ROOM ?=
ROOMS := $(sort $(foreach test,$(wildcard tests/*/test_*.py tests/*/*/test_*.py),$(word 2,$(subst /, ,$(test)))))
$(foreach room,$(filter-out $(ROOMS),$(ROOM)),$(error no tests are in tests/$(room); rooms are: $(ROOMS)))

test: $(BIN)/.ready  ## Install into .venv and run the tests, of corpora only a sample; of ROOM=judging, if given
	$(BIN)/python -m pytest --quick -n $(WORKERS) --dist loadfile --max-worker-restart 0 $(PYTEST_FLAGS) \
		$(addprefix tests/,$(ROOM))

test-all: dev  ## All tests but those of a second kernel; what is missing is skipped
	$(BIN)/python -m pytest --ignore=tests/vm $(PYTEST_FLAGS)

check: $(BIN)/.ready-check house  ## Lint, types, import rules, house rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(UV) lock --check --offline
	$(CC) -fsyntax-only -std=gnu11 -Wall -Wextra -Werror -Wno-missing-field-initializers \
		-DPy_LIMITED_API=0x030b0000 -isystem "$$($(BIN)/python -c \
		'import sysconfig; print(sysconfig.get_path("include"))')" src/proctor/cell/lockdown.c

house: $(BIN)/.ready  ## Unique class names, no import circles, docstrings that stand alone
	$(BIN)/python tools/check_house.py

kernel: $(BIN)/.ready  ## Boot a second kernel in qemu, as root, and run checks inside
	$(BIN)/python -m pytest -o faulthandler_timeout=2800 tests/vm $(PYTEST_FLAGS)

far: kernel binary real-model soak  ## A second kernel, the one-file binary, a real model, a soak

# Installed packages are left as they are: upgrades are for whoever looks after the machine.
LANGUAGE_PACKAGES = g++ python3 pypy3 openjdk-17-jdk-headless rustc golang-go mono-mcs mono-runtime \
	libmono-system-core4.0-cil libmono-system-numerics4.0-cil kotlin ruby php-cli perl lua5.4 ghc \
	ocaml-nox fp-compiler bash lua-unit libtest-deep-perl libdata-compare-perl ruby-test-unit ldc racket \
	r-base-core scala iverilog junit5 golang-github-stretchr-testify-dev python3-pytest
JEST_PACKAGES = jest@29 babel-jest@29 @jest/globals@29 @babel/core @babel/preset-env @babel/preset-typescript lodash

languages: $(BIN)/.installed  ## Install all languages (Debian, as root), run their self-tests
	apt-get update -qq
	command -v node >/dev/null || apt-get install -y -qq --no-upgrade --no-install-recommends nodejs
	command -v tsc >/dev/null || apt-get install -y -qq --no-upgrade --no-install-recommends node-typescript
	apt-get install -y -qq --no-upgrade --no-install-recommends $(LANGUAGE_PACKAGES)
	command -v npm >/dev/null || apt-get install -y -qq --no-upgrade --no-install-recommends npm
	command -v jest >/dev/null || npm install --global --silent $(JEST_PACKAGES)
	$(BIN)/proctor languages --selftest \
		$(basename $(notdir $(wildcard src/proctor/languages/definitions/*.toml)))

reference: $(BIN)/.ready  ## Write the tables of docs/reference from the code
	$(BIN)/python tools/reference

bench: $(BIN)/.ready-peers  ## Measure against peers on a quiet machine; writes benchmarks/RESULTS.md and the docs' figures
	$(BIN)/python benchmarks/run_all.py

counts: $(BIN)/.ready  ## Count what a job asks of the kernel, as root, and print lines for its budgets
	$(BIN)/python benchmarks/counts.py

site: $(BIN)/.ready-docs  ## Build the documentation into build/site, and check its links
	$(BIN)/python tools/site

pictures: $(BIN)/.ready-docs  ## Make docs/images from real runs; see tools/pictures
	$(BIN)/python tools/pictures

soak: $(BIN)/.ready  ## Stress with faults for SOAK_SECONDS (180); SOAK_ISOLATION, SOAK_SEED
	$(BIN)/python tools/soak

real-model: $(BIN)/.ready  ## Evaluate a small real model, which is downloaded, behind its real server
	$(BIN)/python tools/real_model.py

binary: $(BIN)/.ready-binary  ## Build dist/proctor-bin, one file that needs no installed Python, and try it
	$(BIN)/python tools/binary/build.py
	$(BIN)/python tools/binary/smoke.py

sbom: $(BIN)/.installed  ## List what a plain install of dist/*.whl brings, as CycloneDX, into dist
	rm -rf build/sbom
	$(PYTHON) -m venv --without-pip build/sbom
	$(UV) pip install --quiet --python build/sbom/bin/python \
		proctor==$$($(BIN)/proctor --version) --find-links dist --only-binary :all:
	$(UV) tool run --quiet --from 'cyclonedx-bom>=7' cyclonedx-py environment build/sbom/bin/python \
		--pyproject pyproject.toml --mc-type application --output-reproducible --output-format JSON \
		--output-file dist/proctor-$$($(BIN)/proctor --version).cdx.json

clean:  ## Remove what the other targets made
	rm -rf $(VENV) build dist
