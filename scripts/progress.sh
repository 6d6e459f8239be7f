#!/bin/bash
# Runs a build and shows one line of how far it is, with an estimate, instead of all that
# it prints. That goes into a file, whose end is shown if the build fails.
#
#   scripts/progress.sh LOG COMMAND...
#
# On a terminal the line is written over and over; elsewhere there is one a minute.
set -uo pipefail

readonly log=$1
shift
mkdir -p "$(dirname "$log")"
terminal=
[ -t 2 ] && terminal=yes

# What share of the time, in thousandths, has passed when so many thousandths of a whole build's
# crates are compiled: measured. The few that are compiled last take longest, and the linker
# follows them.
readonly curve=(0 0 125 20 250 50 500 95 750 180 880 310 940 520 985 840 1000 900)
# Seconds that a whole build takes on two cores, where nothing better is known yet.
readonly whole=600
# Crates of a build that is whole; of a smaller one the curve says nothing.
readonly many=100

# share DONE ALL: the share of the time.
share() {
  local at=$(($1 * 1000 / $2)) i
  for ((i = 2; i < ${#curve[@]}; i += 2)); do
    if [ "$at" -le "${curve[i]}" ]; then
      echo $((curve[i - 1] + (curve[i + 1] - curve[i - 1]) * (at - curve[i - 2]) / (curve[i] - curve[i - 2])))
      return
    fi
  done
}

# left SECONDS DONE ALL: how long it will take, in words.
left() {
  local passed seconds
  [ "$3" -ge "$many" ] || return 0
  passed=$(share "$2" "$3")
  if [ "$passed" -lt 100 ]; then
    seconds=$((whole - $1))
  else
    seconds=$(($1 * (1000 - passed) / passed))
  fi
  if [ "$seconds" -lt 60 ]; then
    echo ', less than a minute left'
  else
    echo ", about $(((seconds + 30) / 60)) min left"
  fi
}

show() {
  if [ -n "$terminal" ]; then
    printf '\r\033[K%s' "$1" >&2
  else
    printf '%s\n' "$1" >&2
  fi
}

# Reads what cargo prints, a line at a time, and keeps all but its own progress.
follow() {
  local line now told=-60
  local crates='^ *Building \[[=> ]*\] ([0-9]+)/([0-9]+)'
  while IFS= read -r line; do
    if ! [[ $line =~ $crates ]]; then
      printf '%s\n' "$line" >>"$log"
      continue
    fi
    now=$SECONDS
    if [ -n "$terminal" ] || [ $((now - told)) -ge 60 ]; then
      told=$now
      show "building: ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} crates$(left "$now" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}")"
    fi
  done
}

: >"$log" || exit 1
SECONDS=0
CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=80 CARGO_TERM_COLOR=never \
  "$@" 2>&1 </dev/null | stdbuf -o0 tr '\r' '\n' | follow
status=${PIPESTATUS[0]}
[ -z "$terminal" ] || printf '\r\033[K' >&2
if [ "$status" -ne 0 ]; then
  tail -40 "$log" >&2
  echo "building failed; all that was printed is in $log" >&2
else
  echo "built in $((SECONDS / 60)) min $((SECONDS % 60)) s; what was printed is in $log" >&2
fi
exit "$status"
