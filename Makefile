# `make demo` and `make test` are the two to know; both set up what is missing first (they say what, and ask).
SHELL := /bin/bash
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/.venv/bin:$(CURDIR)/.fleet/bin:$(PATH)
export MAKECMDGOALS
PYTHON := .venv/bin/python
QUICK := not acceptance and not pulumi and not soak

.PHONY: help setup demo test unit lint bench soak molecule-all clean

help: ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

setup: ## system packages, Python environment, Pulumi CLI, node image (skipped when there)
	@tools/setup.sh

demo: setup ## the product at work on a small real fleet, in under six minutes
	@$(PYTHON) -m tools.demo

test: setup ## everything: lint, types, units, properties, Pulumi, lab, Molecule; each part with its budget of minutes
	@$(PYTHON) -m tools.budget

unit: ## the quick tests: no containers, no Pulumi
	@$(PYTHON) -m pytest -q -n 2 --dist worksteal -m "$(QUICK)" tests

lint: ## rules, format, types, import contracts
	@ruff check . && ruff format --check . && mypy && lint-imports

bench: setup ## plan() at 1,000 and 10,000 nodes, cost against bare ansible-playbook, facts against `ansible -m setup`
	@$(PYTHON) -m tests.benchmarks

soak: setup ## the simulator for as long as MINUTES says (default 30)
	@FLEET_SOAK_MINUTES=$${MINUTES:-30} $(PYTHON) -m pytest -q -m soak tests

molecule-all: setup ## every role in its containers
	@for scenario in molecule/*/molecule.yml; do molecule test -s $$(basename $$(dirname $$scenario)) || exit 1; done

clean: ## the lab down, and all that set-up made removed and listed
	@tools/clean.sh
