# Everything runs in a virtual environment of its own; needed beforehand: Python 3.10 or newer and a C compiler.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# pytest-xdist: one process a core
JOBS ?= auto
# What adgen is compared with on a GPU, as pip names it: make gpu PEERS="cupy-cuda12x torch jax[cuda12]"
PEERS ?=

.DELETE_ON_ERROR:
.PHONY: demo test quick sanitize kernels lint bench gpu device clean

demo: $(VENV)/.installed
	$(BIN)/adgen compile examples/gaussian_mixture.py mixture --wrt logits,means,log_scales --out build
	$(BIN)/python examples/demo.py build

test: $(VENV)/.tests
	@$(BIN)/python -m compileall -q adgen  # the tests start hundreds of processes
	$(BIN)/python -m pytest -n $(JOBS) --ignore=tests/sanitize --ignore=tests/devices

quick: $(VENV)/.tests
	$(BIN)/python -m pytest -n $(JOBS) -m quick

sanitize: $(VENV)/.tests
	$(BIN)/python -m pytest -n $(JOBS) tests/sanitize

kernels: $(VENV)/.tests
	$(BIN)/python -m pytest -n $(JOBS) tests/devices

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict adgen
	$(BIN)/lint-imports

bench: $(VENV)/.tests
	$(BIN)/python -m pytest benchmarks --benchmark-enable --benchmark-only -p no:xdist

gpu: device $(VENV)/.tests
	$(if $(PEERS),$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PEERS))
	@mkdir -p build
	@failed=0; \
	$(BIN)/python -m pytest -m gpu tests/gpu || failed=1; \
	$(BIN)/python -m benchmarks.gpu --json build/gpu.json --markdown > build/gpu.md || failed=1; \
	cat build/gpu.md; exit $$failed

device:
	@nvidia-smi -L 2>/dev/null | grep -q '^GPU' || { echo "there is no CUDA device (nvidia-smi lists none), and make gpu needs one"; exit 1; }

clean:
	rm -rf build dist $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo "adgen needs Python 3.10 or newer; set PYTHON=, this is: $$($(PYTHON) --version)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.tests: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

$(VENV)/.lint: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,dev]'
	@touch $@
