#!/bin/bash
# Compiles the examples with the stock compilers, runs them on Gangway and
# checks them. `make demo` calls it once everything is built.
#
# Every example compares its own result with the host and ends with a status
# other than 0 if it differs; OMP_TARGET_OFFLOAD=MANDATORY makes sure that none
# passes by running on the host in the first place.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly stage=build/stage out=build/demo
readonly flags=(-O2 -g -Wall -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu)
# -g gives kernels and variables their names and source lines in the report.

mkdir -p "$out"
rm -f "$out"/*.trace.json "$out"/*.png

echo "compiling the examples with the stock compilers"
clang-22 "${flags[@]}" examples/heat.c -o "$out/heat" -lm
clang++-22 "${flags[@]}" examples/nbody.cpp -o "$out/nbody"
clang-22 "${flags[@]}" examples/pipeline.c -o "$out/pipeline"
flang-22 -O2 -g -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu \
  -Xoffload-linker "$PWD/$stage/lib/gangway/libgangway-host-openmp.a" \
  -module-dir "$out" examples/cg.f90 -o "$out/cg"

# Without contraction the host's results are the device's to the last bit.
gcc=(gcc-12 -O2 -Wall -ffp-contract=off -foffload=nvptx-none)
"${gcc[@]}" -fopenmp examples/mandelbrot.c -o "$out/mandelbrot"
"${gcc[@]}" -fopenacc -foffload=-lm examples/laplace.c -o "$out/laplace" -lm

passed=0 failed=0 traces=()
run() {
  local name=$1
  shift
  printf '\n=== gangway run --report --trace %s -- %s\n' "$out/$name.trace.json" "$out/$name${*:+ $*}"
  if OMP_TARGET_OFFLOAD=MANDATORY "$stage/bin/gangway" run --report \
    --trace "$out/$name.trace.json" -- "$out/$name" "$@" && [ -s "$out/$name.trace.json" ]; then
    passed=$((passed + 1))
    traces+=("$PWD/$out/$name.trace.json")
  else
    echo "demo: $name FAILED"
    failed=$((failed + 1))
  fi
}
run heat "$out/heat.png"
run nbody
run pipeline
run cg

# These are for NVIDIA's GPUs: stock libgomp finds a virtual one.
run_vgpu() {
  local name=$1
  shift
  printf '\n=== gangway run --device vgpu -- %s\n' "$out/$name${*:+ $*}"
  if OMP_TARGET_OFFLOAD=MANDATORY ACC_DEVICE_TYPE=nvidia "$stage/bin/gangway" run --device vgpu \
    -- "$out/$name" "$@"; then
    passed=$((passed + 1))
  else
    echo "demo: $name FAILED"
    failed=$((failed + 1))
  fi
}
run_vgpu mandelbrot "$out/mandelbrot.png"
run_vgpu laplace

printf '\n'
echo 'traces, for https://ui.perfetto.dev or chrome://tracing:'
printf '  %s\n' "${traces[@]}"
echo 'pictures:'
for picture in heat mandelbrot; do
  if [ -s "$out/$picture.png" ]; then
    printf '  %s\n' "$PWD/$out/$picture.png"
  else
    echo "demo: $picture.png was not written"
    failed=$((failed + 1))
  fi
done
echo "demo: $passed examples right, $failed wrong"
[ "$failed" -eq 0 ]
