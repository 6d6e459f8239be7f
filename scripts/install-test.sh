#!/bin/bash
# Installs the staged tree into a temporary root and runs a program from there,
# away from the build folder.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
make --no-print-directory install DESTDIR="$root" PREFIX=/opt/gangway
prefix=$root/opt/gangway
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
cd "$root"
report=$(OMP_TARGET_OFFLOAD=MANDATORY "$prefix/bin/gangway" run --report -- ./one 2>&1)
printf '%s\n' "$report"
grep -q '^42$' <<<"$report"
# The stock library prints no report: seeing one shows that ours was loaded.
grep -qi 'kernel' <<<"$report"
"$prefix/bin/gangway" info

make --no-print-directory -C "$OLDPWD" uninstall DESTDIR="$root" PREFIX=/opt/gangway
[ ! -e "$prefix" ] || { echo "left behind:"; find "$prefix"; exit 1; }

# What was there before stays: files of others, and folders, also empty ones.
mkdir -p "$prefix/bin" "$prefix/share/man" "$prefix/lib"
echo other >"$prefix/lib/other"
before=$(find "$prefix" | sort)
for _ in 1 2; do
  make --no-print-directory -C "$OLDPWD" install DESTDIR="$root" PREFIX=/opt/gangway
done
make --no-print-directory -C "$OLDPWD" uninstall DESTDIR="$root" PREFIX=/opt/gangway
after=$(find "$prefix" | sort)
[ "$before" = "$after" ] || { diff <(echo "$before") <(echo "$after"); exit 1; }
