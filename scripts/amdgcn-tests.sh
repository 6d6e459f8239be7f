#!/bin/bash
# The tests that need GCC's compiler for AMD's GPUs: its programs on the virtual AMD GPU, under the stock libgomp and
# under Gangway. scripts/amdgcn.sh lends the compiler.
set -uo pipefail
cd "$(dirname "$0")/.."
locked=()
[ "${CI:-}" = true ] && locked=(--locked)
status=0
cargo test "${locked[@]}" --no-fail-fast -p gangway-hsa-driver --test programs -- offload || status=1
cargo test "${locked[@]}" --no-fail-fast -p gangway-gomp --test amd || status=1
exit "$status"
