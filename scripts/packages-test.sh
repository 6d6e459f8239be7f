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

# documents FOLDER: the README's first commands have their files there, and no link of a page is dead.
documents() {
  local page link count=0
  [ -f "$1/examples/saxpy.c" ] && [ -f "$1/docs/cli.md" ] || fail "$1 lacks examples or docs"
  while read -r page; do
    while read -r link; do
      [ -f "$(dirname "$page")/$link" ] || fail "$page links to $link, which is not there"
      count=$((count + 1))
    done < <(sed '/^ *```/,/^ *```/d; s/`[^`]*`//g' "$page" | { grep -oE '\]\([^) ]+' || true; } |
      sed 's/^](//; s/#.*//; /^$/d; /:/d')
  done < <(find "$1" -name '*.md')
  [ "$count" -ge 40 ] || fail "$1: only $count links were found"
  echo "=== $1: $count links hold"
}

# use NAME GANGWAY: compiles and runs the first program of the README, for both kinds of devices.
use() {
  local folder=$root/use-$1 gangway=$2 text share
  mkdir -p "$folder"
  echo "=== $1: $gangway"
  share=$(dirname "$gangway")/../share/doc/gangway
  documents "$share"
  (
    # The README's first lines, as they stand there.
    cp -R "$share/examples" "$folder"
    cd "$folder"
    PATH=$(dirname "$gangway"):$PATH bash -euo pipefail -c \
      "$(sed -n '/^## Run your program/,/^```$/p' "$share/README.md" | grep '^gangway ')" >/dev/null
  )
  (
    cd "$folder"
    "$gangway" cc -O2 -g -fopenmp --offload-arch=sm_80,x86_64 examples/saxpy.c -o saxpy
    for device in cpu vgpu; do
      text=$(OMP_TARGET_OFFLOAD=MANDATORY "$gangway" run --device "$device" --report ./saxpy 1000 2>&1)
      grep -q '^saxpy of 1000 elements on a device: 0 wrong$' <<<"$text" || fail "$1: $device: $text"
      # The stock library prints no report.
      grep -q '^kernels$' <<<"$text" || fail "$1: $device: no report"
    done
    "$gangway" info >info
    for device in cpu cuda; do grep -qw "$device" info || fail "$1: info knows no $device"; done
    if [ -x "$gangway-fc" ]; then
      printf 'program p\ninteger :: i\ni = 41\n!$omp target map(tofrom: i)\ni = i + 1\n!$omp end target\nprint *, i\nend\n' >p.f90
      "$gangway-fc" -O2 -fopenmp p.f90 -o p
      [ "$(OMP_TARGET_OFFLOAD=MANDATORY "$gangway" run --device cpu ./p | tr -d ' ')" = 42 ] || fail "$1: Fortran"
    fi
  )
}

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
find "$root/deb/usr" -type f \( -path '*/bin/gangway' -o -name '*.so*' \) | while read -r file; do
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

echo "=== gangway_vgpu"
python=$root/gangway_vgpu/bin/python
cat >"$root/square.py" <<'PY'
"""Squares numbers with a kernel, through the driver that the loader finds."""
import ctypes, sys
if sys.argv[1:] == ["load"]:
    import gangway_vgpu
    gangway_vgpu.load()
    gangway_vgpu.load()
cuda = ctypes.CDLL("libcuda.so.1")
ptx = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry square(.param .u64 data) {
  .reg .u64 %rd<3>; .reg .u32 %r<3>;
  ld.param.u64 %rd0, [data];
  cvta.to.global.u64 %rd0, %rd0;
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd0, %rd0, %rd1;
  ld.global.u32 %r1, [%rd0];
  mul.lo.u32 %r1, %r1, %r1;
  st.global.u32 [%rd0], %r1;
  ret;
}
"""
def call(name, *arguments):
    status = getattr(cuda, name)(*arguments)
    assert status == 0, (name, status)
call("cuInit", 0)
context, module, function, data = (ctypes.c_void_p() for _ in range(4))
call("cuCtxCreate_v2", ctypes.byref(context), 0, 0)
call("cuModuleLoadData", ctypes.byref(module), ptx)
call("cuModuleGetFunction", ctypes.byref(function), module, b"square")
numbers = (ctypes.c_uint32 * 32)(*range(32))
call("cuMemAlloc_v2", ctypes.byref(data), ctypes.c_size_t(128))
call("cuMemcpyHtoD_v2", data, numbers, ctypes.c_size_t(128))
arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(data), ctypes.c_void_p))
call("cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, None, arguments, None)
call("cuMemcpyDtoH_v2", numbers, data, ctypes.c_size_t(128))
assert list(numbers) == [i * i for i in range(32)]
print("squared")
PY
[ "$("$python" -m gangway_vgpu "$root/square.py")" = squared ] || fail "python -m gangway_vgpu SCRIPT"
[ "$(cd "$root" && "$python" -m gangway_vgpu -m square)" = squared ] || fail "python -m gangway_vgpu -m"
[ "$("$python" "$root/square.py" load)" = squared ] || fail "gangway_vgpu.load()"
[ "$("$python" -m gangway_vgpu sh -c 'echo "$LD_LIBRARY_PATH"')" = "$("$python" -m gangway_vgpu --folder)" ] || fail "environment"
status=0
"$python" -m gangway_vgpu no-such-program 2>"$root/message" || status=$?
[ "$status" = 127 ] && grep -q 'no program no-such-program' "$root/message" || fail "a missing program: status $status"
status=0
"$python" -m gangway_vgpu --no-such-option 2>"$root/message" || status=$?
[ "$status" = 2 ] || fail "an unknown option: status $status"

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
