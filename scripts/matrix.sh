#!/bin/bash
# Runs small programs and examples with each compiler for offloading that is installed, on each kind of
# device that it makes code for, and writes how many were right.
#
#   scripts/matrix.sh RESULTS [--examples] [COMPILER...]     COMPILER: such as clang-22 or gcc-14, else all
#
# A line of RESULTS, with tabs: release of Debian, compiler, its full version, model, language, device,
# suite, how many were right, how many there are, and the names of those that were wrong. Each program
# compares with the host, and ends with a status other than 0 if anything differs. --examples: also what
# `make demo` runs, which takes minutes for each compiler. `scripts/matrix-page.sh` makes a page of it.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly results=${1:?a file for the results}
shift
suites=(programs) wanted=()
for argument in "$@"; do
  case $argument in
    --examples) suites+=(examples) ;;
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

# command FAMILY RELEASE LANGUAGE: the compiler's command, in the array `command`; fails where it is not installed.
command_of() {
  local name
  case $1/$3 in
    clang/C) name=cc ;;
    clang/C++) name=c++ ;;
    clang/Fortran) name=fc ;;
    gcc/C) name=gcc ;;
    gcc/C++) name=g++ ;;
    gcc/Fortran) name=gfortran ;;
  esac
  if [ "$1" = gcc ]; then
    command=("$name-$2")
    command -v "$name-$2" >/dev/null
  else
    command=("$gangway" "$name")
    case $3 in
      Fortran) command -v "flang-$2" >/dev/null ;;
      *) command -v "clang-$2" >/dev/null ;;
    esac
  fi
}

# compile FAMILY MODEL LANGUAGE SOURCE OUTPUT OPTION...: with `command`.
compile() {
  local family=$1 model=$2 language=$3 source=$PWD/$4 output=$5
  shift 5
  local flags=(-O2 "-f${model,,}")
  case $family/$language in
    clang/*) flags+=(--offload-arch=sm_80,x86_64) ;;
    gcc/Fortran) flags+=(-foffload=nvptx-none -foffload-options=-lgfortran) ;;
    gcc/*) flags+=(-foffload=nvptx-none) ;;
  esac
  (cd "$work" && "${command[@]}" "${flags[@]}" "$source" -o "$output" "$@")
}

# add COMPILER VERSION MODEL LANGUAGE DEVICE SUITE PROGRAM RIGHT: counts one program.
declare -A right=() all=() wrong=()
order=()
add() {
  local row=$release$'\t'$1$'\t'$2$'\t'$3$'\t'$4$'\t'$5$'\t'$6
  [ -n "${all[$row]:-}" ] || order+=("$row")
  all[$row]=$((${all[$row]:-0} + 1))
  right[$row]=$((${right[$row]:-0} + $8))
  [ "$8" = 1 ] || wrong[$row]+="${wrong[$row]:+ }$7"
}

try() { # FAMILY RELEASE VERSION SUITE MODEL LANGUAGE SOURCE OPTION...
  local family=$1 compiler=$1-$2 version=$3 suite=$4 model=$5 language=$6 source=$7 device devices=(vgpu) program
  shift 7
  program=$(basename "$source")
  [ "$family" = gcc ] || devices=(cpu vgpu)
  if ! compile "$family" "$model" "$language" "$source" "$work/program" "$@" >"$work/log" 2>&1; then
    echo "matrix: $compiler: $source does not compile"
    tail -n 5 "$work/log"
    for device in "${devices[@]}"; do add "$compiler" "$version" "$model" "$language" "$device" "$suite" "$program" 0; done
    return
  fi
  for device in "${devices[@]}"; do
    if (cd "$work" && OMP_TARGET_OFFLOAD=MANDATORY ACC_DEVICE_TYPE=nvidia GANGWAY_VGPU_ENGINE=compiler-only \
      timeout 600 "$gangway" run --device "$device" -- ./program >log 2>&1 </dev/null); then
      add "$compiler" "$version" "$model" "$language" "$device" "$suite" "$program" 1
    else
      echo "matrix: $compiler: $source is wrong on $device"
      tail -n 5 "$work/log"
      add "$compiler" "$version" "$model" "$language" "$device" "$suite" "$program" 0
    fi
  done
}

compilers=0
for family in clang gcc; do
  for number in $(seq 11 30); do
    [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" $family-$number "* ]] || continue
    command -v "$family-$number" >/dev/null || continue
    # GCC without its compiler for GPUs, and other releases of clang than `gangway cc` calls.
    case $family in
      gcc) [[ $(gcc-"$number" -v 2>&1) == *nvptx-none* ]] || continue ;;
      clang) [ "$number" = 22 ] || continue ;;
    esac
    version=$("$family-$number" --version | sed -n '1s/.*[ )]\([0-9][0-9.]*[0-9]\).*/\1/p')
    echo "matrix: $release, $family-$number $version"
    compilers=$((compilers + 1))
    while read -r suite families model language source options; do
      [[ " ${suites[*]} " == *" $suite "* && ,$families, == *",$family,"* ]] || continue
      command_of "$family" "$number" "$language" || continue
      # shellcheck disable=SC2086
      try "$family" "$number" "$version" "$suite" "$model" "$language" "$source" $options
    done < <(table)
  done
done
[ "$compilers" -gt 0 ] || { echo "matrix: none of these compilers is here: ${wanted[*]:-clang, gcc}" >&2; exit 1; }

mkdir -p "$(dirname "$results")"
failed=0
for row in "${order[@]}"; do
  printf '%s\t%d\t%d\t%s\n' "$row" "${right[$row]}" "${all[$row]}" "${wrong[$row]:-}"
  failed=$((failed + all[$row] - right[$row]))
done >"$results"
echo "matrix: $compilers compilers, $failed wrong; counts are in $results"
[ "$failed" -eq 0 ]
