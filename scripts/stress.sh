#!/bin/bash
# Attacks the staged libraries for some seconds with each program of tests/stress/attacks.
#
#   scripts/stress.sh [SECONDS [ATTACK...]]
#
# SEED="NUMBER..." repeats the random numbers of an earlier run, which its first line tells.
# Without it a run by hand has a new seed; continuous integration (CI=true) takes those of
# tests/stress/seeds, so that no change fails by the luck of a number. Several seeds share
# the seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:$HOME/.cargo/bin"

readonly seconds=${1:-60}
shift || true
chosen=${SEED:-}
if [ -z "$chosen" ] && [ "${CI:-}" = true ]; then
  chosen=$(sed 's/#.*//' tests/stress/seeds | xargs)
fi
seeds=()
for seed in $chosen; do
  seeds+=(--seed "$seed")
done
cargo run --quiet -p gangway-stress -- --seconds "$seconds" "${seeds[@]}" "$@"
