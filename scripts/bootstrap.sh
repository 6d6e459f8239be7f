#!/bin/bash
# Installs what building and running the demo need on Debian 12, 13 and sid.
#
#   scripts/bootstrap.sh [demo] [test] [bench] [packages] [docs] [matrix]     also what these need
#   scripts/bootstrap.sh clang-N   only clang and flang of another release: its libomp takes the place
#                                  of clang-22's, as Debian has one of them at a time
#   scripts/bootstrap.sh compilers only the compilers for offloading that the release has besides clang-22,
#                                  for C
#   scripts/bootstrap.sh fresh     only what makes a fresh root: scripts/fresh.sh
#
# `make` calls it before anything else. It only adds what is missing, and does
# nothing when nothing is. Without root it prints the one line that an
# administrator has to run, and stops with status 1. It never touches a Rust
# toolchain that is already there.
set -euo pipefail

readonly NEEDED_RUST=1.95

# The first line says what is wrong, the rest what to do.
fail() {
  printf 'bootstrap: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '%s\n' "$@" >&2
  exit 1
}

# What goes by another name in each release. Its GCC is what the package gcc leads to: other
# packages without a number lead to the same, but none to its sources. Debian 12 and 13 have a current
# Rust beside an old one; later releases have it in its place. Its LLVM is clang-22's.
release_gcc() {
  { dpkg-query -W -f '${Depends}' gcc; apt-cache depends gcc; } 2>/dev/null |
    sed -n 's/.*\<\(gcc-[0-9]\{1,\}\)\>.*/\1/p' | head -n 1
}
# A system whose apt has no lists yet does not know.
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null && [ -z "$(release_gcc)" ]; then
  apt-get update -q
fi
release() { (. /etc/os-release 2>/dev/null && echo "${VERSION_ID:-}") }
case $(release) in
  12 | 13)
    readonly RUST_PACKAGES=(cargo-web rustc-web rustfmt-web rust-web-clippy)
    readonly RUST_FOR_DEVICES=(rustc-web cargo-web rust-web-src)
    ;;
  *)
    readonly RUST_PACKAGES=(cargo rustc rustfmt rust-clippy)
    readonly RUST_FOR_DEVICES=(rustc cargo rust-src)
    ;;
esac

packages=(
  # The stock compilers and runtime that Gangway works with.
  clang-22 clang-tools-22 lld-22 llvm-22 flang-22
  libomp-22-dev liboffload-22 liboffload-22-dev libclang1-22
  # Linking Rust and C++ programs.
  g++ gcc make binutils libc6-dev
  # The release's GCC with its offload compiler, for the demo's examples.
  gcc-offload-nvptx
  # Fetching crates.
  ca-certificates
  # The Rust whose LLVM is clang-22's, with its library's sources: it compiles the GPU device runtime.
  "${RUST_FOR_DEVICES[@]}"
)
# Examples in Fortran for GCC, and a program of MPI.
readonly FOR_DEMO=(gfortran mpich libmpich-dev)
# Programs in Fortran for GCC that are measured.
readonly FOR_BENCH=(gfortran)
readonly FOR_PACKAGES=(
  # Debian packages, tarballs and Python wheels.
  dpkg-dev xz-utils python3 python3-wheel python3-venv
)
readonly FOR_TESTS=(
  # libgomp's own tests: their sources, and what unpacks them.
  "$(release_gcc)-source" patch xz-utils
  # Clients of the virtual GPU: numba-cuda, what the others need of NVIDIA's packages, and what Triton
  # compiles for itself.
  python3 python3-venv python3-dev
  # Build systems that find Gangway, for the test of its installation.
  cmake pkgconf
  # The browser that reports are opened with.
  chromium
)
# Every GCC for offloading that the release has, and its tests: apt knows.
matrix_gcc() {
  local number
  for number in 12 13 14 15 16; do
    [ -z "$(apt-cache --names-only search "^gcc-$number-offload-nvptx\$" 2>/dev/null)" ] ||
      echo "gcc-$number-offload-nvptx g++-$number gfortran-$number gcc-$number-source"
  done
}
# other_clang N: clang and flang of release N, as far as apt has them. LLVM's own device runtime is
# in a package that not every release can have beside its libomp.
other_clang() {
  local name
  apt-cache show "clang-$1" >/dev/null 2>&1 || fail "this release of Debian has no clang-$1"
  for name in clang clang-tools lld llvm flang; do
    ! apt-cache show "$name-$1" >/dev/null 2>&1 || echo "$name-$1"
  done
  echo "libomp-$1-dev"
  ! apt-get install --simulate -q "libomp-$1-dev" "liboffload-$1-dev" >/dev/null 2>&1 || echo "liboffload-$1-dev"
}
# Those that Debian 12 does not have, as far as they can be there at the same time.
newer_compilers() {
  local number
  for number in 13 14 15 16; do
    ! apt-cache show "gcc-$number-offload-nvptx" >/dev/null 2>&1 || echo "gcc-$number-offload-nvptx"
  done
  for number in 23 21 19; do
    if apt-cache show "clang-$number" >/dev/null 2>&1; then
      printf '%s\n' libc6-dev "clang-$number" "clang-tools-$number" "lld-$number" "llvm-$number" "libomp-$number-dev"
      break
    fi
  done
}
# A root where nothing else is installed.
readonly FOR_FRESH=(mmdebstrap)
# The site of the documentation.
readonly FOR_DOCS=(mkdocs)
needs_rust=yes
for group in "$@"; do
  case $group in
    demo) packages+=("${FOR_DEMO[@]}") ;;
    test) packages+=("${FOR_TESTS[@]}" "${FOR_DEMO[@]}" "${FOR_PACKAGES[@]}" "${FOR_DOCS[@]}" "${FOR_FRESH[@]}") ;;
    bench) packages+=("${FOR_BENCH[@]}") ;;
    clang-[0-9]*)
      found=$(other_clang "${group#clang-}")
      mapfile -t packages <<<"$found"
      needs_rust=
      ;;
    matrix)
      packages+=(patch xz-utils)
      for package in $(matrix_gcc); do packages+=("$package"); done
      ;;
    docs) packages+=("${FOR_DOCS[@]}") ;;
    fresh) packages=("${FOR_FRESH[@]}") needs_rust= ;;
    compilers) mapfile -t packages < <(newer_compilers) && needs_rust= ;;
    packages) packages+=("${FOR_PACKAGES[@]}") ;;
    *) echo "usage: $0 [demo] [test] [bench] [packages] [docs] [matrix] [fresh] [compilers] [clang-N]" >&2; exit 2 ;;
  esac
done
export PATH="$PATH:$HOME/.cargo/bin"

installed() {
  dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q ' installed$'
}

# The version of the cargo in the search path, or nothing.
rust_version() {
  cargo --version 2>/dev/null | cut -d ' ' -f 2
}

rust_suffices() {
  local version
  version=$(rust_version) || return 1
  [ -n "$version" ] && printf '%s\n%s\n' "$NEEDED_RUST" "$version" | sort -V -C &&
    rustc --version >/dev/null 2>&1
}

missing=()
if command -v dpkg-query >/dev/null; then
  [[ " ${packages[*]} " != *" -source "* ]] || fail "apt does not know which GCC this release has" \
    "run this first: sudo apt-get update"
  for package in "${packages[@]}"; do
    installed "$package" || missing+=("$package")
  done
else
  # Not Debian: what counts is that the tools are there.
  for tool in clang-22 clang++-22 clang-linker-wrapper-22 flang-22 gcc g++ make objcopy; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  [ ${#missing[@]} -eq 0 ] || fail "not found: ${missing[*]}" \
    "this script installs packages on Debian only; install the LLVM 22 tools yourself"
fi
if [ -n "$needs_rust" ] && ! rust_suffices; then
  found=$(rust_version) || true
  if [ -n "$found" ] && ! installed cargo; then
    fail "$(command -v cargo) is version $found; $NEEDED_RUST or newer is needed" \
      "update it (with rustup: rustup update stable), or take it out of PATH"
  fi
  missing+=("${RUST_PACKAGES[@]}")
fi
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  fail "these packages are missing; install them and run the same command again:" \
    "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
fi

echo "bootstrap: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
# A mirror that is busy for a moment is no failure.
apt-get update -q -o Acquire::Retries=3
if [ -z "$(apt-cache policy clang-22 | sed -n 's/^ *Candidate: *\([0-9].*\)/\1/p')" ]; then
  fail "apt offers no clang-22: it comes from Debian's security suite" \
    "add the security suite (bookworm-security, trixie-security), component main, to apt's sources"
fi
apt-get install -y -q -o Acquire::Retries=3 --no-install-recommends "${missing[@]}"
hash -r
[ -z "$needs_rust" ] || rust_suffices || fail "cargo $NEEDED_RUST or newer is still not there (found: $(rust_version || echo none))"
