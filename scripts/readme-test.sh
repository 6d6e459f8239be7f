#!/bin/bash
# Runs the shell blocks of the README as they are written, one after the other, in a fresh copy
# of the tree with the staged command in the search path. Each line has to succeed.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly top=$PWD

# In a root that is thrown away (scripts/fresh.sh) the lines for an administrator are run, too, if this
# is one: for a user somebody has run them before.
sudo() { DEBIAN_FRONTEND=noninteractive "$@"; }
export -f sudo

# Lines that are not run here, and why.
left_out() {
  case $1 in
    'make demo'* | 'make test'* | 'make packages'*) echo 'has a phase of its own' ;;
    'make install'*) echo 'the test of the installation does it' ;;
    'sudo '*) { [ -z "${GANGWAY_FRESH:-}" ] || [ "$(id -u)" -ne 0 ]; } && echo 'changes this machine' ;;
    *) return 1 ;;
  esac
}

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
# What a clone has, without the history; of a tree without one, what nobody has built.
files() {
  git ls-files -z 2>/dev/null ||
    find . \( -name target -o -path ./build -o -path ./.git \) -prune -o -type f -print0
}
files | tar --null -T - -cf - | tar -C "$root" -xf -
cd "$root"
export PATH="$top/build/stage/bin:$PATH"
unset LD_LIBRARY_PATH LD_PRELOAD

# One shell, as when it is pasted; -e and -x tell which line fails.
in_shell() { "$@" bash -euo pipefail -c "$block" </dev/null; }

# What makes code for AMD's GPUs runs as if GCC's compiler for them were installed, where it is not.
run_block() {
  if [[ $block == *-foffload=amdgcn* && ! -d /usr/lib/gcc/x86_64-linux-gnu/12/accel/amdgcn-amdhsa ]]; then
    local status=0
    in_shell "$top/scripts/amdgcn.sh" || status=$?
    [ "$status" = 77 ] && echo "readme: not run, GCC's compiler for AMD's GPUs cannot be had here"
    [ "$status" = 0 ] || [ "$status" = 77 ]
  else
    in_shell env
  fi
}

# The blocks, with a line of dashes behind each.
blocks=$(awk '/^```sh$/ { inside = 1; next } /^```$/ { if (inside) print "----"; inside = 0 } inside' README.md)
block='' passed=0 number=0
while IFS= read -r line; do
  if [ "$line" != ---- ]; then
    if reason=$(left_out "$line"); then
      echo "readme: not run, $reason: $line"
    else
      block+=$line$'\n'
    fi
    continue
  fi
  number=$((number + 1))
  if [ -n "${block//[[:space:]]/}" ]; then
    printf '=== block %d\n%s' "$number" "$block"
    run_block || { echo "readme: block $number failed" >&2; exit 1; }
    passed=$((passed + 1))
  fi
  block=
done <<<"$blocks"
[ "$passed" -ge 5 ] || { echo "readme: only $passed blocks were found" >&2; exit 1; }
echo "readme: $passed blocks work as written"
