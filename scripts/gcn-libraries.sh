#!/bin/bash
# Compares the decoder of AMD's machine code with LLVM's over GCC's device libraries, about 1.6
# million instructions. Debian's package is fetched into a folder that vanishes; nothing is installed.
#
#   scripts/gcn-libraries.sh [PACKAGE]     gcc-12-offload-amdgcn, if none is named
set -euo pipefail
cd "$(dirname "$0")/.."
package=${1:-gcc-12-offload-amdgcn}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && apt-get download -q "$package" && dpkg-deb -x "$package"_*.deb root)
libraries=$(find "$folder/root/usr/lib/gcc" -type d -name amdgcn-amdhsa)
GANGWAY_GCN_LIBRARIES=$libraries cargo test --locked -p gangway-gcn --test llvm -- libraries
