# Both targets do all set-up on a fresh machine: a virtual environment in .venv, the package in it, then the job.
PYTHON ?= python3
BIN := .venv/bin
# What is tested besides the core; `make test EXTRAS=` leaves heavy packages out and skips their tests.
EXTRAS ?= torch
comma := ,

.PHONY: demo test

demo: .venv/installed
	$(BIN)/treebp demo

test: .venv/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/pytest

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev$(addprefix $(comma),$(EXTRAS))]" $(addsuffix ==2.13.0,$(filter torch,$(EXTRAS)))
	touch $@
