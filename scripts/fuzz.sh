#!/bin/bash
# Fuzzes every target of fuzz/ for some seconds each, one after another.
#
#   scripts/fuzz.sh [SECONDS [TARGET...]]
#
# Needs no nightly compiler and no cargo-fuzz: the coverage that libFuzzer
# feeds on comes from LLVM options that a stable rustc passes on. What a run
# learns stays in fuzz/corpus; an input that fails is kept in fuzz/artifacts
# and its path is printed, to be replayed with
#
#   fuzz/target/x86_64-unknown-linux-gnu/release/TARGET PATH
#
# SEED=NUMBER repeats the random numbers of an earlier run, which each target's line tells.
# Without it a run by hand has a new seed. Continuous integration (CI=true) has always the
# same one, begins with the committed seeds alone, and tries as many inputs on a fast machine
# as on a slow one, so that no change fails by luck.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
export PATH="$PATH:$HOME/.cargo/bin"

readonly seconds=${1:-60}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  mapfile -t targets < <(awk -F'"' '/^\[/ { bin = $0 == "[[bin]]" } bin && /^name *=/ { print $2 }' Cargo.toml)
fi
[ ${#targets[@]} -gt 0 ] || { echo "fuzz: no targets in fuzz/Cargo.toml" >&2; exit 1; }

triple=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module \
-Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares" \
  cargo build --release --target "$triple"

learned=corpus
if [ "${CI:-}" = true ]; then
  : "${SEED:=1}"
  learned=$(mktemp -d)
  trap 'rm -rf "$learned"' EXIT
fi

# What a target tries in continuous integration: some seconds' work.
inputs() {
  case $1 in
    kernels) echo 100 ;;
    interpret) echo 50000 ;;
    ptx | host_channel) echo 100000 ;;
    link) echo 200000 ;;
    *) echo 500000 ;;
  esac
}

readonly seed=${SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}

passed=0 failed=0
for target in "${targets[@]}"; do
  corpus=$learned/$target artifacts=artifacts/$target
  mkdir -p "$corpus" "$artifacts"
  sources=("$corpus")
  [ -d "seeds/$target" ] && sources+=("seeds/$target")
  limit=(-max_total_time="$seconds")
  amount="$seconds s"
  if [ "${CI:-}" = true ]; then
    limit=(-runs="$(inputs "$target")")
    amount="$(inputs "$target") inputs"
  fi
  printf '\nfuzzing %s for %s, SEED=%s\n' "$target" "$amount" "$seed"
  log=artifacts/$target.log
  if "target/$triple/release/$target" -seed="$seed" "${limit[@]}" -timeout=60 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$artifacts/" "${sources[@]}" >"$log" 2>&1; then
    grep -E '^stat::(number_of_executed_units|new_units_added|peak_rss_mb)' "$log"
    passed=$((passed + 1))
  else
    tail -n 40 "$log"
    echo "test $target ... FAILED"
    echo "repeat with: ${CI:+CI=$CI }SEED=$seed scripts/fuzz.sh $seconds $target, or replay the input that is named above"
    failed=$((failed + 1))
  fi
done
result=ok
[ "$failed" -eq 0 ] || result=FAILED
printf '\ntest result: %s. %d passed; %d failed; 0 ignored\n' "$result" "$passed" "$failed"
[ "$failed" -eq 0 ]
