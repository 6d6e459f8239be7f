# Every task of the project under one name. `make` alone lists them.
#
# Targets that build call scripts/bootstrap.sh first, which installs what a
# fresh Debian 12 lacks, or says what to install.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
DESTDIR ?=
STAGE := build/stage
# Rust installed for the user, if it is not in the search path.
export PATH := $(PATH):$(HOME)/.cargo/bin

.PHONY: help
help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 28

.PHONY: bootstrap
bootstrap: ## Install what building and the demo need (needs root; otherwise says what)
	@scripts/bootstrap.sh

.PHONY: bootstrap-test
bootstrap-test: ## Install what the tests need, too
	@scripts/bootstrap.sh test

.PHONY: bootstrap-bench
bootstrap-bench: ## Install what the benchmarks need, too
	@scripts/bootstrap.sh bench

.PHONY: build
build: bootstrap ## Build everything into build/stage
	cargo xtask stage

.PHONY: test
test: bootstrap-test ## Run every check and test, as CI does
	@scripts/test.sh

.PHONY: conformance-gpu
conformance-gpu: bootstrap-test build ## Run all programs of the conformance suite on the virtual GPU
	GANGWAY_CONFORMANCE_VGPU=all cargo test -p gangway-conformance --test vgpu
	GANGWAY_OPENACC_WAYS=all cargo test -p gangway-openacc-suite --test programs

.PHONY: conformance-amd
conformance-amd: bootstrap-test build ## Run all programs of the suite on the virtual AMD GPU; GPU=gfx906, ...
	GANGWAY_CONFORMANCE_GPU=$(or $(GPU),gfx90a) GANGWAY_CONFORMANCE_VGPU=all cargo test -p gangway-conformance --test vgpu

.PHONY: conformance-libgomp
conformance-libgomp: bootstrap-test build ## Run libgomp's own tests on the virtual GPU; FRONTEND=gangway or clang, DEVICE=host, DEVICES=2, ARGS=--tenth, ...
	cargo run -p gangway-libgomp-suite -- --front-end $(or $(FRONTEND),stock) --device $(or $(DEVICE),nvidia) \
		--devices $(or $(DEVICES),1) $(ARGS)

.PHONY: conformance-checks
conformance-checks: bootstrap-test build ## Run all right programs under `gangway run --check=all`, which has to be silent
	GANGWAY_CONFORMANCE_CHECKED=all cargo test -p gangway-conformance --test checked
	GANGWAY_TWINS_WAYS=all cargo test -p gangway-twins --test twins
	GANGWAY_TWINS_PROGRAMS=all cargo test -p gangway-twins --test programs
	cargo run -p gangway-libgomp-suite -- --check $(ARGS)
	cargo run -p gangway-libgomp-suite -- --check --front-end clang $(ARGS)
	GANGWAY_TWINS_SEEDS=0..100 cargo test -p gangway-twins --test random
	scripts/clients.sh --library $(STAGE)/lib/gangway/vgpu --check numba cudarc

.PHONY: amdgcn
amdgcn: bootstrap-test build ## Run GCC's programs for AMD's GPUs on the virtual one; downloads GCC's packages (needs root)
	scripts/amdgcn.sh scripts/amdgcn-tests.sh

.PHONY: libgomp-amdgcn
libgomp-amdgcn: bootstrap-test build ## Run libgomp's own tests on the virtual AMD GPU, under stock libgomp and under Gangway; ARGS=--tenth, ...
	cargo build -p gangway-libgomp-suite
	scripts/amdgcn.sh target/debug/gangway-libgomp-suite --device amd $(ARGS)
	scripts/amdgcn.sh target/debug/gangway-libgomp-suite --device amd --front-end gangway $(ARGS)

.PHONY: clients
clients: bootstrap-test build ## Run numba-cuda, cudarc, Taichi and Triton programs on the virtual GPU; downloads them once
	scripts/clients.sh --library $(STAGE)/lib/gangway/vgpu

.PHONY: ptxas
ptxas: bootstrap-test ## Compare what is read as PTX with what NVIDIA's assembler takes; downloads it once
	scripts/ptxas.sh

.PHONY: demo
demo: ## Compile the examples, run them on Gangway, check them, draw one
	@scripts/bootstrap.sh demo
	@scripts/progress.sh build/demo.log cargo xtask stage
	@scripts/demo.sh

.PHONY: bench
bench: build ## Compare with the stock runtime; writes docs/benchmarks.md
	cargo run --release -p gangway-bench

.PHONY: bench-vgpu
bench-vgpu: build ## Compare the virtual GPU with native code; writes docs/benchmarks-vgpu.md
	cargo run --release -p gangway-bench --bin gangway-bench-vgpu

.PHONY: bench-gpu
bench-gpu: build ## Measure target regions on a GPU, or on the virtual one; writes docs/benchmarks-gpu.md
	cargo run --release -p gangway-bench --bin gangway-bench-gpu

.PHONY: bench-gomp
bench-gomp: bootstrap-bench build ## Compare GCC's programs under libgomp and under Gangway; writes docs/benchmarks-gomp.md
	cargo run --release -p gangway-bench --bin gangway-bench-gomp

.PHONY: bench-openacc
bench-openacc: build ## Compare OpenACC through clang with GCC's and with OpenMP; writes docs/benchmarks-openacc.md
	cargo run --release -p gangway-bench --bin gangway-bench-openacc

.PHONY: bench-checks
bench-checks: bootstrap-bench build ## Measure what the checks of the virtual GPU cost; writes docs/benchmarks-checks.md
	cargo run --release -p gangway-bench --bin gangway-bench-checks

.PHONY: bench-hsa
bench-hsa: build ## Measure programs for AMD's GPUs, as root (GCC's compiler is borrowed); writes docs/benchmarks-hsa.md
	cargo build --release -p gangway-bench --bin gangway-bench-hsa
	scripts/amdgcn.sh target/release/gangway-bench-hsa

.PHONY: bench-host-calls
bench-host-calls: build ## Compare host calls with the protocol of libgomp; writes docs/benchmarks-host-calls.md
	cargo run --release -p gangway-bench --bin gangway-bench-host-calls

.PHONY: fuzz
fuzz: bootstrap ## Fuzz the readers and the interpreter; SECONDS=60 for each target, SEED=...
	SEED="$(SEED)" scripts/fuzz.sh $(or $(SECONDS),60)

.PHONY: stress
stress: build ## Attack the staged libraries; SECONDS=60 for each attack, SEED=..., ATTACKS=...
	SEED="$(SEED)" scripts/stress.sh $(or $(SECONDS),60) $(ATTACKS)

.PHONY: sanitize
sanitize: bootstrap-test ## Run programs on libraries with AddressSanitizer; SUITES="conformance programs stress clients"
	scripts/sanitize.sh $(SUITES)

.PHONY: loom
loom: bootstrap ## Model-check the concurrent table
	scripts/loom.sh

.PHONY: lint
lint: bootstrap ## Formatting and clippy, warnings as errors
	@scripts/test.sh format lint

.PHONY: deny
deny: bootstrap ## Check licences and sources of the dependencies
	scripts/deny.sh

.PHONY: fresh
fresh: ## Run the README's commands in a fresh Debian root; RELEASE=bookworm, STEPS="demo test user readme"
	@scripts/bootstrap.sh fresh
	@scripts/fresh.sh --release $(or $(RELEASE),bookworm) $(STEPS)

.PHONY: matrix
matrix: build ## Try every compiler of every Debian in fresh roots, and write docs/matrix.md; RELEASES="bookworm trixie sid", ARGS=--examples
	@scripts/bootstrap.sh fresh
	@for release in $(or $(RELEASES),bookworm trixie sid); do \
	  MATRIX_ARGS="$(ARGS)" scripts/fresh.sh --release $$release matrix || failed=1; \
	done; scripts/matrix-page.sh >docs/matrix.md; [ -z "$${failed:-}" ]

# Another user than the tree's owner, as with sudo, builds nothing: files of theirs would stand
# in the owner's way.
.PHONY: install
install: ## Build what has changed, and install into DESTDIR/PREFIX (default /usr/local)
	@if [ "$$(id -u)" = "$$(stat -c %u .)" ]; then $(MAKE) --no-print-directory build; \
	else scripts/installation.sh fresh; fi
	@scripts/installation.sh install "$(DESTDIR)$(PREFIX)"
	@echo "installed; try: $(PREFIX)/bin/gangway info"

.PHONY: uninstall
uninstall: ## Remove what install put there
	@scripts/installation.sh uninstall "$(DESTDIR)$(PREFIX)"

.PHONY: packages
packages: ## Make a Debian package, a tarball and Python wheels in build/packages, and try them
	@scripts/bootstrap.sh packages
	cargo xtask stage --packages
	scripts/packages.sh
	scripts/packages-test.sh

.PHONY: reproducible
reproducible: ## Make the packages in two folders and compare them; PROFILE=dev is faster
	@scripts/bootstrap.sh packages
	scripts/reproducible.sh $(or $(PROFILE),release)

.PHONY: docs
docs: ## Build the documentation as a site in build/docs/site, and check its links
	@scripts/bootstrap.sh docs
	scripts/docs.sh

.PHONY: clean
clean: ## Remove build/ and target/
	rm -rf build target device/host-openmp/target device/gpu/target device/gpu/maths/target device/gpu/library/target device/gpu/fortran/target fuzz/target
