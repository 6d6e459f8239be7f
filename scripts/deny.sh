#!/bin/bash
# Checks the dependencies against deny.toml: licences, advisories, sources.
# Builds cargo-deny into build/tools the first time (two to three minutes).
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:$HOME/.cargo/bin:$PWD/build/tools/bin"

readonly version=0.20.2
if ! cargo deny --version >/dev/null 2>&1; then
  echo "building cargo-deny $version into build/tools"
  cargo install --quiet --locked --root build/tools cargo-deny --version "$version"
fi
# Advisories need the network beyond the package registry; a machine that
# cannot reach them still checks everything else, and says so.
checks=(bans licenses sources)
if timeout 60 cargo deny fetch db >/dev/null 2>&1; then
  checks+=(advisories)
else
  echo "deny: the advisory database cannot be reached; advisories are not checked"
fi
cargo deny --workspace --all-features check "${checks[@]}"
