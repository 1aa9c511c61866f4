# `make` or `make help` lists what there is. Every target works as the first command on a clean clone.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

export STEWARD_CACHE := $(or $(STEWARD_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/steward)
target := $(or $(CARGO_TARGET_DIR),target)
data := $(or $(STEWARD_DATA),$(or $(XDG_DATA_HOME),$(HOME)/.local/share)/steward)
# Points where tests kill the process are compiled in for tests only.
test_features := --features steward/failpoints

.PHONY: help setup web build run test prove e2e pictures fmt fmt-check clippy lint check bench bench-gateway clean-data

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | while IFS=$$'\t' read -r name text; do printf '  %-14s %s\n' "$$name" "$$text"; done
	@printf '\n  ARGS="…" goes to `steward serve` (run) or to the tests (test, prove).\n  Weights and test servers are kept in %s (STEWARD_CACHE).\n' "$$STEWARD_CACHE"

setup: ## install what building, running and testing need
	@scripts/setup.sh test

web: ## the studio (web/dist), when its sources changed
	@scripts/setup.sh build
	@scripts/web.sh build

build: ## the release binaries: steward, with the studio in it, and steward-evals, which measures it
	@scripts/setup.sh build
	@scripts/web.sh build
	cargo build --release --locked -p steward -p steward-evals

run: ## set up, build and serve (ARGS="--listen 127.0.0.1:8801")
	@scripts/setup.sh run
	@scripts/web.sh build
	cargo build --profile quick --locked -p steward
	@exec $(target)/quick/steward serve $(ARGS)

test: ## set up and run the gate: every test, long ones in short (ARGS="-p steward-core" for one room, without the studio)
	@scripts/setup.sh test
	@scripts/web.sh build
	@scripts/gate.sh $(ARGS)

prove: ## what proves at length: fuzzing, public suites, dark and phone (ARGS="scim nats" for some parts)
	@scripts/setup.sh prove
	@scripts/web.sh build
	cargo build --locked -p steward -p steward-testkit --bins $(test_features)
	@scripts/prove.sh $(ARGS)

e2e: ## only the browser tests (ARGS="chat.spec.ts" for one file)
	@scripts/setup.sh test
	@scripts/web.sh build
	cargo build --locked -p steward -p steward-testkit --bins $(test_features)
	@scripts/web.sh e2e $(ARGS)

pictures: ## screenshots of every page into docs/pictures
	@scripts/setup.sh test
	@scripts/web.sh build
	cargo build --locked -p steward -p steward-testkit --bins $(test_features)
	@scripts/web.sh pictures

fmt: ## format the code
	cargo fmt --all

fmt-check:
	cargo fmt --all --check

clippy:
	@scripts/setup.sh build
	cargo clippy --locked --workspace --all-targets $(test_features) -- -D warnings

lint: fmt-check clippy ## formatting and clippy, warnings denied

check: ## compile everything without linking
	@scripts/setup.sh build
	cargo check --locked --workspace --all-targets $(test_features)

bench: ## the event log's speed, with SQLite and PostgreSQL
	@scripts/setup.sh test
	cargo bench --locked -p steward-store $(ARGS)

bench-gateway: ## what the gateway adds to a call (ARGS="--litellm" measures LiteLLM too)
	@scripts/setup.sh $(if $(findstring --litellm,$(ARGS)),litellm,run)
	@scripts/web.sh build
	cargo build --release --locked -p steward -p steward-evals
	@$(target)/release/steward-evals gateway $(patsubst --litellm,--litellm "$$STEWARD_CACHE/venv-litellm/bin/python3",$(ARGS))

clean-data: ## delete the data of `make run` (asks first)
	@if [[ ! -d "$(data)" ]]; then echo "there is no data at $(data)"; exit 0; fi; \
	read -r -p 'Delete all of $(data), with every run and conversation? Type "delete": ' answer; \
	if [[ $$answer == delete ]]; then rm -rf -- "$(data)" && echo "deleted $(data)"; else echo "kept $(data)"; fi
