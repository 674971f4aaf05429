# Two commands do everything on a fresh machine with Python 3.11+ and a C compiler.
PYTHON ?= python3
CC ?= cc
VENV ?= .venv
BIN = $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test check docs bench clean

help:  ## Show this list
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

$(BIN)/.ready: pyproject.toml setup.py src/proctor/cell/lockdown.c src/proctor/cell/landlock.h src/proctor/cell/seccomp.h src/proctor/cell/serve.h src/proctor/cell/pin.h
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: $(BIN)/.ready  ## Install into .venv and judge the bundled programs
	$(BIN)/proctor demo

test: $(BIN)/.ready  ## Install into .venv and run the tests
	$(BIN)/python -m pytest

check: $(BIN)/.ready  ## Lint, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(CC) -fsyntax-only -std=gnu11 -Wall -Wextra -Werror -Wno-missing-field-initializers \
		-DPy_LIMITED_API=0x030b0000 -isystem "$$($(BIN)/python -c \
		'import sysconfig; print(sysconfig.get_path("include"))')" src/proctor/cell/lockdown.c

bench: $(BIN)/.ready  ## Measure against peers; writes benchmarks/RESULTS.md
	$(BIN)/python benchmarks/run_all.py

clean:  ## Remove what the other targets made
	rm -rf $(VENV) build dist
