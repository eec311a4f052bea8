# Every target sets up what it needs: .venv/ with the pinned, hashed packages of requirements.lock.
PYTHON ?= python3.11
BIN := .venv/bin
READY := .venv/.ready

export GX_ANALYTICS_ENABLED := false

.PHONY: setup demo test test-all coverage lint ui bench pictures lock clean

setup: $(READY)

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(BIN)/python -m orchestration.warm_up
	touch $(READY)

demo: $(READY)  ## make sample data of a hospital, release it six times, and attack the releases
	$(BIN)/republish demo

test: $(READY)  ## tests of everything in four minutes: a tenth of the examples, drawn anew
	$(BIN)/python -m pytest

test-all: $(READY)  ## every test and every example: kill points, browsers, large tables
	$(BIN)/python -m pytest --hypothesis-profile=thorough

coverage: $(READY)  ## every test, and which lines and branches none of them reached (slower)
	$(BIN)/python -m pytest --hypothesis-profile=thorough --cov --cov-report=term

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

ui: $(READY)  ## Dagster on http://127.0.0.1:3000
	$(BIN)/republish ui

bench: $(READY)  ## every measurement, each printing a table; some take many minutes
	for file in $$(grep -l __main__ benchmarks/*.py); do \
		$(BIN)/python -m benchmarks.$$(basename $$file .py) || exit 1; done

pictures: $(READY)  ## the pictures of the demo in README and docs; needs Chromium
	$(BIN)/republish demo
	$(BIN)/python -m docs.pictures var

lock:  ## after changing the dependencies in pyproject.toml; needs uv
	uv pip compile pyproject.toml --extra dev --python-version 3.11 --generate-hashes --no-emit-index-url -o requirements.lock
	uv pip compile --group audit --constraint requirements.lock --python-version 3.11 --generate-hashes --no-emit-index-url -o requirements-audit.lock

clean:
	rm -rf .venv
