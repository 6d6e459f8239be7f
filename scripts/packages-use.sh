# How packages are tried, by those who have installed them: `. scripts/packages-use.sh`.
#
# Who reads it sets $root, an empty folder, and defines fail, which ends the script with a message.
# shellcheck shell=bash
# shellcheck disable=SC2154  # $root

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
  [ -x "$(dirname "$gangway")/../lib/gangway/gangway-llvm" ] || fail "$1: no program that LLVM runs in"
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

# use_driver FOLDER: runs a kernel through the wheel of the driver, which is installed in this environment.
use_driver() {
  local python=$1/bin/python status
  echo "=== gangway_vgpu: $python"
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
  [ -x "$("$python" -m gangway_vgpu --folder)/gangway-llvm" ] || fail "no program that LLVM runs in"
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
}
