# make demo: learn from generated soundscapes, detect, write a report.   make test: everything CI checks.
# Both set themselves up in .venv the first time and never again until pyproject.toml changes.

PYTHON ?= python3
# Pinned and installed first: whatever comes after it then asks for no other build of torch.
TORCH ?= torch==2.13.0
# Where to get torch from; empty means pip's own index. On Linux that one holds the CUDA build.
TORCH_INDEX ?=
VENV := .venv
INSTALLED := $(VENV)/.installed

# What the established tools are made with, and where the official label lists lie, if they are there.
ORACLE_PYTHON ?= python3.11
OFFICIAL ?= ../shared/data
ORACLE := build/oracle
ORACLE_READERS := build/oracle-readers

.PHONY: demo test lint oracle clean

demo: $(INSTALLED)
	$(VENV)/bin/earmark demo --out demo

# One thread per process: with small tensors a second one only waits for the first. A process per core instead.
test: export OMP_NUM_THREADS = 1
test: $(INSTALLED) lint
	$(VENV)/bin/python -m pytest -q -n auto --maxprocesses=4 --dist loadfile --durations=8

lint: $(INSTALLED)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

$(INSTALLED): pyproject.toml
	@'$(PYTHON)' -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "earmark needs Python 3.11 or newer; name one with: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	'$(PYTHON)' -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(if $(TORCH_INDEX),-i $(TORCH_INDEX)) $(TORCH)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

# The established tools in an environment of their own: makes every stored figure of theirs again, says what differs.
oracle: $(ORACLE)/.installed $(ORACLE_READERS)/.installed
	cd tests && ../$(ORACLE)/bin/python -m oracles.tools.make --official $(abspath $(OFFICIAL)) --check
	cd tests && ../$(ORACLE_READERS)/bin/python -W ignore -m oracles.tools.make_readers --check

$(ORACLE)/.installed: tests/oracles/tools/requirements.txt
	$(ORACLE_PYTHON) -m venv $(ORACLE)
	$(ORACLE)/bin/pip install --quiet numpy==2.3.5 Cython==3.3.1 setuptools==65.5.0 wheel==0.48.0
	$(ORACLE)/bin/pip install --quiet --no-build-isolation -r $<
	touch $@

$(ORACLE_READERS)/.installed: tests/oracles/tools/requirements_readers.txt
	$(ORACLE_PYTHON) -m venv $(ORACLE_READERS)
	$(ORACLE_READERS)/bin/pip install --quiet --no-deps -r $<
	touch $@

clean:
	rm -rf $(VENV) demo build src/*.egg-info .pytest_cache .mypy_cache .ruff_cache
