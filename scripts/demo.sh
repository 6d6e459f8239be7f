#!/bin/bash
# Compiles the examples with the stock compilers, runs them on Gangway's CPU devices
# and on its virtual GPU, and checks them. `make demo` calls it once everything is built.
#
# Every example compares its own result with the host and ends with a status
# other than 0 if it differs; OMP_TARGET_OFFLOAD=MANDATORY makes sure that none
# passes by running on the host in the first place.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly stage=build/stage out=build/demo
# Both kinds of devices in one executable. -g gives kernels and variables their names and source
# lines in the report. The README's flags: GPUs fuse multiplications and additions, and the
# examples allow for that.
readonly flags=(-O2 -g -Wall -fopenmp --offload-arch=sm_80,x86_64)
readonly gangway=$stage/bin/gangway

mkdir -p "$out"
rm -f "$out"/*.data "$out"/*.trace.json "$out"/*.html "$out"/*.png

echo "compiling the examples with the stock compilers"
"$gangway" cc "${flags[@]}" examples/heat.c -o "$out/heat" -lm
"$gangway" c++ "${flags[@]}" examples/nbody.cpp -o "$out/nbody"
"$gangway" cc "${flags[@]}" examples/pipeline.c -o "$out/pipeline"
"$gangway" cc "${flags[@]}" examples/checkpoint.c -o "$out/checkpoint" -lm
# Without -g: flang-22 gives GPU code debug information that LLVM itself refuses.
"$gangway" fc -O2 -fopenmp --offload-arch=sm_80,x86_64 -module-dir "$out" examples/cg.f90 -o "$out/cg"

# OpenACC, which stock clang checks and `gangway cc` makes kernels of. GCC 12 stops at the last one with an
# internal error.
readonly openacc=(heat_acc nbody_acc laplace contrast_acc)
for name in "${openacc[@]}"; do
  "$gangway" cc "${flags[@]/-fopenmp/-fopenacc}" "examples/$name.c" -o "$out/$name-clang" -lm
done

. scripts/compilers.sh
gcc=("$gcc" -O2 -Wall -foffload=nvptx-none)
"${gcc[@]}" -fopenmp examples/mandelbrot.c -o "$out/mandelbrot"
for name in laplace heat_acc nbody_acc; do
  "${gcc[@]}" -fopenacc -foffload=-lm "examples/$name.c" -o "$out/$name" -lm
done
"$gfortran" -O2 -fopenacc -foffload=nvptx-none -foffload=-lgfortran -J "$out" examples/cg_acc.f90 -o "$out/cg_acc"

# MPI's compiler calls another one: mpich and Open MPI ask different variables which. Open MPI starts
# nothing for root without being told to.
export MPICH_CC="$PWD/$gangway cc" OMPI_CC="$PWD/$gangway cc"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpi=
if command -v mpicc >/dev/null && command -v mpiexec >/dev/null; then
  mpi=yes
  mpicc "${flags[@]}" examples/halo_mpi.c -o "$out/halo_mpi"
fi

passed=0 failed=0 skipped=() traces=()
declare -A result

# run DEVICE NAME ARGUMENT...: an example that clang built, with a report and a trace. The report of
# what copies while it computes is a page.
run() {
  local device=$1 name=$2 trace="$out/$2-$1.trace.json" form=text
  [ "$name" != pipeline ] || form=html:$out/pipeline-$device.html
  shift 2
  printf '\n=== gangway run --device %s --report=%s --trace %s -- %s\n' "$device" "$form" "$trace" "$out/$name${*:+ $*}"
  if OMP_TARGET_OFFLOAD=MANDATORY "$gangway" run --device "$device" --report="$form" --trace "$trace" \
    -- "$out/$name" "$@" && [ -s "$trace" ]; then
    result[$device/$name]=right
    passed=$((passed + 1))
    traces+=("$PWD/$trace")
  else
    result[$device/$name]=WRONG
    failed=$((failed + 1))
  fi
}

# Two ranks, each with the device of its own process.
run_mpi() {
  local device=$1 name=$2
  printf '\n=== mpiexec -n 2 gangway run --device %s -- %s\n' "$device" "$out/$name"
  if OMP_TARGET_OFFLOAD=MANDATORY mpiexec -n 2 "$gangway" run --device "$device" -- "$out/$name"; then
    result[$device/$name]=right
    passed=$((passed + 1))
  else
    result[$device/$name]=WRONG
    failed=$((failed + 1))
  fi
}

# Those of GCC are for NVIDIA's GPUs, of which there is a virtual one.
run_gcc() {
  local name=$1
  shift
  printf '\n=== gangway run --device vgpu -- %s\n' "$out/$name${*:+ $*}"
  if OMP_TARGET_OFFLOAD=MANDATORY ACC_DEVICE_TYPE=nvidia "$gangway" run --device vgpu -- "$out/$name" "$@"; then
    result[vgpu/$name]=right
    passed=$((passed + 1))
  else
    result[vgpu/$name]=WRONG
    failed=$((failed + 1))
  fi
}

for device in cpu vgpu; do
  run "$device" heat "$out/heat-$device.png"
  run "$device" nbody
  run "$device" pipeline
  run "$device" cg
  run "$device" checkpoint "$out/checkpoint-$device.data"
  if [ -n "$mpi" ]; then
    run_mpi "$device" halo_mpi
  else
    result[$device/halo_mpi]=skipped
  fi
done
for device in cpu vgpu; do
  run "$device" heat_acc-clang
  run "$device" nbody_acc-clang
  run "$device" contrast_acc-clang "$out/contrast-$device.png"
done
# It asks for a device that is not the host, which the processors are.
run vgpu laplace-clang
[ -n "$mpi" ] || skipped+=("halo_mpi: no MPI here (mpicc and mpiexec; Debian: apt-get install mpich libmpich-dev)")
run_gcc mandelbrot "$out/mandelbrot.png"
for name in laplace heat_acc cg_acc nbody_acc; do
  run_gcc "$name"
done

printf '\n%-18s %-12s %s\n' example 'CPU devices' 'virtual GPU'
for name in heat nbody pipeline cg checkpoint halo_mpi mandelbrot laplace heat_acc cg_acc nbody_acc \
  "${openacc[@]/%/-clang}"; do
  printf '%-18s %-12s %s\n' "$name" "${result[cpu/$name]:--}" "${result[vgpu/$name]:--}"
done
printf '\n'
echo 'traces, for https://ui.perfetto.dev or chrome://tracing:'
printf '  %s\n' "${traces[@]}"
echo 'reports as pages, for any browser:'
printf '  %s\n' "$PWD/$out"/pipeline-{cpu,vgpu}.html
echo 'pictures:'
for picture in heat-cpu heat-vgpu mandelbrot contrast-cpu contrast-vgpu; do
  if [ -s "$out/$picture.png" ]; then
    printf '  %s\n' "$PWD/$out/$picture.png"
  else
    echo "demo: $picture.png was not written"
    failed=$((failed + 1))
  fi
done
for reason in "${skipped[@]}"; do
  echo "demo: skipped $reason"
done
echo "demo: $passed runs right, $failed wrong"
[ "$failed" -eq 0 ]
