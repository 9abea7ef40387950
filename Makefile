# Everything happens in .venv, installed from the hashed lock files; nothing outside this folder is touched.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
MINUTES ?= 30

.PHONY: help setup dev run test audit check format docs screenshots bench soak lock clean

help: ## list the commands
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: .venv/setup ## install ptp into .venv
dev: .venv/dev ## install ptp with everything that tests need

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "ptp needs Python 3.11 or newer; name one with: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@echo "Creating .venv ..."
	@$(PYTHON) -m venv .venv || { echo "could not create a virtual environment; on Debian: apt-get install python3-venv"; rm -rf .venv; exit 1; }

.venv/setup: requirements.lock pyproject.toml native/_native.pyx native/build.py | .venv/bin/python
	@echo "Installing what ptp needs (about a minute the first time) ..."
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@$(BIN)/python native/build.py
	@touch $@

.venv/dev: requirements-dev.lock pyproject.toml native/_native.pyx native/build.py | .venv/bin/python
	@echo "Installing what ptp and its tests need (about two minutes the first time) ..."
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@$(BIN)/python native/build.py
	@touch $@ .venv/setup

run: setup ## record the explorer playing Tallgrass up to its first badge
	@$(BIN)/ptp run --world tallgrass --agent explorer --tick-rate-base 0 --max-ticks 5000 --max-badges 1

test: check ## check the code and run the whole test suite with coverage
	@rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest -n 2
	@$(BIN)/coverage combine -q
	@$(BIN)/coverage report
	@$(BIN)/coverage json -q -o .coverage.json
	@$(BIN)/python tests/coverage_gates.py .coverage.json

audit: dev ## check every promised flag, endpoint, table and file, and print what became of each
	@$(BIN)/python -m tests.contract

check: dev ## lint and type-check
	$(BIN)/ruff check src tests benchmarks docs examples native
	$(BIN)/ruff format --check src tests benchmarks docs examples native
	$(BIN)/mypy

format: dev ## format the code
	$(BIN)/ruff check --fix src tests benchmarks docs examples native
	$(BIN)/ruff format src tests benchmarks docs examples native

.venv/peers/setup: benchmarks/peers.lock | .venv/bin/python
	@echo "Installing what ptp is compared with ..."
	@$(PYTHON) -m venv .venv/peers
	@.venv/peers/bin/python -m pip --disable-pip-version-check -q install --require-hashes -r $<
	@touch $@

.venv/openenv/setup: tests/emulators/openenv.lock | .venv/bin/python
	@echo "Installing OpenEnv's own client, which some tests play with ..."
	@$(PYTHON) -m venv .venv/openenv
	@.venv/openenv/bin/python -m pip --disable-pip-version-check -q install --require-hashes -r $<
	@touch $@

bench: dev .venv/peers/setup ## measure every figure, and print them in one table (about half an hour)
	@$(BIN)/python -m benchmarks

soak: dev ## begin, steer, kill, go on with and fork runs for 30 minutes (MINUTES=5), and check that no tick is lost
	@$(BIN)/python -m benchmarks.soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

lock: dev ## pin the newest dependencies with hashes
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --upgrade --extra build pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --upgrade --extra dev pyproject.toml -c requirements.lock -o requirements-dev.lock
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --upgrade benchmarks/peers.txt -o benchmarks/peers.lock
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --upgrade tests/emulators/openenv.txt -o tests/emulators/openenv.lock

clean: ## remove what was built (recorded runs in var/ stay)
	rm -rf .venv .coverage* .mypy_cache .pytest_cache .ruff_cache build dist

docs: dev ## write docs/reference.md from the code
	$(BIN)/python docs/generate.py

screenshots: dev ## make the pictures in docs/pictures (needs Chromium and tmux)
	$(BIN)/python docs/screenshots.py
