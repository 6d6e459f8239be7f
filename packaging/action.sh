#!/bin/bash
# What action.yml does: installs the virtual GPU and lets the steps that follow find it.
#
# GANGWAY_PACKAGE is what pip installs. RUNNER_TEMP and GITHUB_ENV are GitHub's.
set -euo pipefail

environment=$RUNNER_TEMP/gangway-vgpu
python3 -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check "$GANGWAY_PACKAGE"
folder=$("$environment/bin/python" -m gangway_vgpu --folder)
echo "LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" >>"$GITHUB_ENV"
for name in DEVICES CAPABILITY CHECK; do
  variable=GANGWAY_VGPU_$name
  [ -z "${!variable:-}" ] || echo "$variable=${!variable}" >>"$GITHUB_ENV"
done
"$environment/bin/python" -m gangway_vgpu --version
