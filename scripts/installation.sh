#!/bin/bash
# Copies the staged tree into a folder, and takes away again what it put there.
#
#   scripts/installation.sh install PREFIX
#   scripts/installation.sh uninstall PREFIX
#   scripts/installation.sh fresh        fails if there is nothing to install, or sources are newer
#
# A list in the installation names every file, and every folder that did not exist
# before (those end with a slash): only these go, and folders only once they are empty.
set -euo pipefail
# The order of bytes: "bin/" before "bin/gangway".
export LC_ALL=C
cd "$(dirname "$0")/.."

readonly stage=build/stage list=lib/gangway/installed.txt
usage() {
  echo "usage: $0 install|uninstall PREFIX, or $0 fresh" >&2
  exit 2
}
case $#/${1:-} in
  2/install | 2/uninstall | 1/fresh) ;;
  *) usage ;;
esac
readonly prefix=${2:-}

fail() {
  printf '%s\n' "$@" >&2
  exit 1
}

fresh() {
  local newer
  [ -x "$stage/bin/gangway" ] || fail "$stage is not there: run \`make build\` as $(stat -c %U .) first"
  newer=$(find backends device frontends runtime tools vgpu xtask Cargo.lock -name target -prune -o \
    -type f -newer "$stage/bin/gangway" -print -quit)
  [ -z "$newer" ] || fail "$newer is newer than what is in $stage: run \`make build\` as $(stat -c %U .) first"
}

# The first folder that files would go to and that cannot be written.
unwritable() {
  (cd "$stage" && find . -type d) | while read -r folder; do
    folder=$prefix/$folder
    until [ -e "$folder" ]; do folder=$(dirname "$folder"); done
    [ -d "$folder" ] && [ -w "$folder" ] || { realpath "$folder"; break; }
  done
}

install() {
  local fresh place
  place=$(unwritable)
  [ -z "$place" ] || fail "cannot write to $place: nothing was installed" \
    "install with sudo, or somewhere else: make install PREFIX=\$HOME/gangway"
  fresh=$(
    [ -d "$prefix" ] || echo ./
    cd "$stage"
    find . -mindepth 1 -type d -printf '%p/\n' | while read -r folder; do
      [ -d "$prefix/$folder" ] || echo "$folder"
    done
    find . \( -type f -o -type l \) -print
    echo "./$list"
  )
  mkdir -p "$prefix"
  cp -RP --no-preserve=ownership "$stage/." "$prefix"
  # What an earlier installation put there stays on the list.
  { cat "$prefix/$list" 2>/dev/null || true; echo "$fresh"; } | sort -u >"$prefix/$list.new"
  mv "$prefix/$list.new" "$prefix/$list"
}

uninstall() {
  local entry
  [ -f "$prefix/$list" ] || {
    echo "$prefix/$list does not exist, so what to remove is not known: is Gangway installed there?" >&2
    exit 1
  }
  # Backwards, a folder comes after what is in it.
  sort -r "$prefix/$list" | (cd "$prefix" && while read -r entry; do
    case $entry in
      ./) ;; # the folder this is in
      */) [ ! -d "$entry" ] || rmdir --ignore-fail-on-non-empty "$entry" ;;
      *) rm -f "$entry" ;;
    esac
  done)
}

case $1 in
  fresh) fresh ;;
  install) install ;;
  uninstall)
    own=$(grep -cx './' "$prefix/$list" 2>/dev/null || true)
    uninstall
    if [ "$own" = 1 ]; then rmdir --ignore-fail-on-non-empty "$prefix"; fi
    ;;
esac
