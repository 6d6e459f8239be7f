#!/bin/bash
# Installs each package that scripts/packages.sh has made into a fresh root or environment,
# and runs programs with what is there; then packs the same tree again and compares.
#
#   scripts/packages-test.sh [TREE]     TREE: as for packages.sh
set -euo pipefail
cd "$(dirname "$0")/.."
readonly tree=${1:-build/packages/tree} packages=$PWD/build/packages top=$PWD

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
# Programs find Gangway in the package, not in what this shell has.
unset LD_LIBRARY_PATH LD_PRELOAD PYTHONPATH
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1

fail() {
  echo "packages-test: $*" >&2
  exit 1
}

. scripts/packages-use.sh

version=$(cd "$packages" && ls gangway_*_amd64.deb)
version=${version#gangway_} version=${version%_amd64.deb}
(cd "$packages" && sha256sum --quiet --check SHA256SUMS)
cp "$packages/SHA256SUMS" "$root/sums"

# The tarball, in a folder with a space.
mkdir "$root/a folder"
tar -C "$root/a folder" -xf "$packages/gangway-$version-x86_64-linux.tar.xz"
use tarball "$root/a folder/gangway-$version-x86_64-linux/bin/gangway"

# The Debian packages, in a root of their own, with what they depend on as it is on this machine.
admin=$root/deb/var/lib/dpkg
mkdir -p "$admin/info" "$admin/updates"
depends=$(dpkg-deb --field "$packages/gangway_${version}_amd64.deb" Depends)
# shellcheck disable=SC2046
dpkg-query --status $(sed 's/([^)]*)//g; s/,/ /g' <<<"$depends") >"$admin/status"
dpkg() { command dpkg --root="$root/deb" --force-not-root --force-script-chrootless --log=/dev/null "$@"; }
dpkg --install "$packages/gangway_${version}_amd64.deb" "$packages/gangway-dbgsym_${version}_amd64.deb" \
  >"$root/dpkg.log" 2>&1 || { cat "$root/dpkg.log"; fail "dpkg --install"; }
use deb "$root/deb/usr/bin/gangway"
command -v man >/dev/null && man -l "$root/deb/usr/share/man/man1/gangway.1.gz" >/dev/null
find "$root/deb/usr" -type f \( -path '*/bin/gangway' -o -name gangway-llvm -o -name '*.so*' \) | while read -r file; do
  readelf -S "$file" | grep -q '\.debug_info' && fail "$file is not stripped"
  id=$(readelf -n "$file" | sed -n 's/^ *Build ID: //p')
  [ -f "$root/deb/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ] || fail "$file has no symbols"
done
dpkg --purge gangway-dbgsym gangway >"$root/dpkg.log" 2>&1 || { cat "$root/dpkg.log"; fail "dpkg --purge"; }
[ -z "$(find "$root/deb" -path "$root/deb/var" -prune -o ! -type d -print)" ] || fail "the Debian package leaves files behind"

# The wheels, each in an environment of its own.
for name in gangway_vgpu gangway; do
  /usr/bin/python3 -m venv "$root/$name"
  "$root/$name/bin/pip" install --quiet "$packages/$name-$version"-*.whl
done
use wheel "$root/gangway/bin/gangway"
"$root/gangway/bin/pip" uninstall --quiet --yes gangway
[ -z "$(find "$root/gangway" -iname '*gangway*' ! -path "$root/gangway" -type f)" ] || fail "the wheel leaves files behind"

use_driver "$root/gangway_vgpu"

# The action for GitHub, with its environment.
echo "=== action"
RUNNER_TEMP=$root/runner GITHUB_ENV=$root/github-env GANGWAY_PACKAGE=$(echo "$packages"/gangway_vgpu-*.whl) \
  packaging/action.sh >/dev/null
# shellcheck disable=SC2046
[ "$(env $(cat "$root/github-env") /usr/bin/python3 "$root/square.py")" = squared ] || fail "the action"
# A line more in GITHUB_ENV would set another variable for all steps that follow.
for name in GANGWAY_VGPU_DEVICES GANGWAY_VGPU_CAPABILITY GANGWAY_VGPU_CHECK GANGWAY_PACKAGE LD_LIBRARY_PATH; do
  for end in $'\n' $'\r'; do
    : >"$root/github-env"
    if env RUNNER_TEMP="$root/runner" GITHUB_ENV="$root/github-env" GANGWAY_PACKAGE=none \
      "$name=1${end}LD_PRELOAD=/tmp/evil.so" packaging/action.sh >/dev/null 2>"$root/message"; then
      fail "the action takes a new line in $name"
    fi
    grep -q "$name has more than one line" "$root/message" || fail "the action: $(cat "$root/message")"
    [ ! -s "$root/github-env" ] || fail "the action has written $name"
  done
done

echo "=== the same bytes again"
scripts/packages.sh "$tree" >/dev/null
diff "$root/sums" "$packages/SHA256SUMS" || fail "packing the same tree made other bytes"
echo "packages-test: tarball, Debian packages, wheels and action work"
