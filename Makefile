# make demo    set everything up and compare two small corpora that come with the package
# make check   lint, and run the quick tests: two minutes, before each commit
# make test    set everything up, lint, and run every test
# make lint    ruff, mypy, import-linter and oxlint
# make docs    the documentation as a web site, in site/
# make picture the picture of the report in the README; needs chromium
# make bench   the benchmarks; each prints its table

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Two processes with one thread each; a file is run by one of them, so that what its tests share is made once.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist loadfile
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo check test lint docs picture bench clean

demo: $(VENV)/.ready
	$(BIN)/lexshift demo

check: lint
	$(PYTEST) -m "not (browser or model or ray or slow or tune)"

test: lint
	$(PYTEST)

docs: $(VENV)/.developing
	$(BIN)/mkdocs build --strict

lint: $(VENV)/.developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python .ci/lint_scripts.py

picture: $(VENV)/.ready
	$(BIN)/lexshift demo
	chromium --headless --no-sandbox --hide-scrollbars --window-size=1440,1460 --screenshot=docs/img/report.png \
		"file://$(CURDIR)/lexshift-demo/report.html#word=mouse"

bench: $(VENV)/.developing
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "lexshift needs Python 3.11 or later; $(PYTHON) is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) torch
	$(PIP) --editable '.[lemma,minilm]'
	touch $@

$(VENV)/.developing: $(VENV)/.ready
	$(PIP) --editable '.[dev,lemma,minilm,multilingual,ray,segment,senses,tune]'
	touch $@

clean:
	rm -rf $(VENV) build dist site lexshift-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
