#!/bin/bash
# Runs a build and shows one line of how far it is, with an estimate, instead of all that
# it prints. That goes into a file, whose end is shown if the build fails.
#
#   scripts/progress.sh LOG COMMAND...
#
# On a terminal the line is written over and over; elsewhere there is one a minute. The build is that
# of `cargo xtask stage`: a large one between small ones.
set -uo pipefail

readonly log=$1
shift
mkdir -p "$(dirname "$log")"
terminal=0
[ -t 2 ] && terminal=1

# What share of the time, in thousandths, has passed when so many thousandths of the large build's
# crates are compiled: measured. The few that are compiled last take longest, and the linker
# follows them.
readonly curve=(0 0 125 20 250 50 500 95 750 180 880 310 940 520 985 840 1000 900)
# Seconds that everything takes on two cores, where nothing else runs.
readonly whole=600
# Crates of the large build at least. Small ones stand before it, and behind it: the device runtimes.
readonly many=100

# share DONE ALL: the share of the time. The numbers are those of the build that runs.
share() {
  local at i
  if [ "$2" -lt "$many" ]; then
    echo "$((large ? 940 : 5))"
    return
  fi
  at=$(($1 * 1000 / $2))
  for ((i = 2; i < ${#curve[@]}; i += 2)); do
    if [ "$at" -le "${curve[i]}" ]; then
      echo $((curve[i - 1] + (curve[i + 1] - curve[i - 1]) * (at - curve[i - 2]) / (curve[i] - curve[i - 2])))
      return
    fi
  done
}

# left SECONDS DONE ALL: how long it will take, in words. At first the usual time counts most, then
# what this machine has needed so far: the estimate does not jump from one to the other.
left() {
  local passed seconds
  passed=$(share "$2" "$3")
  seconds=$(((1000 - passed) * (whole / 5 + $1) / (200 + passed)))
  if [ "$seconds" -lt 60 ]; then
    echo 'less than a minute left'
  else
    echo "about $(((seconds + 30) / 60)) min left"
  fi
}

show() {
  if [ "$terminal" -eq 1 ]; then
    printf '\r\033[K%s' "$1" >&2
  else
    printf '%s\n' "$1" >&2
  fi
}

# What is shown of the crates that are compiled now: DONE ALL NAMES.
tell() {
  local names=$3
  # The line fits into 80 columns: one that wraps cannot be written over.
  [ "${#names}" -le 28 ] || names="${names:0:25}..."
  show "building: $1 of $2 crates${names:+ ($names)}, $(left "$SECONDS" "$1" "$2")"
  told=$SECONDS
}

# Reads what cargo prints, a line at a time, and keeps all but its own progress. The linker prints
# nothing for minutes: what was told last is told again, with the time that has passed.
follow() {
  local line status told=-60 large=0 done=0 all=0 names=
  local crates='^ *Building \[[=> ]*\] ([0-9]+)/([0-9]+)(: (.*))?'
  while :; do
    status=0
    IFS= read -r -t "$((terminal ? 5 : 60))" line || status=$?
    if [ "$status" -gt 128 ]; then
      [ "$all" -eq 0 ] || tell "$done" "$all" "$names"
      continue
    fi
    [ "$status" -eq 0 ] || return 0
    if ! [[ $line =~ $crates ]]; then
      printf '%s\n' "$line" >>"$log"
      continue
    fi
    done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} names=${BASH_REMATCH[4]}
    [ "$all" -lt "$many" ] || large=1
    if [ "$terminal" -eq 1 ] || [ $((SECONDS - told)) -ge 60 ]; then
      tell "$done" "$all" "$names"
    fi
  done
}

: >"$log" || exit 1
SECONDS=0
CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=80 CARGO_TERM_COLOR=never \
  "$@" 2>&1 </dev/null | stdbuf -o0 tr '\r' '\n' | follow
status=${PIPESTATUS[0]}
[ "$terminal" -eq 0 ] || printf '\r\033[K' >&2
if [ "$status" -ne 0 ]; then
  tail -40 "$log" >&2
  echo "building failed; all that was printed is in $log" >&2
else
  echo "built in $((SECONDS / 60)) min $((SECONDS % 60)) s; what was printed is in $log" >&2
fi
exit "$status"
