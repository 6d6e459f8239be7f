#!/bin/bash
# Runs programs of others on the virtual GPU: numba-cuda, the cudarc crate with
# kernels that NVRTC compiles, Taichi, and Triton.
#
#   scripts/clients.sh [--library FOLDER] [--check] [numba] [cudarc] [taichi] [triton] [suite]
#
# FOLDER holds the libcuda.so.1 to test; without it, one is built. What the
# clients need (vgpu/clients/numba/requirements.txt: 300 MB on disk) is
# downloaded once, into build/clients. `suite` are numba-cuda's own tests, which
# take most of an hour and only run when they are asked for. With `--check` all checks of the virtual GPU
# are on, and nothing may be found. The clients, and nothing
# else, are started with the libraries in GANGWAY_CLIENTS_PRELOAD (a sanitizer's runtime).
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:$HOME/.cargo/bin"

readonly root=$PWD out=$PWD/build/clients
readonly wanted=vgpu/clients/numba/requirements.txt
readonly venv=$out/venv
library=
if [ "${1:-}" = --library ]; then
  library=$(realpath "$2")
  shift 2
fi
check=
if [ "${1:-}" = --check ]; then
  check=yes
  shift
fi
clients=("$@")
[ ${#clients[@]} -gt 0 ] || clients=(numba cudarc taichi triton)

# The packages, if the list has changed or the last download was cut short.
mkdir -p "$out"
if ! cmp -s "$wanted" "$venv/installed.txt"; then
  echo "installing $(grep -c == "$wanted") packages into build/clients"
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$wanted"
  cp "$wanted" "$venv/installed.txt"
fi
nvidia=$("$venv/bin/python" -c 'import nvidia; print(nvidia.__path__[0])')

if [ -z "$library" ]; then
  cargo build --release -p gangway-driver -p gangway-llvm
  library=$out/library
  mkdir -p "$library"
  # Replaced, not overwritten: a program may have the old one loaded.
  cp target/release/libgangway_driver.so "$library/libcuda.so.1.new"
  mv "$library/libcuda.so.1.new" "$library/libcuda.so.1"
  ln -sf libcuda.so.1 "$library/libcuda.so"
  install target/release/gangway-llvm "$library"
fi
export LD_LIBRARY_PATH=$library:$nvidia/cuda_nvrtc/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# What starts a client's program.
start=(env "LD_PRELOAD=${GANGWAY_CLIENTS_PRELOAD:-${LD_PRELOAD:-}}")
# Taichi asks the loader that its library finds its own functions before any others
# (RTLD_DEEPBIND, 8), which keeps sanitizers from seeing what it does.
shallow='import runpy, sys
if "libasan" in open("/proc/self/maps").read():
    set_flags = sys.setdlopenflags
    sys.setdlopenflags = lambda flags: set_flags(flags & ~8)
runpy.run_path(sys.argv[1], run_name="__main__")'
# Slower where everything is checked.
patience=1
[ -z "${GANGWAY_CLIENTS_PRELOAD:-}${check}" ] || patience=6
if [ -n "$check" ]; then
  rm -f "$out/findings.jsonl"
  start+=(GANGWAY_VGPU_CHECK=all "GANGWAY_CHECK_LOG=$out/findings.jsonl")
fi

outcomes=() failed=0
for client in "${clients[@]}"; do
  printf '\n=== %s\n' "$client"
  status=0
  case $client in
    numba)
      # The README's example, as written, and the tests.
      sed -n '/^```python$/,/^```$/{//!p}' vgpu/clients/README.md >"$out/sum.py"
      timeout $((100 * patience)) "${start[@]}" "$venv/bin/python" -W ignore "$out/sum.py" || status=$?
      (cd vgpu/clients/numba && PYTHONDONTWRITEBYTECODE=1 timeout $((300 * patience)) "${start[@]}" "$venv/bin/python" kernels.py) || status=$?
      ;;
    cudarc)
      (
        cd vgpu/clients/cudarc
        export GANGWAY_CUDA_INCLUDE=$nvidia/cuda_runtime/include:$nvidia/cuda_cccl/include
        # The tests are a client; cargo and the compiler are not.
        export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="${start[*]}"
        CARGO_TARGET_DIR=$out/cudarc timeout $((600 * patience)) cargo test --locked
      ) || status=$?
      ;;
    taichi)
      [ -d "$out/taichi" ] || "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps \
        --target "$out/taichi" -r vgpu/clients/taichi/requirements.txt
      PYTHONPATH=$out/taichi PYTHONDONTWRITEBYTECODE=1 timeout $((300 * patience)) \
        "${start[@]}" "$venv/bin/python" -c "$shallow" vgpu/clients/taichi/kernels.py || status=$?
      ;;
    triton)
      [ -d "$out/triton" ] || "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps \
        --target "$out/triton" -r vgpu/clients/triton/requirements.txt
      # Its own assembler makes machine code.
      ptxas=$library/../cuda/bin/ptxas
      if [ ! -x "$ptxas" ]; then
        cargo build --release -p gangway
        ptxas=$out/ptxas
        printf '#!/bin/sh\nexec "%s" stand-in ptxas "$@"\n' "$root/target/release/gangway" >"$ptxas"
        chmod +x "$ptxas"
      fi
      for capability in 8.0 7.5; do
        PYTHONPATH=$out/triton PYTHONDONTWRITEBYTECODE=1 TRITON_CACHE_DIR=$out/triton-cache \
          TRITON_PTXAS_PATH=$ptxas GANGWAY_VGPU_CAPABILITY=$capability \
          timeout $((600 * patience)) "${start[@]}" "$venv/bin/python" vgpu/clients/triton/kernels.py || status=$?
      done
      ;;
    suite)
      [ -d "$out/suite" ] || "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps \
        --target "$out/suite" -r vgpu/clients/numba/requirements-suite.txt
      PYTHONPATH=$out/suite \
        "$venv/bin/python" -W ignore vgpu/clients/numba/suite.py || status=$?
      ;;
    *)
      echo "clients: there is no client '$client', only numba, cudarc, taichi, triton and suite" >&2
      exit 2
      ;;
  esac
  [ "$status" -eq 0 ] && outcomes+=("$client passed") || outcomes+=("$client FAILED")
  failed=$((failed + (status != 0)))
done

if [ -s "$out/findings.jsonl" ] && [ -n "$check" ]; then
  echo 'clients: the checks have found something:'
  cut -c1-400 "$out/findings.jsonl"
  failed=$((failed + 1))
fi
printf '\nclients: %s\n' "$(IFS=,; echo "${outcomes[*]}")"
[ "$failed" -eq 0 ]
