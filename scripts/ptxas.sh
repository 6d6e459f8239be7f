#!/bin/bash
# Compares what the virtual GPU takes as PTX with what NVIDIA's assembler takes.
#
#   scripts/ptxas.sh [--all]     --all shows every difference and its reason
#
# The assemblers of CUDA 13.5 and 12.9 (vgpu/ptxas/requirements.txt: 90 MB) are
# downloaded once, into build/ptxas.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:$HOME/.cargo/bin"

readonly out=$PWD/build/ptxas
readonly wanted=vgpu/ptxas/requirements.txt

# The packages, if the list has changed or the last download was cut short. Only
# the assemblers are kept of them.
if ! cmp -s "$wanted" "$out/installed.txt"; then
  echo "downloading $(grep -c == "$wanted") assemblers into build/ptxas"
  rm -rf "$out"
  mkdir -p "$out"
  python3 -m venv "$out/venv"
  "$out/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --dest "$out" -r "$wanted"
  for package in "$out"/*.whl; do
    version=$(basename "$package" | cut -d- -f2 | cut -d. -f1-2)
    python3 - "$package" "$out/ptxas-$version" <<'PYTHON'
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as package:
    name = next(name for name in package.namelist() if name.endswith("/bin/ptxas"))
    with package.open(name) as source, open(sys.argv[2], "wb") as target:
        shutil.copyfileobj(source, target)
PYTHON
    chmod +x "$out/ptxas-$version"
    rm "$package"
  done
  cp "$wanted" "$out/installed.txt"
fi

cargo run --quiet -p gangway-ptxas -- --newest "$out/ptxas-13.5" --older "$out/ptxas-12.9" "$@"
