# make demo       a page on http://127.0.0.1:8000/ that calls Python services with real AMF
# make test       everything, as CI runs it
# make lint       ruff, mypy and cython-lint alone
# make bench      the tables of docs/ and benchmarks/RESULTS.md; make bench-quick: does it start, is it right
# make fuzz       random bytes against the decoders, SECONDS=60
# make mitmproxy  the content view in mitmproxy itself, which needs an environment of its own
# make sanitize   the tests with AddressSanitizer and UndefinedBehaviorSanitizer in the compiled codec
# make dist       sdist and wheel
# make clean      removes all that the above made

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test lint clients bench bench-quick fuzz mitmproxy sanitize dist clean

# The first Python that is new enough and runs (a pyenv shim may exist and not run).
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
HOST ?= 127.0.0.1
PORT ?= 8000
SECONDS_TO_FUZZ := $(or $(SECONDS),60)
PYTEST := $(BIN)/python -m pytest -q
# What says nothing about the compiled codec, or starts processes that would not survive the sanitizers.
SANITIZE_TESTS ?= tests --ignore=tests/clients --ignore=tests/client --ignore=tests/cli --ignore=tests/interop --ignore=tests/servers --ignore=tests/test_package.py --ignore=tests/test_docs.py --ignore=tests/test_demo.py

# Where C can be compiled against this Python, the compiled codec has to work; elsewhere the Python one is tested.
CAN_COMPILE = $(shell echo '\#include <Python.h>' | $${CC:-cc} -E -x c \
	-I"$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_paths()["include"])')" - >/dev/null 2>&1 && echo yes)
ifeq ($(origin AMFGATE_EXTENSIONS),undefined)
AMFGATE_EXTENSIONS := $(if $(CAN_COMPILE),require,off)
endif
export AMFGATE_EXTENSIONS

help:
	@sed -n 's/^# make/make/p' Makefile

# The project is installed editable, with the extensions beside their sources: rebuilt when a source changes.
BUILD_INPUTS := setup.py pyproject.toml $(wildcard src/amfgate/*.pyx src/amfgate/*.pxd src/amfgate/*.pxi)

# The requirements of some extras: installing `.[test]` would compile everything again.
EXTRAS := $(BIN)/python -c 'import sys, tomllib; \
	extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; \
	print(*(requirement for name in sys.argv[1:] for requirement in extras[name]))'

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer was found; name one with PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "on Debian: apt-get install python3-venv"; exit 1; }

$(VENV)/.installed: $(BUILD_INPUTS) | $(BIN)/python
	@test "$(AMFGATE_EXTENSIONS)" != off || echo "the compiled codec is left out: no C compiler, or AMFGATE_EXTENSIONS=off"
	$(PIP) install "setuptools>=77" "Cython>=3.1"
	$(PIP) install --no-build-isolation -e .
	@$(BIN)/python -m amfgate
	@touch $@

$(VENV)/.tools: pyproject.toml $(VENV)/.installed
	$(PIP) install $$($(EXTRAS) test dev servers)
	@touch $@

demo: $(VENV)/.installed
	$(BIN)/python examples/demo/app.py --host $(HOST) --port $(PORT) $(ARGS)

lint: $(VENV)/.tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(if $(wildcard src/amfgate/*.pyx),PATH="$(abspath $(BIN)):$$PATH" cython-lint src/amfgate/*.pyx)

# The twins are compared within one run; the second run has the Python codec under everything else too.
test: lint clients
	$(PYTEST)
	$(if $(filter off,$(AMFGATE_EXTENSIONS)),,AMFGATE_EXTENSIONS=off $(PYTEST) --ignore=tests/test_package.py --ignore=tests/servers)

clients: $(VENV)/.tools
	@if [ -f tests/clients/install.sh ]; then bash tests/clients/install.sh; fi
	@bash tests/servers/install.sh $(BIN)/python
	@bash tests/clients/royale/install.sh | grep "^left out" || true
	@bash tests/clients/royale_rpc/install.sh | grep "^left out" || true
	@bash tests/interop/install.sh $(BIN)/python

$(VENV)/.bench: $(VENV)/.tools
	$(PIP) install $$($(EXTRAS) bench)
	@touch $@

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/run.py

bench-quick: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py --quick

# atheris has wheels for some platforms and compiles on few others; without it the fuzzing is random, and says so.
$(VENV)/.fuzz: $(VENV)/.tools
	$(PIP) install --only-binary atheris $$($(EXTRAS) fuzz) || true
	@touch $@

fuzz: $(VENV)/.fuzz
	$(BIN)/python tests/fuzz/run.py --seconds $(SECONDS_TO_FUZZ)

# mitmproxy pins h11, flask and others, which would pin this project's tools too.  With PYTHON=python3.12 or newer it is
# version 12 or newer, whose views are of another kind.
MITMPROXY := .venv-mitmproxy
mitmproxy:
	test -x $(MITMPROXY)/bin/python || $(PYTHON) -m venv $(MITMPROXY)
	@if $(MITMPROXY)/bin/python -m pip --disable-pip-version-check -q install mitmproxy msgspec "pytest>=8"; then \
		PYTHONPATH="$(CURDIR)/src" AMFGATE_EXTENSIONS=off $(MITMPROXY)/bin/python -m pytest -q -W ignore::DeprecationWarning tests/mitm; \
	else \
		echo "left out: mitmproxy cannot be installed here"; test -z "$$AMFGATE_REQUIRE_CLIENTS"; \
	fi

# Not editable: the extensions of this build stay away from the others.  Leaks are not looked for, CPython itself has some.
SANITIZED := .venv-sanitize
SANITIZE_SOURCES := $(BUILD_INPUTS) $(shell find src -name '*.py')
$(SANITIZED)/.installed: $(SANITIZE_SOURCES)
	test -x $(SANITIZED)/bin/python || $(PYTHON) -m venv $(SANITIZED)
	$(SANITIZED)/bin/python -m pip -q install "setuptools>=77" "Cython>=3.1"
	AMFGATE_SANITIZE=1 AMFGATE_EXTENSIONS=require $(SANITIZED)/bin/python -m pip -q install --no-build-isolation ".[test]"
	@touch $@

UNDER_SANITIZERS := ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
	PYTHONMALLOC=malloc AMFGATE_EXTENSIONS=require \
	LD_PRELOAD="$$($${CC:-gcc} -print-file-name=libasan.so) $$($${CC:-gcc} -print-file-name=libubsan.so)"

# The first command makes sure that it is the compiled codec, built with the sanitizers, that is tested.
sanitize: $(SANITIZED)/.installed
	$(UNDER_SANITIZERS) $(SANITIZED)/bin/python -c "import amfgate.codec as c, amfgate._decoder as d; \
	assert c.IMPLEMENTATION == 'cython' and b'__asan_report' in open(d.__file__, 'rb').read(), c.WHY"
	$(UNDER_SANITIZERS) $(SANITIZED)/bin/python -m pytest -q -p no:cacheprovider $(SANITIZE_TESTS)
	$(UNDER_SANITIZERS) $(SANITIZED)/bin/python tests/fuzz/run.py --random --seconds $(SECONDS_TO_FUZZ)

dist: $(VENV)/.tools
	rm -rf build dist
	$(BIN)/python -m build
	@ls -l dist

clean:
	rm -rf build dist .venv .venv-* .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	rm -rf benchmarks/.peers tests/clients/node_modules tests/interop/node_modules
	rm -f src/amfgate/*.so src/amfgate/*.pyd src/amfgate/*.c
	find . -name __pycache__ -type d -not -path "*/node_modules/*" -prune -exec rm -rf {} +
