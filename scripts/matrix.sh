#!/bin/bash
# Runs small programs and examples with each compiler for offloading that is installed, on each kind of
# device that it makes code for, and writes how many were right.
#
#   scripts/matrix.sh RESULTS [--brief] [--examples] [--suites] [COMPILER...]
#
# COMPILER is such as clang-22 or gcc-14; all that are installed, if none is named.
#
# A line of RESULTS, with tabs: release of Debian, compiler, its full version, model, language, device,
# suite, how many were right, how many there are, and the names of those that were wrong. Lines of
# compilers that are not tried stay. Each program compares with the host, and ends with a status other
# than 0 if anything differs. --brief: one program for each compiler. --examples: also what `make demo` runs, which takes minutes for each
# compiler. --suites: the conformance suite for clang, libgomp's own tests at -O2 for GCC.
# `scripts/matrix-page.sh` makes a page of it. What tests/matrix/known.txt names may be wrong.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly results=${1:?a file for the results}
shift
suites=(programs) wanted=() brief=
for argument in "$@"; do
  case $argument in
    --brief) brief=yes ;;
    --examples) suites+=(examples) ;;
    --suites) suites+=(conformance libgomp) ;;
    clang-[0-9]* | gcc-[0-9]*) wanted+=("$argument") ;;
    *) echo "matrix: no option or compiler $argument" >&2; exit 2 ;;
  esac
done
readonly gangway=$PWD/build/stage/bin/gangway
release=$(. /etc/os-release; echo "${VERSION_CODENAME:-unknown}")
# Sid calls itself by the name of the next release.
[ -n "$(. /etc/os-release; echo "${VERSION_ID:-}")" ] || release=sid
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What is compiled: suite, compilers, model, language, source, and what the compiler is told besides.
table() {
  cat <<'END'
programs  clang,gcc  OpenMP   C        tests/matrix/openmp/regions.c
programs  clang,gcc  OpenMP   C++      tests/matrix/openmp/classes.cpp
programs  clang,gcc  OpenMP   Fortran  tests/matrix/openmp/arrays.f90
programs  gcc        OpenACC  C        tests/matrix/openacc/regions.c
programs  gcc        OpenACC  C++      tests/matrix/openacc/classes.cpp
programs  gcc        OpenACC  Fortran  tests/matrix/openacc/arrays.f90
examples  clang      OpenMP   C        examples/heat.c           -lm
examples  clang      OpenMP   C        examples/pipeline.c
examples  clang      OpenMP   C++      examples/nbody.cpp
examples  clang      OpenMP   Fortran  examples/cg.f90
examples  gcc        OpenMP   C        examples/mandelbrot.c
examples  gcc        OpenACC  C        examples/laplace.c        -lm -foffload-options=-lm
examples  gcc        OpenACC  C        examples/heat_acc.c       -lm
examples  gcc        OpenACC  C        examples/nbody_acc.c      -lm -foffload-options=-lm
examples  gcc        OpenACC  Fortran  examples/cg_acc.f90
END
}

# ways FAMILY RELEASE LANGUAGE: how a compiler makes programs, and the devices that these run on. Fails
# where it is not installed. See docs/clang-releases.md for what each release of clang can do.
ways() {
  case $1/$3 in
    gcc/C) command -v "gcc-$2" ;;
    gcc/C++) command -v "g++-$2" ;;
    gcc/Fortran) command -v "gfortran-$2" ;;
    # Flang 19 hands no words to the linker of images.
    clang/Fortran) [ "$2" -gt 19 ] && command -v "flang-$2" ;;
    clang/*) command -v "clang-$2" ;;
  esac >/dev/null || return
  case $1/$2/$3 in
    gcc/*) echo gcc:vgpu ;;
    clang/22/*) echo gangway:cpu,vgpu ;;
    # Flang 23 leaves no bitcode for GPUs.
    clang/23/Fortran) echo host:cpu ;;
    clang/23/*) echo gangway:cpu,vgpu ;;
    clang/*)
      echo host:cpu
      [ "$3" = Fortran ] || ! device_runtime "$2" >/dev/null || echo llvm:vgpu
      ;;
  esac
}

# device_runtime RELEASE: what has clang find LLVM's own device runtime; fails where there is none.
device_runtime() {
  local library=/usr/lib/llvm-$1/lib
  if [ -f "$library/nvptx64-nvidia-cuda/libompdevice.a" ]; then
    echo "-Xoffload-linker -L$library/nvptx64-nvidia-cuda"
  else
    ls "$library"/libomptarget-nvptx-sm_80.bc >/dev/null 2>&1
  fi
}

# toolkit RELEASE: as much of a CUDA toolkit as clang looks for, with a library of this release's bitcode.
toolkit() {
  local folder=$work/cuda-$1 part
  [ ! -d "$folder" ] || return 0
  mkdir -p "$folder/nvvm/libdevice"
  for part in bin include; do ln -s "$PWD/build/stage/lib/gangway/cuda/$part" "$folder/$part"; done
  "clang-$1" --target=nvptx64-nvidia-cuda -nogpulib -c -emit-llvm -x c /dev/null -o "$folder/nvvm/libdevice/libdevice.10.bc"
}

# compile WAY RELEASE MODEL LANGUAGE SOURCE OUTPUT OPTION...
compile() {
  local way=$1 release=$2 model=$3 language=$4 source=$PWD/$5 output=$6 command flags
  shift 6
  flags=(-O2 "-f${model,,}")
  case $way/$language in
    gcc/C) command=("gcc-$release" -foffload=nvptx-none) ;;
    gcc/C++) command=("g++-$release" -foffload=nvptx-none) ;;
    gcc/Fortran) command=("gfortran-$release" -foffload=nvptx-none -foffload-options=-lgfortran) ;;
    llvm/C) command=("clang-$release") ;;
    llvm/C++) command=("clang++-$release") ;;
    */C) command=("$gangway" cc "--llvm=$release") ;;
    */C++) command=("$gangway" c++ "--llvm=$release") ;;
    */Fortran) command=("$gangway" fc "--llvm=$release") ;;
  esac
  case $way in
    gangway) flags+=(--offload-arch=sm_80,x86_64) ;;
    host) flags+=(--offload-arch=x86_64) ;;
    llvm)
      toolkit "$release"
      # shellcheck disable=SC2207
      flags+=(--offload-arch=sm_80 -fopenmp-target-jit "--cuda-path=$work/cuda-$release" "-L/usr/lib/llvm-$release/lib"
        $(device_runtime "$release"))
      ;;
  esac
  (cd "$work" && "${command[@]}" "${flags[@]}" "$source" -o "$output" "$@")
}

# add COMPILER VERSION MODEL LANGUAGE DEVICE SUITE RIGHT ALL WRONG: counts programs; WRONG names some, of
# which the first ten are kept.
declare -A right=() all=() wrong=()
order=()
add() {
  local row=$release$'\t'$1$'\t'$2$'\t'$3$'\t'$4$'\t'$5$'\t'$6
  [ -n "${all[$row]:-}" ] || order+=("$row")
  right[$row]=$((${right[$row]:-0} + $7))
  all[$row]=$((${all[$row]:-0} + $8))
  [ -z "$9" ] || [ "$(wc -w <<<"${wrong[$row]:-}")" -ge 10 ] || wrong[$row]+="${wrong[$row]:+ }$9"
}

try() { # COMPILER VERSION WAY DEVICES SUITE MODEL LANGUAGE SOURCE OPTION...
  local compiler=$1 version=$2 way=$3 devices=$4 suite=$5 model=$6 language=$7 source=$8 device program
  shift 8
  program=$(basename "$source")
  if ! compile "$way" "${compiler#*-}" "$model" "$language" "$source" "$work/program" "$@" >"$work/log" 2>&1; then
    echo "matrix: $compiler: $source does not compile"
    tail -n 5 "$work/log"
    for device in ${devices//,/ }; do
      add "$compiler" "$version" "$model" "$language" "$device" "$suite" 0 1 "$program"
    done
    return
  fi
  for device in ${devices//,/ }; do
    if (cd "$work" && OMP_TARGET_OFFLOAD=MANDATORY ACC_DEVICE_TYPE=nvidia GANGWAY_VGPU_ENGINE=compiler-only \
      timeout 600 "$gangway" run --device "$device" -- ./program >log 2>&1 </dev/null); then
      add "$compiler" "$version" "$model" "$language" "$device" "$suite" 1 1 ""
    else
      echo "matrix: $compiler: $source is wrong on $device"
      tail -n 5 "$work/log"
      add "$compiler" "$version" "$model" "$language" "$device" "$suite" 0 1 "$program"
    fi
  done
}

# The conformance suite. A program is right where it is as the suite's lists have it.
conformance() { # COMPILER VERSION DEVICE
  local log=$work/conformance name result language
  if [ ! -e "/usr/lib/llvm-${1#*-}/lib/libomptarget.so" ]; then
    echo "matrix: $1: the conformance suite is left out: LLVM's own library, with which it compares, is not installed"
    return
  fi
  GANGWAY_CONFORMANCE_LLVM=${1#*-} GANGWAY_CONFORMANCE_VGPU=all cargo test --locked -p gangway-conformance \
    --test "$([ "$3" = cpu ] && echo conformance || echo vgpu)" -- --format pretty >"$log" 2>&1 </dev/null || true
  while read -r name result; do
    case $name in
      c/*) language=C ;;
      cxx/*) language=C++ ;;
      fortran/*) language=Fortran ;;
      *) continue ;;
    esac
    # What the compiler makes no code of for this kind of device.
    [[ $(ways clang "${1#*-}" "$language") == *"$3"* ]] || continue
    case $result in
      ok) add "$1" "$2" OpenMP "$language" "$3" conformance 1 1 "" ;;
      *) add "$1" "$2" OpenMP "$language" "$3" conformance 0 1 "$name" ;;
    esac
  done < <(sed -n 's/^test \([^ ]*\) .*\.\.\. \(ok\|FAILED\)$/\1 \2/p; s/^test \([^ ]*\) *\.\.\. \(ok\|FAILED\)$/\1 \2/p' "$log" | sort -u)
}

# libgomp's own tests at -O2, without those of loops, which take minutes each. What the runner's lists
# expect to fail is not right, and not wrong. Their sources are a package of each release.
libgomp() { # COMPILER VERSION
  local log=$work/libgomp folder passed failed expected unexpected hardware language model name
  if ! dpkg-query -W "$1-source" >/dev/null 2>&1; then
    echo "matrix: $1: libgomp's own tests are left out: there is no $1-source"
    return
  fi
  cargo run -q --locked -p gangway-libgomp-suite -- --release "${1#*-}" --front-end gangway --resume --time-limit 400 \
    --filter ' -O2$' --except '/for-[^/]*$' >"$log" 2>&1 </dev/null || true
  while read -r folder passed failed expected unexpected hardware _; do
    case $folder in
      *fortran) language=Fortran ;;
      *c++\) | *.c++ | *-c++) language=C++ ;;
      *) language=C ;;
    esac
    model=$([[ $folder == *.oacc-* ]] && echo OpenACC || echo OpenMP)
    add "$1" "$2" "$model" "$language" vgpu "libgomp's own tests" \
      "$passed" $((passed + failed + expected + unexpected + hardware)) ""
    for name in $(sed -n '/^\(Failed\|Passed unexpectedly.*\) ([0-9]*):$/,/^$/s/^  \([^ ]*\) -O2: .*/\1/p' "$log"); do
      # Of the common folder and its suite, or of the suite alone, as the table names them.
      [ "$(sed -E 's#^([^/]*)/\.\./([^/]*)/.*#\2(\1)#; s#/.*##' <<<"$name")" != "$folder" ] ||
        add "$1" "$2" "$model" "$language" vgpu "libgomp's own tests" 0 0 "$name"
    done
  done < <(sed -n 's/^\(libgomp\.[^ ]*\( ([^)]*)\)\?\) *\([0-9 ]*\)[0-9] .*/\1\t\3/p' "$log" | sed 's/ (\([^)]*\))\t/(\1)\t/')
}

tried=()
for family in clang gcc; do
  for number in $(seq 11 30); do
    [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" $family-$number "* ]] || continue
    command -v "$family-$number" >/dev/null || continue
    # GCC without its compiler for GPUs, and clang without its library.
    case $family in
      gcc) [[ $(gcc-"$number" -v 2>&1) == *nvptx-none* ]] || continue ;;
      # Only one release has its libomp installed.
      clang) [ -e "/usr/lib/llvm-$number/lib/libomp.so" ] || continue ;;
    esac
    version=$("$family-$number" --version | sed -n '1s/.*[ )]\([0-9][0-9.]*[0-9]\).*/\1/p')
    echo "matrix: $release, $family-$number $version"
    tried+=("$family-$number")
    while read -r suite families model language source options; do
      [[ " ${suites[*]} " == *" $suite "* && ,$families, == *",$family,"* ]] || continue
      for way in $(ways "$family" "$number" "$language"); do
        # shellcheck disable=SC2086
        try "$family-$number" "$version" "${way%:*}" "${way#*:}" "$suite" "$model" "$language" "$source" $options
      done
    done < <(if [ -n "$brief" ]; then table | head -n 1; else table; fi)
    if [ "$family" = gcc ]; then
      [[ " ${suites[*]} " != *" libgomp "* ]] || libgomp "gcc-$number" "$version"
    elif [[ " ${suites[*]} " == *" conformance "* ]]; then
      conformance "clang-$number" "$version" cpu
      [ "$number" -lt 22 ] || conformance "clang-$number" "$version" vgpu
    fi
  done
done
[ ${#tried[@]} -gt 0 ] || { echo "matrix: none of these compilers is here: ${wanted[*]:-clang, gcc}" >&2; exit 1; }

mkdir -p "$(dirname "$results")"
touch "$results"
failed=0
{
  awk -F '\t' -v tried=" ${tried[*]} " '!index(tried, " " $2 " ")' "$results"
  for row in "${order[@]}"; do
    printf '%s\t%d\t%d\t%s\n' "$row" "${right[$row]}" "${all[$row]}" "${wrong[$row]:-}"
  done
} >"$work/results"
for row in "${order[@]}"; do
  IFS=$'\t' read -r _ compiler _ _ _ device _ <<<"$row"
  for program in ${wrong[$row]:-}; do
    grep -q "^$compiler $device $program " tests/matrix/known.txt || failed=$((failed + 1))
  done
done
cp "$work/results" "$results"
echo "matrix: ${#tried[@]} compilers, $failed wrong that are not known; counts are in $results"
[ "$failed" -eq 0 ]
