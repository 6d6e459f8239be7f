#!/bin/bash
# Makes a page of what scripts/matrix.sh counted: docs/matrix.md of tests/matrix/results.
#
#   scripts/matrix-page.sh [RESULTS...] >PAGE
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- tests/matrix/results/*.tsv
cat <<'END'
# Releases and compilers

`make matrix` writes this page. In a root of each release of Debian, each compiler for offloading that the release has
compiles programs, and they run with Gangway's libraries as Debian 12 built them, on each kind of device that the
compiler makes code for. A cell is how many were right of how many there are. Every program compares with the host, and
`OMP_TARGET_OFFLOAD=MANDATORY` lets none pass by running there. GCC makes no code for CPU devices. Code of clang 19 and 21
for GPUs has LLVM's own device runtime, of clang 22 and 23 Gangway's.

`-` is what cannot be: flang 19 does not link for CPU devices, flang 23 leaves no bitcode for GPUs, and LLVM has no device
runtime for Fortran ([what each release can do](clang-releases.md)). Debian 12 has no other clang for offloading than 22.
END
# Releases by age, compilers by name and number.
sed 's/^bookworm\t/12&/; s/^trixie\t/13&/; s/^sid\t/99&/' "$@" | sort -t $'\t' -k7,7r -k1,1V -k2,2V -k4,4r -k6,6 | sed 's/^[0-9][0-9]//' | awk -F '\t' '
  BEGIN {
    while ((getline line <"tests/matrix/known.txt") > 0) {
      if (line ~ /^#/ || split(line, words, " ") < 4) continue
      reason = substr(line, length(words[1] words[2] words[3]) + 4)
      known[words[1], words[2], words[3]] = reason
    }
  }
  function cell(language) { return (row, language) in total ? right[row, language] "/" total[row, language] : "-" }
  function flush() {
    if (row != "") printf "| %s | %s | %s | %s |\n", row, cell("C"), cell("C++"), cell("Fortran")
  }
  {
    release = $1 == "bookworm" ? "Debian 12" : $1 == "trixie" ? "Debian 13" : $1
    device = $6 == "cpu" ? "CPU devices" : $6 == "vgpu" ? "virtual GPU" : $6
    key = release " | " $2 " (" $3 ") | " $4 " | " device
    if ($7 != suite) {
      flush(); row = ""; delete total; delete right
      suite = $7
      title = suite == "programs" ? "Small programs (`tests/matrix`)" : suite == "examples" ? "Examples (`examples`)" : suite == "conformance" ? "The conformance suite (`tests/conformance`)" : suite
      printf "\n## %s\n\n| Release | Compiler | Model | Device | C | C++ | Fortran |\n|---|---|---|---|---|---|---|\n", title
    }
    if (key != row) { flush(); row = key }
    right[row, $5] = $8; total[row, $5] = $9
    count = split($10, names, " ")
    for (name = 1; name <= count; name++) {
      reason = ($2, $6, names[name]) in known ? known[$2, $6, names[name]] : "not known"
      wrong = wrong sprintf("- %s, %s (%s), %s, %s, `%s`: %s\n", release, $2, $3, $4, device, names[name], reason)
    }
  }
  END {
    flush()
    if (wrong != "") printf "\n## Wrong\n\n%s", wrong
  }'
