#!/bin/bash
# Makes a report as a page and opens it in a browser without a window: the page must draw
# itself without an error, show what the program did, and sort its tables.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly gangway=$PWD/build/stage/bin/gangway

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cat >"$root/steps.c" <<'C'
/* What the page has advice for: a field that goes to the device in each step. The name of the
 * program is no HTML. */
#include <stdio.h>
int main(void) {
  static double field[1 << 20];
  int b = 0;
  for (int step = 0; step < 24; step += 2) {
#pragma omp target data map(tofrom : field)
    for (b = step; b < step + 2; ++b) {
#pragma omp target teams distribute parallel for map(to : b)
      for (int i = 0; i < 1 << 20; ++i) field[i] += i < b;
    }
  }
  printf("%g\n", field[0]);
  return field[0] != 23;
}
C
"$gangway" cc -O2 -g -fopenmp --offload-arch=sm_80,x86_64 "$root/steps.c" -o "$root/<b>steps"

cat >"$root/act.js" <<'JS'
// What a person does with the page, and what they see then.
{
  const say = text => { const line = document.createElement("p"); line.className = "seen"; line.textContent = text; document.body.append(line); };
  addEventListener("error", event => say("error " + event.message));
  const table = [...document.querySelectorAll("section")].find(section => section.querySelector("h2").textContent === "Transfers by variable");
  const names = () => [...table.querySelectorAll("tbody tr")].map(row => row.cells[0].textContent).join(" ");
  const click = title => [...table.querySelectorAll("th")].find(head => head.textContent === title).click();
  click("count"); say("by count: " + names());
  click("count"); say("by count, upwards: " + names());
  click("variable"); say("by name: " + names());
  const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect();
  let kernels = 0;
  for (let x = box.left + 171; x < box.right; x += 1) {
    canvas.dispatchEvent(new PointerEvent("pointermove", {clientX: x, clientY: box.top + 37}));
    kernels += document.getElementById("tip").textContent.startsWith("main:");
  }
  say("kernels under the pointer: " + (kernels > 0));
  canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: -1, clientX: box.left + 400, cancelable: true}));
  for (const key of ["ArrowLeft", "+", "-", "0"]) canvas.dispatchEvent(new KeyboardEvent("keydown", {key}));
  say("acted");
}
JS

fail() {
  echo "page-test: $*" >&2
  exit 1
}
for device in cpu vgpu; do
  page=$root/$device.html
  OMP_TARGET_OFFLOAD=MANDATORY "$gangway" run --device "$device" --report="html:$page" "$root/<b>steps"
  # The first script of the page listens for errors, the last one acts.
  sed -i 's|<script type=|<script>window.onerror = message => { document.title = "error " + message; };</script>&|' "$page"
  { echo '<script>'; cat "$root/act.js"; echo '</script>'; } >>"$page"
  chromium --headless --no-sandbox --disable-gpu --user-data-dir="$root/profile" --window-size=1200,1600 \
    --virtual-time-budget=5000 --dump-dom "file://$page" >"$root/dom" 2>"$root/log" || fail "chromium: $(tail -3 "$root/log")"
  grep -q 'data-drawn="yes"' "$root/dom" || fail "$device: the page did not draw itself"
  for seen in '<h1 id="title">&lt;b&gt;steps</h1>' '>Time line<' '>main:10<' 'steps.c:10:1' '>field<' \
    'Map `field` once, around what uses it' '12 copies to device 0 and 12 from it, ' \
    '>by count: field b<' '>by count, upwards: field b<' '>by name: b field<' '>kernels under the pointer: true<' '>acted<'; do
    grep -qF -- "$seen" "$root/dom" || fail "$device: the page does not have $seen: $(grep -o '<p class="seen">.*' "$root/dom")"
  done
  ! grep -q '<title>error\|class="seen">error' "$root/dom" || fail "$device: $(grep -o '<title>.*</title>\|class="seen">error.*' "$root/dom")"
done
echo "page-test: the pages of both devices work"
