#!/bin/bash
# Builds the site of the documentation in build/docs/site, and checks its links: to pages, to
# files of the tree, and to headings. Links to other hosts are not followed.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly out=build/docs

diff <(scripts/matrix-page.sh) docs/matrix.md || { echo "docs: docs/matrix.md is not what scripts/matrix-page.sh makes of the results" >&2; exit 1; }
rm -rf "$out"
mkdir -p "$out/source"
# The pages in the folders they have in the tree, so that links between them hold, and the files
# that they link to.
pages() { find . -name '*.md' -not -path '*/target/*' -not -path './build/*' -not -path './packaging/*' -printf '%P\n'; }
pages | while read -r page; do
  folder=$(dirname "$page")
  {
    echo "$page"
    sed '/^ *```/,/^ *```/d; s/`[^`]*`//g' "$page" | grep -oE '\]\([^) ]+' | sed 's/^](//; s/#.*//' | grep -v ':' | while read -r link; do
      [ -z "$link" ] || realpath -m --relative-to=. "$folder/$link"
    done || true
  } | while read -r file; do
    [ -f "$file" ] || { echo "docs: $page links to $file, which is not there" >&2; exit 1; }
    mkdir -p "$out/source/$(dirname "$file")"
    cp "$file" "$out/source/$file"
  done
done

mkdocs build --quiet --config-file docs/mkdocs.yml
/usr/bin/python3 - "$out/site" <<'PY'
"""Every link of the site leads to a file of it, and to a place that the file has."""
import pathlib
import sys
import urllib.parse
from html.parser import HTMLParser

class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.places, self.links = {""}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and tag != "meta":
                self.places.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)

site = pathlib.Path(sys.argv[1]).resolve()
pages = {path: Page(path.read_text()) for path in site.rglob("*.html")}
wrong = []
for path, page in pages.items():
    for link in page.links:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc or path.name == "404.html":
            continue
        target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
        if not target.is_file():
            wrong.append(f"{path.relative_to(site)}: no file {link}")
        elif target in pages and parts.fragment not in pages[target].places:
            wrong.append(f"{path.relative_to(site)}: no place {link}")
print(*wrong, sep="\n", end="\n" if wrong else "")
print(f"docs: {len(pages)} pages, {sum(len(page.links) for page in pages.values())} links, {len(wrong)} of them wrong")
sys.exit(bool(wrong))
PY
echo "docs: open $PWD/$out/site/index.html"
