#!/bin/bash
# Runs programs on libraries that were built with AddressSanitizer, and fails if it
# reports anything.
#
#   scripts/sanitize.sh [conformance] [programs] [stress] [clients]
#
# All but the clients, whose packages are a large download, if none is named. The programs
# themselves are not instrumented: they load the sanitizer's runtime first, and what
# it sees is the libraries' own reads and writes, and everybody's calls of malloc,
# free, memcpy and their like. Reports are left in build/asan/reports.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:$HOME/.cargo/bin"

readonly root=$PWD stage=$PWD/build/asan reports=$PWD/build/asan/reports
readonly sources=vgpu/driver/tests
. scripts/compilers.sh
# The runtime of GCC; its interface is the one that rustc's instrumentation calls.
runtime=$(readlink -f "$("$gcc" -print-file-name=libasan.so)")
[ -f "$runtime" ] || { echo "sanitize: $gcc has no libasan.so: apt-get install libgcc-N-dev of its version" >&2; exit 1; }
wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=(conformance programs stress)

cargo xtask stage --sanitize
rm -rf "$reports"
mkdir -p "$reports" "$stage/programs"

options=(
  # Reports are told from what programs say, and from how those mean to end.
  "log_path=$reports/report" exitcode=66
  # The libraries and the programs have handlers and signal stacks of their own.
  handle_segv=0 handle_sigbus=0 handle_sigill=0 handle_sigfpe=0 handle_abort=0 use_sigaltstack=0
  # Warps run on fibers: a frame's variables have to lie where its stack is.
  detect_stack_use_after_return=0
  # Libraries live until the process ends, and their tables with them.
  detect_leaks=0
  # Freed memory is kept to find its use; programs that measure their memory allow 16 MiB.
  quarantine_size_mb=4
)
ASAN_OPTIONS=$(IFS=:; echo "${options[*]}")
export ASAN_OPTIONS

# A run without reports says nothing if none can be made: a copy beyond the end of a
# program's memory, which our library reads, has to be reported.
check_sight() {
  local program=$stage/programs/beyond
  cat >"$program.c" <<'END'
#include <omp.h>
#include <stdlib.h>
int main(void) {
  char *small = malloc(16);
  void *device = omp_target_alloc(64, 0);
  return omp_target_memcpy(device, small, 64, 0, 0, 0, omp_get_initial_device());
}
END
  clang-22 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu "$program.c" -o "$program"
  if LD_PRELOAD=$runtime LD_LIBRARY_PATH=$stage/lib/gangway timeout 60 "$program" >/dev/null 2>&1 ||
    ! grep -qs 'ERROR: .*heap-buffer-overflow' "$reports"/*; then
    echo "sanitize: a read beyond the end of an allocation is not reported" >&2
    exit 1
  fi
  rm "$reports"/*
}

# One program on the driver: `run_program NAME ENGINE COMMAND...`.
run_program() {
  local name=$1 status=0
  LD_PRELOAD=$runtime LD_LIBRARY_PATH=$stage/lib/gangway/vgpu GANGWAY_VGPU_DEVICES=2 \
    GANGWAY_VGPU_ENGINE=$2 OMP_TARGET_OFFLOAD=MANDATORY \
    timeout 240 "${@:3}" >"$stage/programs/$name.log" 2>&1 </dev/null || status=$?
  if [ "$status" -eq 0 ]; then
    echo "test $name ... ok"
    return
  fi
  echo "test $name ... FAILED, status $status"
  tail -n 20 "$stage/programs/$name.log"
  return 1
}

# The driver's own programs, compiled code and interpreter, and GCC's through libgomp.
programs() {
  local source name failed=0
  for source in "$sources"/programs/*.c; do
    name=$(basename "$source" .c)
    # The library's own undefined symbols are the runtime's, which is loaded later.
    cc -std=gnu11 -O1 -g -pthread -o "$stage/programs/$name" "$source" \
      -L "$stage/lib/gangway/vgpu" -lcuda -lm -Wl,--allow-shlib-undefined || return 1
    for engine in compiler interpreter; do
      # These are about compiled code: its stacks, its ordering, and kernels that spin.
      # A warp that faults leaves its frames' marks on the fiber that the next warp gets,
      # and they are taken for overflows; so in `vanishing` here, and in three attacks.
      [[ $engine/$name == compiler/vanishing ]] && continue
      # GCC 12's runtime leaves its allocator locked in a child of several threads.
      [[ $engine/$name == interpreter/@(small_stack|litmus|latency|stuck_callback) || $name == forks ]] && continue
      run_program "$name" "$engine" "$stage/programs/$name" || failed=1
    done
  done
  for source in "$sources"/offload/*.c; do
    name=$(basename "$source" .c)
    "$gcc" -std=gnu11 -O2 -fopenmp -foffload=nvptx-none -o "$stage/programs/$name" "$source" || return 1
    run_program "$name" compiler "$stage/programs/$name" || failed=1
  done
  return "$failed"
}

check_sight
failed=()
for suite in "${wanted[@]}"; do
  printf '\n=== %s\n' "$suite"
  case $suite in
    conformance)
      # One level: the code that is instrumented is the same. The one left out limits its
      # address space to less than the sanitizer's shadow takes.
      GANGWAY_STAGE=$stage GANGWAY_CONFORMANCE_PRELOAD=$runtime \
        cargo test -p gangway-conformance --test conformance -- @O2 --skip address_space_limit ||
        failed+=("$suite")
      ;;
    programs)
      programs || failed+=("$suite")
      ;;
    stress)
      cargo run --quiet -p gangway-stress -- --stage "$stage" --preload "$runtime" --seconds 20 \
        driver/{checked,limits,loader} openmp ||
        failed+=("$suite")
      ;;
    clients)
      GANGWAY_CLIENTS_PRELOAD=$runtime scripts/clients.sh --library "$stage/lib/gangway/vgpu" ||
        failed+=("$suite")
      ;;
    *)
      echo "sanitize: there is no suite '$suite', only conformance, programs, stress and clients" >&2
      exit 2
      ;;
  esac
done

printf '\n'
for report in "$reports"/*; do
  # Warnings tell that a thread's stack is a fiber's.
  grep -qs 'ERROR: ' "$report" || continue
  failed+=("${report#"$root"/}")
  head -n 40 "$report"
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "sanitize: failed: ${failed[*]}"
  exit 1
fi
echo "sanitize: ${wanted[*]}: no report"
