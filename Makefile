# Each target sets up what it needs in .venv; when nothing changed, a second start installs nothing.
#
#   make run [PORT=8600] [ADDRESS=127.0.0.1] [OPEN=path]   open the app, on a recorded pipeline or run
#   make test [ARGS="-k text"]                 run all tests
#   make check                                 formatting, lint, types and all tests, of Python and of TypeScript
#   make docs                                  the documentation as a site, in .docs/html; the tests build it as well
#   make pictures                              take the pictures of the README again, from the app
#   make lessons                               play every lesson of the course to its end in the browser
#   make bench [ARGS="name ..."]               print the benchmark tables
#   make clean                                 remove .venv and every cache

PORT ?= 8501
ADDRESS ?= 127.0.0.1
PYTHON ?= python3
ARGS ?=
OPEN ?=

PY := .venv/bin/python
SET_UP := PYTHON="$(PYTHON)" sh tools/set_up.sh
# A file of tests stays in one process, so that a server or a browser is started once for it; files are taken in the
# order that tests/conftest.py gives them, the slow ones first. A process that dies is not replaced: pytest-xdist would
# run the test that ended it again and again, or wait for ever where it was the last one.
PYTEST := $(PY) -m pytest -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 0

# The packages are installed without bytecode, and tests start hundreds of processes: what one compiled, the next reads,
# even where the environment says that Python should keep nothing.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test check docs pictures lessons bench clean

run:
	@$(SET_UP) run
	@RELAXSCOPE_OPEN='$(OPEN)' exec $(PY) -m streamlit run app.py --server.port $(PORT) --server.address $(ADDRESS)

test:
	@$(SET_UP) test
	@$(PYTEST) $(ARGS)

check:
	@$(SET_UP) test
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(PY) -m pyright
	@sh tools/check_browser.sh
	$(PYTEST) $(ARGS)

docs:
	@$(SET_UP) test
	@$(PY) -m tools.docs

pictures:
	@$(SET_UP) test
	@$(PY) -m tools.pictures

lessons:
	@$(SET_UP) test
	@$(PYTEST) --every-lesson tests/views/test_every_lesson_page.py $(ARGS)

bench:
	@$(SET_UP) test
	@$(PY) -m benchmarks $(ARGS)

clean:
	rm -rf .venv .docs .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
