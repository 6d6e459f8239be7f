#!/bin/bash
# Attacks the staged libraries for some seconds with each program of tests/stress/attacks.
#
#   scripts/stress.sh [SECONDS [ATTACK...]]
#
# SEED=NUMBER repeats the random numbers of an earlier run, which its first line tells.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:$HOME/.cargo/bin"

readonly seconds=${1:-60}
shift || true
seed=()
[ -z "${SEED:-}" ] || seed=(--seed "$SEED")
cargo run --quiet -p gangway-stress -- --seconds "$seconds" "${seed[@]}" "$@"
