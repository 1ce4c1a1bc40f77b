# Two commands: `make app` and `make test`. Each does its own set-up; a second run starts at once.
PYTHON ?= python3
BIN := .venv/bin
REQUIREMENTS ?= requirements.txt
# Each file that pip installs or builds with must have a hash of the lock.
INSTALL := $(BIN)/python -m pip install --quiet --require-hashes -c requirements.lock --build-constraint requirements.lock
export TOKENIZERS_PARALLELISM ?= true

test test-postgres slow screenshots: export HF_HUB_OFFLINE = 1
test test-postgres slow screenshots: export OMP_NUM_THREADS = 1
# The tests start many processes, which need not compile the same modules again.
test test-postgres slow screenshots: export PYTHONDONTWRITEBYTECODE =
# Tests write many small files: in memory, where there is room, they take two thirds of the time.
test test-postgres slow: export TMPDIR = $(shell df -k --output=avail /dev/shm 2>/dev/null | \
	awk -v home="$${TMPDIR:-/tmp}" 'END { print ($$1 > 8000000 ? "/dev/shm" : home) }')

# Without a browser, PostgreSQL or nginx their tests fail; `make test SKIP_MISSING=1` skips them.
REQUIRE := $(if $(SKIP_MISSING),,--require-programs)
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal $(REQUIRE)
# Tests in the browser that failed get one more try, one at a time: two browsers, two apps and their workers had shared the cores.
AGAIN := $(BIN)/python -m pytest $(REQUIRE) -m "not slow" --last-failed --last-failed-no-failures none tests/browser
FAST := -m "not slow" --ignore tests/browser

.PHONY: app test test-postgres slow screenshots lint package site reference translations bench bench-quick lock audit chromium nginx postgres

app: .venv/app .venv/bin/allpairs
	$(BIN)/allpairs serve

test: .venv/dev .venv/bin/allpairs chromium nginx postgres
	$(PYTEST) $(FAST)
	$(PYTEST) -m "not slow" tests/browser || $(AGAIN)

# Tests on both databases by default are those of the folders in tests/conftest.py.
test-postgres: .venv/dev postgres
	$(PYTEST) $(FAST) --database postgresql

# What `make test` leaves out, and the tests on random examples with all of their examples.
slow: .venv/dev .venv/bin/allpairs chromium nginx postgres
	$(PYTEST) -m "slow or hypothesis" --hypothesis-profile full

# The pictures in docs/screenshots, all made anew.
screenshots: .venv/dev chromium
	$(BIN)/python -m pytest --require-programs --screenshots tests/browser

# Types are checked in the shape of the installed package, with the three folders inside allpairs/.
lint: .venv/dev
	mkdir -p .venv/types/allpairs
	ln -sfn $(foreach path,$(wildcard allpairs/*.py) allpairs/py.typed annotate db learner,../../../$(path)) .venv/types/allpairs/
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m scripts.names

# Medians against peers and targets, into docs/benchmarks.md and all that shows them; the quick one keeps nothing.
bench bench-quick: export HF_HUB_OFFLINE = 1

bench: .venv/dev
	$(BIN)/python -m benchmarks

bench-quick: .venv/dev
	$(BIN)/python -m benchmarks --quick

# The wheel as a stranger uses it; WITH names what else pip installs, such as WITH=torch==2.13.0.
package: .venv/dev chromium
	$(BIN)/python -m scripts.try_package $(WITH)

# docs/ as a searchable site in out/site; a broken link is an error.
site: .venv/dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# docs/reference.md from the code; a test says when it is out of date.
reference: .venv/dev
	$(BIN)/python -m scripts.reference

# The texts of pages into annotate/frame/language/*.po, and what is translated there into the files that the app reads.
translations: .venv/dev
	$(BIN)/python -m scripts.translations

.venv/bin/python:
	$(PYTHON) -m venv .venv || (apt-get update && apt-get install -y python3-venv && $(PYTHON) -m venv --clear .venv)

# The lock's pip: those before 26.1 do not check the hashes of constraints.
.venv/pip: requirements.lock | .venv/bin/python
	sed -n '/^pip==/,/[^\\]$$/p' requirements.lock | $(BIN)/python -m pip install --quiet --require-hashes -r /dev/stdin
	touch $@

# Beside PyPI, pip passes over a wheel in a folder: a build of torch for the CPU alone would lose to the one with CUDA.
.venv/torch: requirements.lock | .venv/pip
	-$(if $(PIP_FIND_LINKS),$(INSTALL) --no-index --no-deps torch)
	touch $@

.venv/app: $(REQUIREMENTS) requirements.lock | .venv/torch
	$(INSTALL) $(REQUIREMENTS:%=-r %)
	touch $@

.venv/dev: requirements-dev.txt requirements-cluster.txt requirements-s3.txt requirements.txt requirements.lock | .venv/torch
	$(INSTALL) -r requirements-dev.txt
	touch $@ .venv/app

# The command, which runs the code of this folder.
.venv/bin/allpairs: pyproject.toml | .venv/pip
	$(BIN)/python -m pip install --quiet --no-deps --build-constraint requirements.lock --editable .
	touch $@

# requirements.lock from the requirements files. To renew a version that only the lock names, delete its lines first.
lock: .venv/dev
	$(BIN)/python -m scripts.lock

# The lock against PyPI's published advisories; a version about which PyPI does not answer is an error.
audit: .venv/dev
	$(BIN)/uv tool run pip-audit@2.10.1 --strict --no-deps --disable-pip -r requirements.lock

# Some tests start a server of their own.
postgres:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || (apt-get update && apt-get install -y postgresql) || echo "PostgreSQL is missing, and cannot be installed here"

# The documented proxy. Debian starts it on port 80; the tests use ports of their own.
nginx:
	@command -v nginx >/dev/null || ls /usr/sbin/nginx >/dev/null 2>&1 || \
		(apt-get update && apt-get install -y nginx-light && service nginx stop) || \
		echo "nginx is missing, and cannot be installed here"

# Playwright drives Debian's browser; its headless shell takes two thirds of the full browser's time.
chromium:
	@command -v chromium-headless-shell >/dev/null || (apt-get update && apt-get install -y chromium-headless-shell) || \
		command -v chromium >/dev/null || echo "chromium-headless-shell is missing, and cannot be installed here"
