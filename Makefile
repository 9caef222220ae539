# Two commands do everything on a fresh machine with Python 3.11 and make: `make demo` and `make test`.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
STAMP := .venv/.grater
PROJECTS := pyproject.toml models/pyproject.toml training/pyproject.toml constraints.txt

# Each module is compiled once and kept, whatever the machine's own habit: without that, all workers and all programs
# that tests start would compile every module again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test check test-slow test-train test-spark java docs bench peers hashes sbom clean help system

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

demo: $(STAMP)-demo  ## the whole loop on the bundled sample study, ending in demo/report/report.html; SERVE=1 then serves it
	$(BIN)/grater demo --out demo $(if $(SERVE),--serve)

# Packages of Python and of the system come side by side; so do the quick half, most of which is mypy, and the tests.
# Collecting once before compiles every file of tests, which each of the workers would do for itself.
# A worker waits for browsers, databases and processes for much of its time. Six were slower than four on two cores.
WORKERS ?= 4
test:  ## everything that guards the code: ruff, mypy, docs, pytest with warnings as errors
	@$(MAKE) --no-print-directory -j2 $(STAMP)-dev system
	@$(MAKE) --no-print-directory check >.venv/check.log 2>&1 & checking=$$!; \
	$(BIN)/pytest --collect-only -q >.venv/collect.log 2>&1; \
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "not slow"; tested=$$?; \
	wait $$checking; checked=$$?; cat .venv/check.log; \
	[ $$tested = 0 ] && [ $$checked = 0 ]

check: $(STAMP)-dev  ## the quick half: style, types, documentation
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

test-slow: $(STAMP)-dev system  ## the tests that take minutes, properties on new examples, and those of Spark
	GRATER_EXAMPLES=100 POLARS_MAX_THREADS=2 $(BIN)/pytest -n 2 -m "slow or hypothesis"
	@$(MAKE) --no-print-directory test-spark

test-train: $(STAMP)-dev  ## the tests of training, with those that need PyTorch: context on a toy grammar
	$(BIN)/python -m pip install --quiet -c constraints.txt -e . -e 'training[context]'
	$(BIN)/pytest training/tests

test-spark: $(STAMP)-dev java  ## the tests that need Apache Spark and a Java: results equal to ours, executors killed
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[spark]'
	GRATER_SPARK=1 $(BIN)/pytest tests/scale/test_spark.py

java:  ## Debian's Java runtime, which Apache Spark runs on
	@command -v java >/dev/null || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || \
	    { echo "Apache Spark needs a Java runtime of version 17 or newer; install your system's" >&2; exit 2; }; \
	  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends default-jre-headless >/dev/null; }
	@java -version 2>&1 | head -1

docs: $(STAMP)-dev  ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(STAMP)-dev  ## every question that has a peer, into docs/benchmarks.md; LARGE=1 adds 10 M, SHORT=1 only tries, BENCH="agreement startup" chooses
	-@$(MAKE) --no-print-directory peers  # a peer that cannot be installed is a row of the table
	$(BIN)/python -m benchmarks $(if $(LARGE),--large) $(if $(SHORT),--short) $(BENCH)

peers:  ## the tools we measure ourselves against, each in an environment of its own under .peers/
	$(PYTHON) benchmarks/peers/install.py

hashes: $(STAMP)-dev  ## constraints-hashes.txt: the pins with the hashes of the files that pip installs here
	$(BIN)/python release/hashes.py

sbom: $(STAMP)-dev  ## dist/sbom.json: what grater is made of, as CycloneDX
	$(BIN)/python release/sbom.py

clean:  ## forget the environments and everything built
	rm -rf .venv .peers site demo build dist benchmarks/work

# The environment.  Python compiles a module when it first imports it: pip would take a minute to compile them all.
# Debian's Python comes without ensurepip: root gets it from apt, others are told.
.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "grater needs Python 3.11 or newer; name it: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 2; }
	@$(PYTHON) -m venv .venv 2>/dev/null || { rm -rf .venv; $(MAKE) --no-print-directory apt-venv; $(PYTHON) -m venv .venv; }
	@$(BIN)/python -m pip install --quiet --upgrade -c constraints.txt pip

# The programs that tests drive for real.  Without root, apt or a network the tests that need them skip, and say so.
SYSTEM := $(if $(shell command -v chromium-headless-shell || command -v chromium),,chromium-headless-shell) $(if $(wildcard /usr/lib/postgresql/*/bin/initdb),,postgresql)

system: | .venv/bin/python  ## Debian's headless Chromium and PostgreSQL, for the tests in a real browser and on a real database
ifneq ($(strip $(SYSTEM)),)
	@export DEBIAN_FRONTEND=noninteractive; \
	[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get -qq update && \
	{ apt-get -qq install -y --no-install-recommends $(SYSTEM) || \
	  apt-get -qq install -y --no-install-recommends $(SYSTEM:-headless-shell=); } >/dev/null || \
	echo "without root, apt or a network: tests that need $(strip $(SYSTEM)) will be skipped" >&2
endif

.PHONY: apt-venv
apt-venv:
	@[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || \
	  { echo "this Python cannot make a virtual environment; install your system's python3-venv package" >&2; exit 2; }
	apt-get -qq update && apt-get -qq install -y python3-venv

# A checkout has the models beside the source, so grater-models is not installed.
$(STAMP)-demo: $(PROJECTS) | .venv/bin/python
	$(BIN)/python -m pip install --quiet --no-compile -c constraints.txt -e '.[server,report,harper,context]'
	@touch $@

# Two pips side by side, a core each, install the pinned files by their hashes; the last one adds what is missing (all
# of it on a machine that the hashes are not for), grater and grater-train.
$(STAMP)-dev: $(PROJECTS) constraints-hashes.txt | .venv/bin/python
	@for half in 0 1; do grep -v '^py\(spark\|4j\)==' constraints-hashes.txt | awk "NR % 2 == $$half" | \
	  $(BIN)/python -m pip install --quiet --no-compile --no-deps --require-hashes -r /dev/stdin 2>/dev/null & done; wait
	$(BIN)/python -m pip install --quiet --no-compile -c constraints.txt -e '.[dev]' -e training
	@touch $@ $(STAMP)-demo
