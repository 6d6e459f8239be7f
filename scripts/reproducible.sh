#!/bin/bash
# Makes the packages of this tree in two other folders, whose names differ in length and in
# kind, from nothing, and compares them bit for bit. Too slow for `make test`: twenty
# minutes on two cores, and eight with the profile `dev`.
#
#   scripts/reproducible.sh [PROFILE]     one of cargo's profiles (default: release)
set -euo pipefail
cd "$(dirname "$0")/.."

readonly profile=${1:-release}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
# What is committed, and what has been changed since.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
# A build for all must not read another one's objects.
unset CARGO_TARGET_DIR
folders=("$root/a" "$root/a second folder/wïth anöther näme")
# Once for both: somebody may go on working here meanwhile.
git ls-files -z --cached --others --exclude-standard --deduplicate |
  while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
  tar --null --files-from=- -cf "$root/tree.tar"
for folder in "${folders[@]}"; do
  mkdir -p "$folder"
  tar -C "$folder" -xf "$root/tree.tar"
  echo "reproducible: building in $folder"
  (cd "$folder" && umask 022 && cargo xtask stage --packages --profile "$profile" && scripts/packages.sh) \
    >"$root/log" 2>&1 || { tail -40 "$root/log"; exit 1; }
  # Room for the next one.
  mv "$folder/build/packages" "$folder.packages"
  rm -rf "$folder"
  # The second build has another mask of rights, too.
  umask 077
done

different=0 compared=0
for package in "${folders[0]}.packages"/*.{deb,tar.xz,whl}; do
  other=${folders[1]}.packages/${package##*/}
  compared=$((compared + 1))
  if ! cmp "$package" "$other"; then
    different=$((different + 1))
  fi
done
if [ "$different" -ne 0 ]; then
  echo 'what differs in the tarballs, and in the trees that they were made of:'
  for folder in "${folders[@]}"; do
    mkdir "$folder.packages/content"
    tar -C "$folder.packages/content" -xf "$folder.packages"/*.tar.xz
  done
  for part in content tree; do
    diff -rq "${folders[0]}.packages/$part" "${folders[1]}.packages/$part" || true
  done
  # The first texts of each file that differs.
  (cd "${folders[0]}.packages/tree" && find . -type f) | while IFS= read -r file; do
    cmp -s "${folders[0]}.packages/tree/$file" "${folders[1]}.packages/tree/$file" && continue
    echo "$file:"
    diff <(strings -a "${folders[0]}.packages/tree/$file") <(strings -a "${folders[1]}.packages/tree/$file") | head -10 || true
  done
fi
echo "reproducible: $compared packages compared, $different differ"
[ "$compared" -eq 5 ] && [ "$different" -eq 0 ]
