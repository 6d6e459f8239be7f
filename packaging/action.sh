#!/bin/bash
# What action.yml does: installs the virtual GPU and lets the steps that follow find it.
#
# GANGWAY_PACKAGE is what pip installs. RUNNER_TEMP and GITHUB_ENV are GitHub's.
set -euo pipefail

# Each line of GITHUB_ENV sets a variable for all steps that follow. What an input says must not
# become a line of its own.
for name in GANGWAY_PACKAGE GANGWAY_VGPU_DEVICES GANGWAY_VGPU_CAPABILITY GANGWAY_VGPU_CHECK LD_LIBRARY_PATH RUNNER_TEMP; do
  case ${!name:-} in
    *[$'\n\r']*)
      echo "gangway: $name has more than one line, and must have one" >&2
      exit 1
      ;;
  esac
done

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
