#!/bin/bash
# Installs packages that were made on another release of Debian as the README says, and runs programs
# with them. It changes the machine: it is for a root that is thrown away (`scripts/fresh.sh elsewhere`).
#
#   scripts/packages-elsewhere.sh [FOLDER]     FOLDER: with the packages (default build/packages)
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$(realpath "${1:-build/packages}")
readonly packages

fail() {
  echo "packages-elsewhere: $*" >&2
  exit 1
}
[ -n "${GANGWAY_FRESH:-}" ] || fail "this is no root that is thrown away"

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
export DEBIAN_FRONTEND=noninteractive PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1
. scripts/packages-use.sh
(cd "$packages" && sha256sum --quiet --check SHA256SUMS)
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)

# With what it recommends: the README promises the compilers with it. Fortran's is among what it suggests.
apt-get install -y -q "$packages/gangway_${version}_amd64.deb" >"$root/log" 2>&1 || { tail "$root/log"; fail "apt-get install"; }
apt-get install -y -q --no-install-recommends flang-22 >"$root/log" 2>&1 || { tail "$root/log"; fail "apt-get install"; }
use deb /usr/bin/gangway

# GCC's programs, by the README's lines for them.
apt-get install -y -q --no-install-recommends gcc gcc-offload-nvptx >"$root/log" 2>&1 || { tail "$root/log"; fail "GCC"; }
echo "=== deb: $(gcc --version | head -n 1)"
cp -R /usr/share/doc/gangway/examples "$root"
lines=$(sed -n '/^gcc .*-foffload/,/^```$/p' README.md | sed '/^```/d')
[ "$(grep -c '^gangway run' <<<"$lines")" -ge 3 ] || fail "the README's lines for GCC were not found"
(cd "$root" && OMP_TARGET_OFFLOAD=MANDATORY bash -euo pipefail -c "$lines" >log 2>&1) || { tail "$root/log"; fail "GCC's programs"; }
apt-get purge -y -q gangway >"$root/log" 2>&1 || { tail "$root/log"; fail "apt-get purge"; }
[ ! -e /usr/lib/gangway ] && [ ! -e /usr/bin/gangway ] || fail "the Debian package leaves files behind"

# A root with nothing in it has no xz, which tar calls.
apt-get install -y -q --no-install-recommends xz-utils python3-venv >"$root/log" 2>&1 || { tail "$root/log"; fail "apt-get install"; }
tar -C "$root" -xf "$packages/gangway-$version-x86_64-linux.tar.xz"
use tarball "$root/gangway-$version-x86_64-linux/bin/gangway"

for name in gangway_vgpu gangway; do
  python3 -m venv "$root/$name"
  "$root/$name/bin/pip" install --quiet "$packages/$name-$version"-*.whl
done
use wheel "$root/gangway/bin/gangway"
use_driver "$root/gangway_vgpu"
echo "packages-elsewhere: Debian package, tarball and wheels work here"
