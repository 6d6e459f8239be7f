#!/bin/bash
# Runs a command as if GCC's compiler for AMD's GPUs were installed, with its plugin for libgomp. Debian's packages are
# fetched into a folder that vanishes, and lie over /usr for the command alone; nothing is installed. Where
# they are installed GCC makes code for AMD's GPUs of every program that offloads. Needs root.
#
# The status is the command's, or 77: the packages cannot be had here, or nothing can lie over /usr.
#
#   scripts/amdgcn.sh cargo test -p gangway-hsa-driver --test programs -- offload
set -euo pipefail
unshare -m true || exit 77
packages=(gcc-12-offload-amdgcn libgomp-plugin-amdgcn1 amdgcn-tools llvm-13 llvm-13-linker-tools lld-13 libllvm13)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && apt-get download -q "${packages[@]}" && for package in *.deb; do dpkg-deb -x "$package" root; done) || exit 77
export GANGWAY_TEST_GCC=12
unshare -m bash -c 'mount -t overlay overlay -o "lowerdir=$0/root/usr:/usr" /usr || exit 77; exec "$@"' "$folder" "$@"
