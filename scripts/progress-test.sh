#!/bin/bash
# Checks what scripts/progress.sh shows of a build, and its status.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# expect WHAT STATUS TEXT COMMAND...: the text without the seconds.
expect() {
  local what=$1 wanted=$2 text=$3 status=0 shown
  shift 3
  shown=$(scripts/progress.sh "$root/a log" "$@" 2>&1) || status=$?
  shown=$(sed 's/in [0-9]* min [0-9]* s/in TIME/' <<<"$shown")
  if [ "$status" -ne "$wanted" ] || [ "$shown" != "$text" ]; then
    printf 'progress: %s: status %s, shown:\n%s\nexpected: status %s\n%s\n' "$what" "$status" "$shown" "$wanted" "$text"
    exit 1
  fi
}

done="built in TIME; what was printed is in $root/a log"
expect 'a build that does nothing' 0 "$done" true
expect 'the beginning' 0 $'building: 3 of 159 crates, about 10 min left\n'"$done" \
  printf '   Compiling a\n    Building [==>     ] 3/159: a\r    Building [==>     ] 4/159: b\r'
expect 'a small build' 0 $'building: 3 of 9 crates\n'"$done" printf '    Building [==>     ] 3/9: a\r'
grep -q Building "$root/a log" && { echo 'progress: the log has lines that are written over'; exit 1; }
expect 'the end' 0 $'building: 158 of 159 crates, less than a minute left\n'"$done" \
  printf '    Building [=======>] 158/159: a, b\r'
expect 'a failure' 7 $'error: no\nbuilding failed; all that was printed is in '"$root/a log" \
  sh -c 'echo "error: no"; exit 7'
echo 'progress: right'
