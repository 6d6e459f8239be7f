#!/bin/bash
# Copies the staged tree into a folder, and takes away again what it put there.
#
#   scripts/installation.sh install PREFIX
#   scripts/installation.sh uninstall PREFIX
#
# A list in the installation names every file, and every folder that did not exist
# before (those end with a slash): only these go, and folders only once they are empty.
set -euo pipefail
# The order of bytes: "bin/" before "bin/gangway".
export LC_ALL=C
cd "$(dirname "$0")/.."

readonly stage=build/stage list=lib/gangway/installed.txt
[ $# -eq 2 ] || { echo "usage: $0 install|uninstall PREFIX" >&2; exit 2; }
readonly prefix=$2

install() {
  local fresh
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
  install) install ;;
  uninstall)
    own=$(grep -cx './' "$prefix/$list" 2>/dev/null || true)
    uninstall
    if [ "$own" = 1 ]; then rmdir --ignore-fail-on-non-empty "$prefix"; fi
    ;;
  *) echo "usage: $0 install|uninstall PREFIX" >&2; exit 2 ;;
esac
