# Every target sets up what it needs: .venv/ with the pinned, hashed packages of requirements.lock, and those of
# requirements-dev.lock on top for a target that tests, checks or measures.
#
# Python is that of .venv/, or else the first one here that runs. `make demo PYTHON=python3.13` names another one, and
# .venv/ is made anew for it.
SUITABLE := import platform, sys; (3, 11) <= sys.version_info < (3, 15) and print(platform.python_version())
PYTHON ?= $(firstword $(foreach python,.venv/bin/python python3.11 python3.12 python3.13 python3.14 python3,\
	$(if $(shell $(python) -c '$(SUITABLE)' 2>/dev/null),$(python))))
PYTHON := $(PYTHON)
VERSION := $(if $(PYTHON),$(shell $(PYTHON) -c '$(SUITABLE)' 2>/dev/null))
FOUND := $(if $(PYTHON),$(PYTHON) is none,there is none on the PATH)
BIN := .venv/bin
READY := .venv/.ready-$(VERSION)
DEVELOP := .venv/.develop-$(VERSION)
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile --no-deps
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url

SAMPLE ?= hospital

export GX_ANALYTICS_ENABLED := false
# Where Python may not keep what it compiles, each of the hundreds of processes that tests start compiles all anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo demo-hospital demo-visits test test-rest test-all coverage mutants lint ui bench pictures docs findings lock changelog release clean

setup: $(READY)  ## what it takes to run republish

$(READY): requirements.lock pyproject.toml
	@[ -n "$(VERSION)" ] || { echo "republish needs Python 3.11 to 3.14, and $(FOUND). Install one, or name it:" \
		"make $(firstword $(MAKECMDGOALS) setup) PYTHON=/path/to/python3.12" >&2; exit 1; }
	@[ "$$($(BIN)/python -c '$(SUITABLE)' 2>/dev/null)" = "$(VERSION)" ] || \
		{ rm -rf .venv && echo "$(PYTHON) -m venv .venv" && $(PYTHON) -m venv .venv; }
	$(INSTALL) --require-hashes -r requirements.lock
	$(INSTALL) --no-build-isolation --editable .
	touch $@

$(DEVELOP): requirements-dev.lock $(READY)
	$(INSTALL) --require-hashes -r requirements-dev.lock
	touch $@

demo: demo-$(SAMPLE)  ## make a sample, release it again and again, and attack the releases: SAMPLE=hospital, visits

demo-hospital: $(READY)
	$(BIN)/republish demo

demo-visits: $(READY)  ## what a page has somebody do, in build/visits
	rm -rf build/visits
	mkdir -p build/visits
	sed -n '/^```sh$$/,/^```$$/{/^```/!p;}' docs/how-to/several_rows.md > build/visits/steps.sh
	cd build/visits && env -u REPUBLISH_HOME PATH="$(CURDIR)/$(BIN):$$PATH" bash -ev steps.sh

test: $(DEVELOP)  ## every test but the slow ones, of more than a second: four minutes on two cores
	$(BIN)/python -m pytest -m "not slow"

test-rest: $(DEVELOP)  ## the slow tests: kill points, browsers, daemons, large tables
	$(BIN)/python -m pytest -m slow --durations=25

test-all: $(DEVELOP)  ## every test
	$(BIN)/python -m pytest

coverage: $(DEVELOP)  ## every test, and which lines and branches none of them reached (slower)
	$(BIN)/python -m pytest --cov --cov-report=term

mutants: $(DEVELOP)  ## small faults put into anonymize/, and how many of them no test finds; an hour
	$(BIN)/python -m benchmarks.mutants

lint: $(DEVELOP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	mkdir -p build/republish  # the package as it is installed, of links: mypy does not run republish/__init__.py
	ln -sfn $(CURDIR)/anonymize $(CURDIR)/orchestration $(CURDIR)/sql $(CURDIR)/republish/* build/republish
	$(BIN)/mypy

ui: $(READY)  ## Dagster on http://127.0.0.1:3000, at the address with the token that it prints
	$(BIN)/republish ui

bench: $(DEVELOP)  ## every measurement, each printing a table; some take many minutes
	$(BIN)/python -m benchmarks

pictures: $(DEVELOP)  ## the pictures of the demo in README and docs; needs Chromium
	$(BIN)/republish demo
	$(BIN)/python -m docs.pictures var

docs: $(DEVELOP)  ## the pages as a site in build/docs, to be opened without a server
	$(BIN)/mkdocs build --strict

findings:  ## each script of findings/, and which of those surprises are others by now; installs packages, an hour
	@changed=0; for script in findings/*.sh; do \
		if bash "$$script" > /dev/null 2>&1; then echo "as it was: $$script"; \
		else echo "changed, or can't be run: $$script"; changed=1; fi; done; exit $$changed

lock:  ## after changing the dependencies in pyproject.toml; needs uv
	$(COMPILE) pyproject.toml --extra publish --group build -o requirements.lock
	$(COMPILE) --group dev --constraint requirements.lock -o requirements-dev.lock
	$(COMPILE) pyproject.toml --extra audit --constraint requirements.lock -o requirements-audit.lock
	$(COMPILE) pyproject.toml --constraint requirements.lock -o requirements-read.lock
	$(COMPILE) --resolution lowest-direct pyproject.toml --extra publish --group build -o requirements-lowest.lock

changelog: $(DEVELOP)  ## a section of CHANGELOG.md of the pieces in changelog.d/: make changelog NEXT=1.2.0
	@[ "$(origin NEXT)" = "command line" ] || { echo "which version? make changelog NEXT=1.2.0" >&2; exit 1; }
	$(BIN)/towncrier build --yes --version $(NEXT)

release: $(DEVELOP)  ## wheel, sources, bill of materials and digests, in build/release: the same bytes each time
	rm -rf build/release
	$(BIN)/python -m hatchling build --directory build/release
	$(BIN)/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --output-reproducible \
		--short-PURLs --output-file build/release/republish.cdx.json
	cd build/release && sha256sum -- * > SHA256SUMS

clean:
	rm -rf .venv
