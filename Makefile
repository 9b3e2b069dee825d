# The two commands of the README, and what they are made of.
SHELL := /bin/bash
.DEFAULT_GOAL := help
SACCADE := build/release/saccade
SAMPLE := build/sample/control-room.mp4
export OMP_WAIT_POLICY := passive

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: ## install what is missing, fetch pinned sources and weights
	@tools/setup.sh run

build: setup ## build/release/saccade
	@test -f build/release/build.ninja || cmake --preset release >/dev/null
	@cmake --build --preset release --target saccade

console: ## console/dist anew, after a change in console/src
	@tools/setup.sh test
	@tools/node.sh typescript/bin/tsc --noEmit
	@tools/node.sh vite/bin/vite.js build --logLevel warn

sample: setup ## the bundled sample video and its truth file
	@test -f $(SAMPLE) -a $(SAMPLE) -nt tools/make_sample.py || build/venv/bin/python tools/make_sample.py build/sample

watch: build sample ## the main job on the bundled sample with the bundled model
	@$(SACCADE) watch $(SAMPLE)

test: ## every test; ends with "N passed, N failed"
	@tools/setup.sh test
	@build/venv/bin/python tools/run_tests.py

style: ## formatting, borders, size budgets, clang-tidy
	@build/venv/bin/python tools/tidy.py && build/venv/bin/python tools/run_tests.py tidy

bench-governor: build sample ## deadlines under load, against llama.cpp's server: build/bench/governor.json
	@cmake --build --preset release --target bench_control >/dev/null
	@bench/peers/build_llama_server.sh
	@build/venv/bin/python bench/governor.py

.PHONY: help setup build console sample watch test style bench-governor
