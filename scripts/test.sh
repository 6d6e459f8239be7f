#!/bin/bash
# Everything that has to hold before a change is merged; `make test` and CI run
# exactly this. It goes on after a failure, so that one run shows them all,
# and ends with one line that adds up every suite.
#
#   scripts/test.sh [PHASE...]     all phases, or those named
set -uo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:$HOME/.cargo/bin"

readonly logs=build/test-logs
mkdir -p "$logs"
locked=()
if [ "${CI:-}" = true ]; then
  locked=(--locked)
  # Chance is not to decide whether a change is merged: property tests, like the phases
  # `fuzz` and `stress`, have the same random numbers each time. By hand they have new ones.
  export PROPTEST_RNG_SEED=1
  # What would make a second build faster is never used, and takes a quarter of the disk.
  export CARGO_INCREMENTAL=0
fi

passed=0 failed=0 ignored=0
summary=() failures=()

# failing LOG: the tests that failed, each with the first line that says why; else how the log ends.
failing() {
  awk '
    /^test .*FAILED/ && !/^test result/ { print; found = 1 }
    follows { print; --follows }
    /panicked at|^found: |^signal [0-9]+, code |ERROR: |SUMMARY: / && ++reasons <= 4 {
      print
      follows = /panicked at/ ? 1 : /^signal/ ? 12 : 0
    }
    # The report of libgomp'"'"'s tests.
    /^(Failed|Passed unexpectedly.*) \([0-9]+\):$/ { listed = 1; next }
    listed && /^  / { print; found = 1; next }
    { listed = 0 }
    # What a compiler complains of, and where.
    /^error(\[E[0-9]+\])?: / && ++errors <= 4 { told[++lines_told] = $0; where = 1; next }
    where { told[++lines_told] = $0; where = 0 }
    NF { last[++lines] = $0 }
    END {
      if (found) exit
      for (line = 1; line <= lines_told; ++line) print told[line]
      if (!lines_told) for (line = lines - 7; line <= lines; ++line) if (line in last) print last[line]
    }' "$1" |
    cut -c1-300 | head -n 12
}

# The processor time in what `times` has written, of all commands that have ended, in seconds.
processor_seconds() {
  awk -F '[ms ]+' 'NR == 2 { printf "%d", $1 * 60 + $2 + $3 * 60 + $4 }' "$logs/times"
}

# phase NAME COMMAND...: runs it, keeps its log, and adds up what it reports in
# the words of cargo test. A phase that reports nothing counts as one check;
# one that ends with an error but reports no failure counts as one failure.
# What failed is named again at the end, where a long log is read first.
phase() {
  local name=$1 log="$logs/$1.log" start=$SECONDS status good bad skipped seconds used
  shift
  if [ ${#wanted[@]} -gt 0 ] && [[ ! " ${wanted[*]} " == *" $name "* ]]; then
    return
  fi
  printf '\n=== %s: %s\n' "$name" "$*"
  times >"$logs/times"
  used=$(processor_seconds)
  "$@" 2>&1 </dev/null | tee "$log"
  status=${PIPESTATUS[0]}
  seconds=$((SECONDS - start))
  times >"$logs/times"
  used=$(($(processor_seconds) - used))
  read -r good bad skipped < <(awk '
    /^test result: / {
      for (i = 1; i < NF; ++i) {
        if ($(i + 1) ~ /^passed/) good += $i
        if ($(i + 1) ~ /^failed/) bad += $i
        if ($(i + 1) ~ /^ignored/) skipped += $i
      }
    }
    END { print good + 0, bad + 0, skipped + 0 }' "$log")
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
    bad=1
  elif [ "$status" -eq 0 ] && [ $((good + bad + skipped)) -eq 0 ]; then
    if grep -q '^test result: ' "$log"; then
      echo "$name: not one test ran"
      bad=1
    else
      good=1
    fi
  fi
  if [ "$bad" -ne 0 ]; then
    while IFS= read -r line; do
      failures+=("failed in $name: $line")
    done < <(failing "$log")
  fi
  passed=$((passed + good)) failed=$((failed + bad)) ignored=$((ignored + skipped))
  summary+=("$(printf '%-15s %6d passed %4d failed %4d ignored %5d s, %5d s of processor time' \
    "$name" "$good" "$bad" "$skipped" "$seconds" "$used")")
}

# The workspace, and the crates that are workspaces of their own.
readonly manifests=(Cargo.toml device/host-openmp/Cargo.toml device/gpu/Cargo.toml device/gpu/maths/Cargo.toml
  device/gpu/library/Cargo.toml device/gpu/fortran/Cargo.toml fuzz/Cargo.toml vgpu/clients/cudarc/Cargo.toml)

check_format() {
  local manifest status=0
  for manifest in "${manifests[@]}"; do
    cargo fmt --manifest-path "$manifest" --all --check || status=1
  done
  return "$status"
}

check_lint() {
  local manifest status=0
  for manifest in "${manifests[@]}"; do
    # The GPU device runtime uses features that a stable compiler has, but only names if asked to.
    local environment=()
    [ "$manifest" = device/gpu/Cargo.toml ] && environment=(RUSTC_BOOTSTRAP=1)
    env "${environment[@]}" cargo clippy "${locked[@]}" --manifest-path "$manifest" --workspace --all-targets -- -D warnings || status=1
  done
  return "$status"
}

# What is packed is the stage of the other phases; `make packages` builds it anew.
check_packages() {
  scripts/packages.sh build/stage && scripts/packages-test.sh build/stage
}

# What a newcomer sees first.
check_demo() {
  scripts/progress-test.sh && scripts/demo.sh
}

# in_fresh_root ARGUMENT...: scripts/fresh.sh, where it can be.
in_fresh_root() {
  if [ -n "${GANGWAY_FRESH:-}" ]; then
    echo 'fresh: not run: this is a fresh root already'
  elif [ "$(id -u)" -ne 0 ]; then
    echo 'fresh: not run: only root may mount a fresh root'
  else
    df -h --output=avail,target build | sed 1d
    scripts/fresh.sh "$@"
    return
  fi
  echo 'test result: ok. 0 passed; 0 failed; 1 ignored'
}

# In a root where only the demo's list is installed, the demo runs with what the phases before have built.
check_fresh() {
  in_fresh_root built
}

# What needs GCC's compiler for AMD's GPUs, which the machine need not have.
check_amdgcn() {
  scripts/amdgcn.sh scripts/amdgcn-tests.sh
  local status=$?
  if [ "$status" = 77 ]; then
    echo "amdgcn: not run: Debian's packages cannot be had here, or nothing can lie over /usr (see above)"
    echo 'test result: ok. 0 passed; 0 failed; 1 ignored'
    return 0
  fi
  return "$status"
}

# The compilers that Debian 12 does not have, one program each.
check_compilers() {
  in_fresh_root --release sid compilers
}

wanted=("$@")
for name in "${wanted[@]}"; do
  grep -q "^phase $name " "$0" || {
    echo "no phase is called $name; they are: $(sed -n 's/^phase \([a-z-]*\) .*/\1/p' "$0" | xargs)" >&2
    exit 2
  }
done

phase format check_format
phase lint check_lint
phase deny scripts/deny.sh
phase stage cargo xtask stage
phase workspace cargo test "${locked[@]}" --workspace --exclude gangway-conformance --no-fail-fast
phase device cargo test "${locked[@]}" --manifest-path device/host-openmp/Cargo.toml --no-fail-fast
phase device cargo test "${locked[@]}" --release --manifest-path device/gpu/maths/Cargo.toml --no-fail-fast
phase device cargo test "${locked[@]}" --manifest-path device/gpu/library/Cargo.toml --no-fail-fast
phase device cargo test "${locked[@]}" --manifest-path device/gpu/fortran/Cargo.toml --no-fail-fast
phase device env RUSTC_BOOTSTRAP=1 cargo test "${locked[@]}" --manifest-path device/gpu/Cargo.toml --no-fail-fast
phase conformance cargo test "${locked[@]}" -p gangway-conformance --lib --test conformance --no-fail-fast
phase conformance-gpu cargo test "${locked[@]}" -p gangway-conformance --test vgpu --test host_calls --test host_calls_in_trouble --no-fail-fast
phase libgomp cargo run "${locked[@]}" -p gangway-libgomp-suite -- --tenth
phase libgomp cargo run "${locked[@]}" -p gangway-libgomp-suite -- --tenth --front-end gangway
phase libgomp cargo run "${locked[@]}" -p gangway-libgomp-suite -- --front-end clang --filter 'oacc-c(/|[+][+]/[^.]).* -O2$'
phase amdgcn check_amdgcn
phase clients scripts/clients.sh --library build/stage/lib/gangway/vgpu
phase ptxas scripts/ptxas.sh
phase loom scripts/loom.sh
phase fuzz scripts/fuzz.sh 8
phase stress scripts/stress.sh 5
phase demo check_demo
phase fresh check_fresh
phase compilers check_compilers
phase install scripts/install-test.sh
phase page scripts/page-test.sh
phase readme scripts/readme-test.sh
phase packages check_packages
phase docs scripts/docs.sh

printf '\n'
printf '%s\n' "${summary[@]}"
[ "$failed" -eq 0 ] || printf '%s\n' "${failures[@]}"
[ "$ignored" -eq 0 ] || echo "$ignored ignored: their reasons are in $logs"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
