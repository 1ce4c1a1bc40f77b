# Two commands: `make app` and `make test`. Each does its own set-up; a second run starts at once.
PYTHON ?= python3
BIN := .venv/bin
REQUIREMENTS ?= requirements.txt
export TOKENIZERS_PARALLELISM ?= true

test test-postgres slow: export HF_HUB_OFFLINE = 1

# Services whose statements PostgreSQL sees too; all tests do with: make test-postgres
SERVICES := tests/annotate/labelling tests/annotate/review tests/annotate/projects/test_lifecycle.py tests/db/labels/test_answers.py

.PHONY: app test test-postgres slow lint reference bench bench-quick venv chromium postgres

app: .venv/app
	$(BIN)/python -m annotate serve

# A browser on a busy machine now and then misses a moment: such a test has two more tries, and the summary counts them.
test: .venv/dev chromium postgres
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not gpu and not browser"
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --database postgresql $(SERVICES)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile -m "browser and not slow" --reruns 2

test-postgres: .venv/dev postgres
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --database postgresql -m "not slow and not gpu and not browser"

slow: .venv/dev
	$(BIN)/python -m pytest -m slow

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Medians against peers and targets, into docs/benchmarks.md; the quick one keeps nothing.
bench bench-quick: export HF_HUB_OFFLINE = 1

bench: .venv/dev
	$(BIN)/python -m benchmarks

bench-quick: .venv/dev
	$(BIN)/python -m benchmarks --quick

# docs/reference.md from the code; a test says when it is out of date.
reference: .venv/dev
	$(BIN)/python -m scripts.reference

.venv/bin/python:
	$(PYTHON) -m venv .venv || (apt-get update && apt-get install -y python3-venv && $(PYTHON) -m venv --clear .venv)

.venv/app: $(REQUIREMENTS) constraints.txt | .venv/bin/python
	$(BIN)/pip install --quiet -r $(REQUIREMENTS) -c constraints.txt
	touch $@

.venv/dev: requirements-dev.txt requirements-cluster.txt requirements-s3.txt requirements.txt constraints.txt | .venv/bin/python
	$(BIN)/pip install --quiet -r requirements-dev.txt -c constraints.txt
	touch $@ .venv/app

# Some tests start a server of their own; where it cannot be installed, they skip and say so.
postgres:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || (apt-get update && apt-get install -y postgresql) || echo "PostgreSQL is missing: its tests will skip"

# Playwright drives Debian's browser; where it cannot be installed, the browser tests skip and say so.
chromium:
	@command -v chromium >/dev/null || (apt-get update && apt-get install -y chromium) || echo "chromium is missing: browser tests will skip"
