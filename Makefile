# Each target does all the set-up it needs; done before, that takes a moment.
.PHONY: help setup run test check format bench bench-gpu startup prove evaluate package package-windows package-graphics wheel screenshots pictures film pins distclean clean-cache

SETUP = "$$(scripts/find_python.sh)" scripts/setup.py
IN_ENVIRONMENT = .venv/bin

help:
	@echo "make run          start Moat: in the tray, or headless where there is no display"
	@echo "make test         run all tests"
	@echo "make check        ruff, mypy for each system, import-linter"
	@echo "make format       rewrite the code as 'make check' wants it (ruff format, ruff check --fix)"
	@echo "make setup        only the set-up for 'make run'"
	@echo "make bench        speed and memory beside llama-server (QUICK=1: the short form)"
	@echo "make bench-gpu    the same on a graphics card (MOAT_LLAMA_TOOLS: its llama-server)"
	@echo "make startup      start-up times, memory, idleness"
	@echo "make prove        every promise about safety and faults, measured (QUICK=1: the short form)"
	@echo "make evaluate     the copilot's answers judged (ORACLE=1: what the code forbids; MODEL=, SET=, ...)"
	@echo "make package      the .deb and the portable archive, into dist (QUICK=1: packed loosely)"
	@echo "make package-windows  setup.exe for Windows, into dist (QUICK=1: packed loosely)"
	@echo "make package-graphics KIND=vulkan  support for graphics cards (vulkan, cuda), into dist"
	@echo "make wheel        what pip, pipx and uvx install, into dist"
	@echo "make screenshots  pictures of every page in every state"
	@echo "make pictures MODEL=x.gguf  the documentation's pictures, from a running Moat"
	@echo "make film MODEL=x.gguf  the first ten minutes as pictures, by keyboard only, into build/film"
	@echo "make pins         write the versions in use to constraints.txt"
	@echo "make distclean    remove everything made here"
	@echo "make clean-cache  remove what all clones share: the compiled engine, what mypy found out"

setup:
	@$(SETUP)

# Where a graphics card is found, Moat compiles support for it once it serves: see README.
run: setup
	@MOAT_GRAPHICS="$${MOAT_GRAPHICS:-auto}" $(IN_ENVIRONMENT)/moat

SIDE_BY_SIDE ?= auto
# What fails beside others is tried once more, and the summary names it (RERUN): see CONTRIBUTING.md.
RERUNS ?= 1
# Test processes share what they compile, wherever Python is told not to write it down.
test: export PYTHONDONTWRITEBYTECODE =
test:
	@$(SETUP) --for test
	@$(IN_ENVIRONMENT)/python -m pytest --numprocesses=$(SIDE_BY_SIDE) --reruns=$(RERUNS) $(if $(REPORT),--junitxml="$(REPORT)")

check:
	@$(SETUP) --for test
	@$(IN_ENVIRONMENT)/ruff check .
	@$(IN_ENVIRONMENT)/ruff format --check .
	@$(IN_ENVIRONMENT)/python -m scripts.check_types
	@$(IN_ENVIRONMENT)/lint-imports

format:
	@$(SETUP) --for test
	@$(IN_ENVIRONMENT)/ruff check --fix .
	@$(IN_ENVIRONMENT)/ruff format .

bench:
	@$(SETUP) --for test
	@$(IN_ENVIRONMENT)/python -m tests.bench.bench

bench-gpu:
	@$(SETUP) --for test
	@$(IN_ENVIRONMENT)/python -m tests.bench.gpu $(ARGUMENTS)

startup:
	@$(SETUP) --for test
	@$(IN_ENVIRONMENT)/python -m tests.bench.startup

prove:
	@$(SETUP) --for test
	@$(IN_ENVIRONMENT)/python -m tests.prove

evaluate:
	@$(SETUP) --for test
	@$(IN_ENVIRONMENT)/python -m tests.evaluate

package:
	@$(SETUP) --for package
	@$(IN_ENVIRONMENT)/python -m scripts.package

package-windows:
	@$(SETUP) --for package
	@$(IN_ENVIRONMENT)/python -m scripts.package.windows

KIND ?= vulkan
package-graphics:
	@$(SETUP) --for package
	@$(IN_ENVIRONMENT)/python -m scripts.package.graphics $(KIND)

wheel:
	@"$$(scripts/find_python.sh)" -m scripts.package.wheel

screenshots:
	@$(SETUP) --for test
	@$(IN_ENVIRONMENT)/python -m scripts.screenshots

pictures:
	@$(SETUP) --for test
	@$(IN_ENVIRONMENT)/python -m scripts.pictures "$(MODEL)"

film:
	@$(SETUP) --for test
	@$(IN_ENVIRONMENT)/python -m tests.display.film "$(MODEL)"

pins:
	@$(SETUP) --for test
	@$(IN_ENVIRONMENT)/python -m scripts.pin

distclean:
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	@echo "The compiled engine stays for other clones; 'make clean-cache' removes it."

clean-cache:
	@"$$(scripts/find_python.sh)" -c "import shutil; from scripts.bootstrap.places import wheel_cache; \
		shutil.rmtree(wheel_cache(), ignore_errors=True); \
		shutil.rmtree(wheel_cache().parent / 'mypy', ignore_errors=True)"
