#!/bin/bash
# Packs the staged tree: a Debian package and one with its debug symbols, a tarball that
# runs from any folder, and two Python wheels. The same tree makes the same bytes.
#
#   scripts/packages.sh [TREE]     TREE: build/packages/tree (default), or build/stage
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C TZ=UTC0
umask 022

readonly tree=${1:-build/packages/tree} out=build/packages
readonly work=$out/work
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
# The time of every file: that of the last commit, or of the change log where there is no history.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH

[ -x "$tree/bin/gangway" ] || { echo "packages: $tree is not staged; \`make packages\` does it" >&2; exit 1; }
rm -rf "$work"
mkdir -p "$out"
rm -f "$out"/*.deb "$out"/*.tar.xz "$out"/*.whl

# The programs and libraries of a tree.
machine_code() { find "$1" -type f \( -path '*/bin/gangway' -o -name gangway-llvm -o -name '*.so*' \) | sort; }

same_times() { find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; }

# Machine code without its debug information, which goes into files that debuggers find by the
# build's number: lib/debug/.build-id/xx/yyy.debug.
strip_tree() { # TREE SYMBOLS
  local file id place
  while read -r file; do
    id=$(readelf -n "$file" | sed -n 's/^ *Build ID: //p')
    [ -n "$id" ] || { echo "packages: $file has no build number" >&2; return 1; }
    place=$2/.build-id/${id:0:2}
    mkdir -p "$place"
    objcopy --only-keep-debug --compress-debug-sections "$file" "$place/${id:2}.debug"
    chmod 644 "$place/${id:2}.debug"
    strip --strip-unneeded "$file"
  done < <(machine_code "$1")
  find "$1" -name '*.a' -not -path '*/nvptx64-nvidia-cuda/*' -exec objcopy --enable-deterministic-archives --strip-debug {} \;
}

plain=$work/plain symbols=$work/symbols
mkdir -p "$plain"
cp -RP --no-preserve=ownership,timestamps "$tree/." "$plain"
strip_tree "$plain" "$symbols"
chmod -R u=rwX,go=rX "$work"
# The newest interface of the C library that anything here asks for.
glibc=$(machine_code "$plain" | xargs -d '\n' objdump -T | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -1 | cut -d. -f2)

# --- the tarball
name=gangway-$version-x86_64-linux
mkdir -p "$work/$name"
cp -RP "$plain/." "$work/$name"
tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - "$name" |
  xz -6 -T1 >"$out/$name.tar.xz"

# --- the Debian package
root=$work/deb
mkdir -p "$root/usr" "$root/DEBIAN"
cp -RP "$plain/." "$root/usr"
mkdir -p "$root/usr/share/zsh"
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
gzip -9n "$root"/usr/share/man/man1/*.1
doc=$root/usr/share/doc/gangway
{
  cat packaging/debian/copyright
  sed 's/^$/./; s/^/ /' LICENSE-MIT
} >"$doc/copyright"
gzip -9nc CHANGELOG.md >"$doc/changelog.gz"
depends=$(
  mkdir -p "$work/shlibs/debian"
  echo 'Source: gangway' >"$work/shlibs/debian/control"
  cd "$work/shlibs"
  machine_code ../deb/usr | xargs -d '\n' dpkg-shlibdeps -O --ignore-missing-info | sed -n 's/^shlibs:Depends=//p'
)
control() { # TEMPLATE ROOT
  sed "s/@VERSION@/$version/; s/@DEPENDS@/$depends/; s/@SIZE@/$(du -sk --apparent-size "$2/usr" | cut -f1)/" "$1" \
    >"$2/DEBIAN/control"
  (cd "$2" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  same_times "$2"
}
control packaging/debian/control.in "$root"
dpkg-deb --root-owner-group -Zxz --build "$root" "$out/gangway_${version}_amd64.deb" >/dev/null

root=$work/deb-symbols
mkdir -p "$root/usr/lib/debug" "$root/usr/share/doc/gangway-dbgsym" "$root/DEBIAN"
cp -RP "$symbols/.build-id" "$root/usr/lib/debug"
cp "$doc/copyright" "$root/usr/share/doc/gangway-dbgsym"
control packaging/debian/control-dbgsym.in "$root"
# What is in it is compressed already.
dpkg-deb --root-owner-group -Znone --build "$root" "$out/gangway-dbgsym_${version}_amd64.deb" >/dev/null

# --- the Python packages
# NAME README SUMMARY: the metadata of the wheel whose content is in $work/NAME.
wheel() {
  local name=$1 module=${1//-/_} content=$work/$1
  local info=$content/$module-$version.dist-info
  mkdir -p "$info/licenses"
  cp LICENSE-APACHE LICENSE-MIT "$info/licenses"
  {
    printf 'Metadata-Version: 2.4\nName: %s\nVersion: %s\nSummary: %s\n' "$name" "$version" "$3"
    printf 'License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\n'
    printf 'Requires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n'
    cat "$2"
  } >"$info/METADATA"
  printf 'Wheel-Version: 1.0\nGenerator: gangway\nRoot-Is-Purelib: false\nTag: py3-none-manylinux_2_%s_x86_64\n' \
    "$glibc" >"$info/WHEEL"
  same_times "$content"
  /usr/bin/python3 -m wheel pack --dest-dir "$out" "$content" >/dev/null
}

vgpu=$work/gangway-vgpu/gangway_vgpu
mkdir -p "$vgpu/driver"
cp packaging/python/gangway_vgpu/*.py "$vgpu"
cp "$plain/lib/gangway/vgpu/libcuda.so.1" "$plain/lib/gangway/gangway-llvm" "$vgpu/driver"
wheel gangway-vgpu packaging/python/README-vgpu.md 'A virtual GPU: runs CUDA programs on the CPU'

# other_name LIBRARY FILE NAME: FILE becomes a library called NAME without anything in it, which has the loader take
# LIBRARY beside it. A copy would be a second runtime in the process.
other_name() {
  printf 'VERS1.0 { global: gangway_other_name; };\n' >"$work/other_name.map"
  printf 'const char gangway_other_name = 0;\n' |
    cc -shared -nostdlib -s -x c - -x none -o "$2" -Wl,-soname,"$3" -Wl,--version-script="$work/other_name.map" \
      -Wl,--no-as-needed "$1" -Wl,-rpath,\$ORIGIN,--disable-new-dtags -Wl,--build-id=none
}

# A wheel has no links. The linker takes a script in the place of one; a second name of the
# command is a script, too, and one of a library a library that leads to it.
data=$work/gangway/gangway-$version.data/data
mkdir -p "$data"
cp -RP "$plain/." "$data"
find "$data" -type l | sort | while read -r link; do
  to=$(readlink "$link")
  rm "$link.new" 2>/dev/null || true
  case $link in
    */bin/gangway-*) printf '#!/bin/sh\nexec "${0%%/*}/%s" %s "$@"\n' "$to" "${link##*/gangway-}" >"$link.new" ;;
    *.so) printf 'INPUT(%s)\n' "$to" >"$link.new" ;;
    */libomptarget.so.*.1) other_name "$(dirname "$link")/$to" "$link.new" "${link##*/}" ;;
    *) cp -L "$link" "$link.new" ;;
  esac
  [ ! -x "$link" ] || chmod +x "$link.new"
  mv "$link.new" "$link"
done
wheel gangway packaging/python/README-gangway.md 'Runs OpenMP offload programs on CPUs, GPUs and a virtual GPU'

rm -rf "$work"
(cd "$out" && sha256sum ./*.deb ./*.tar.xz ./*.whl | sed 's| \./| |' >SHA256SUMS)
echo "packed under $out:"
(cd "$out" && stat -c '%s %n' ./*.deb ./*.tar.xz ./*.whl | awk '{ printf "  %5.1f MB  %s\n", $1 / 1e6, substr($2, 3) }')
