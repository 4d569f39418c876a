# make demo: learn from generated soundscapes, detect, write a report.   make test: everything CI checks.
# Both set themselves up in .venv the first time and never again until pyproject.toml changes.

PYTHON ?= python3
# Pinned and installed first: whatever comes after it then asks for no other build of torch.
TORCH ?= torch==2.13.0
# Where to get torch from; empty means pip's own index. On Linux that one holds the CUDA build.
TORCH_INDEX ?=
VENV := .venv
INSTALLED := $(VENV)/.installed

.PHONY: demo test lint clean

demo: $(INSTALLED)
	$(VENV)/bin/earmark demo --out demo

# Small tensors: a second thread only waits for the first, and costs minutes where tests share the machine.
test: export OMP_NUM_THREADS = 1
test: $(INSTALLED) lint
	$(VENV)/bin/python -m pytest -q --durations=8

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

clean:
	rm -rf $(VENV) demo build src/*.egg-info .pytest_cache .mypy_cache .ruff_cache
