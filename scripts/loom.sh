#!/bin/bash
# Model-checks the concurrent present table, who serves host calls, and the streams of the virtual GPU: loom
# runs every interleaving of a few small programs. Builds apart from the rest, because
# they are compiled with loom's atomics in place of the real ones.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:$HOME/.cargo/bin"

export RUSTFLAGS="--cfg loom"
# Optimised, but without the link-time optimisation of a release.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
# Three preemptions find what any published lock-free bug needed; without a
# bound the search takes hours.
export LOOM_MAX_PREEMPTIONS=${LOOM_MAX_PREEMPTIONS:-3}
cargo test --release --target-dir target/loom -p gangway-present --lib loom
cargo test --release --target-dir target/loom -p gangway-host-calls --lib loom
cargo test --release --target-dir target/loom -p gangway-streams --lib loom
