#!/bin/bash
# Installs the staged tree into a temporary root and runs a program from there,
# away from the build folder.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
make --no-print-directory install DESTDIR="$root" PREFIX='/opt/gang way'
# A space in a path shows what is not quoted.
prefix="$root/opt/gang way"
(cd build/stage && find . \( -type f -o -type l \)) | while read -r file; do
  [ -e "$prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done

cat >"$root/one.c" <<'C'
#include <stdio.h>
int main(void) {
  int value = 41;
#pragma omp target map(tofrom : value)
  value += 1;
  printf("%d\n", value);
  return value != 42;
}
C
clang-22 -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu "$root/one.c" -o "$root/one"
"$prefix/bin/gangway" cc -O2 -fopenmp --offload-arch=sm_80 "$root/one.c" -o "$root/two"
cd "$root"
report=$(OMP_TARGET_OFFLOAD=MANDATORY "$prefix/bin/gangway" run --report -- ./one 2>&1)
printf '%s\n' "$report"
grep -q '^42$' <<<"$report"
# The stock library prints no report: seeing one shows that ours was loaded.
grep -qi 'kernel' <<<"$report"
# The loader says what it cannot preload, and goes on.
! grep 'LD_PRELOAD' <<<"$report" || exit 1
"$prefix/bin/gangway" info
[ "$(OMP_TARGET_OFFLOAD=MANDATORY "$prefix/bin/gangway" run --device vgpu -- ./two)" = 42 ]

# What the README shows first.
saxpy=$OLDPWD/examples/saxpy.c
"$prefix/bin/gangway" cc -O2 -g -fopenmp "$saxpy" -o saxpy
[ "$("$prefix/bin/gangway" run ./saxpy)" = 'saxpy of 1048576 elements on a device: 0 wrong' ]
"$prefix/bin/gangway" cc -O2 -g -fopenmp --offload-arch=sm_80 "$saxpy" -o saxpy
[ "$("$prefix/bin/gangway" run --device vgpu ./saxpy 1000)" = 'saxpy of 1000 elements on a device: 0 wrong' ]

# Build systems find it, with the stock compilers and with its own.
project=$OLDPWD/tests/build-systems
check() { # FOLDER RUN...
  local folder=$1 program
  shift
  for program in c_program cxx_program fortran_program; do
    echo "$folder: $program"
    OMP_TARGET_OFFLOAD=MANDATORY "$@" "$folder/$program"
  done
}
export CC=clang-22 CXX=clang++-22 FC=flang-22
cmake -S "$project" -B cpu "-DCMAKE_PREFIX_PATH=$prefix" >cmake.log || { cat cmake.log; exit 1; }
cmake --build cpu >cmake.log || { cat cmake.log; exit 1; }
check ./cpu env GANGWAY_DEVICE=cpu
FC="$prefix/bin/gangway-fc" cmake -S "$project" -B gpu "-DCMAKE_PREFIX_PATH=$prefix" \
  "-DGangway_OFFLOAD_ARCH=sm_80;x86_64" >cmake.log || { cat cmake.log; exit 1; }
cmake --build gpu >cmake.log || { cat cmake.log; exit 1; }
check ./gpu "$prefix/bin/gangway" run --device vgpu --
check ./gpu env GANGWAY_DEVICE=cpu
# What cannot work is said by name.
if cmake -S "$project" -B wrong "-DCMAKE_PREFIX_PATH=$prefix" -DGangway_OFFLOAD_ARCH=sm_80 2>cmake.log >/dev/null; then
  echo "CMake took flang-22 for GPUs"
  exit 1
fi
grep -q 'flang has no flags for what GPU code needs' cmake.log

# pkg-config has no way to quote: a name without a space leads there.
ln -s "$prefix" plain
export PKG_CONFIG_PATH=$root/plain/lib/pkgconfig
make -C "$project" OUT="$root" PACKAGE=gangway
OMP_TARGET_OFFLOAD=MANDATORY ./program
make -C "$project" -B OUT="$root" PACKAGE=gangway-gpu
OMP_TARGET_OFFLOAD=MANDATORY "$prefix/bin/gangway" run --device vgpu -- ./program
OMP_TARGET_OFFLOAD=MANDATORY GANGWAY_DEVICE=cpu ./program
rm "$root/plain"
make --no-print-directory -C "$OLDPWD" uninstall DESTDIR="$root" PREFIX='/opt/gang way'
[ ! -e "$prefix" ] || { echo "left behind:"; find "$prefix"; exit 1; }

# What was there before stays: files of others, and folders, also empty ones.
mkdir -p "$prefix/bin" "$prefix/share/man" "$prefix/lib"
echo other >"$prefix/lib/other"
before=$(find "$prefix" | sort)
for _ in 1 2; do
  make --no-print-directory -C "$OLDPWD" install DESTDIR="$root" PREFIX='/opt/gang way'
done
make --no-print-directory -C "$OLDPWD" uninstall DESTDIR="$root" PREFIX='/opt/gang way'
after=$(find "$prefix" | sort)
[ "$before" = "$after" ] || { diff <(echo "$before") <(echo "$after"); exit 1; }
