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
expect 'the beginning' 0 $'building: 3 of 159 crates (a), about 10 min left\n'"$done" \
  printf '   Compiling a\n    Building [==>     ] 3/159: a\r    Building [==>     ] 4/159: b\r'
expect 'a small build before' 0 $'building: 3 of 9 crates (a), about 10 min left\n'"$done" \
  printf '    Building [==>     ] 3/9: a\r'
grep -q Building "$root/a log" && { echo 'progress: the log has lines that are written over'; exit 1; }
expect 'the end' 0 $'building: 158 of 159 crates (aaaaaaaaaa, bbbbbbbbbb, c...), less than a minute left\n'"$done" \
  printf '    Building [=======>] 158/159: aaaaaaaaaa, bbbbbbbbbb, cccccccccc\r'
expect 'a failure' 7 $'error: no\nbuilding failed; all that was printed is in '"$root/a log" \
  sh -c 'echo "error: no"; exit 7'
# What is left of a build that takes as long as usual goes down, also in the small builds behind the
# large one; of one that is slower it grows, but does not jump.
source <(sed -n '/^readonly curve=/,/^}/p; /^left()/,/^}/p' scripts/progress.sh)
minutes() { left "$@" | sed 's/^less than a minute.*/0/; s/[^0-9]//g'; }
large=1
while read -r passed crates all wanted; do
  found=$(minutes "$passed" "$crates" "$all")
  [ "$found" = "$wanted" ] || { echo "progress: after $passed s, $crates of $all crates: $found min, not $wanted"; exit 1; }
done <<END
0 0 174 10
60 87 174 9
120 131 174 9
300 164 174 4
480 172 174 1
570 2 9 0
300 87 174 21
300 104 174 19
END
echo 'progress: right'
