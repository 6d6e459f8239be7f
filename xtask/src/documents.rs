//! The pages and examples that an installation has: `share/doc/gangway`.
//!
//! They have the folders of the tree there, so that links between them hold. What a page links to
//! comes along, and what that links to, so that no link is dead.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::{Result, tree};

/// Where they are in the stage.
const PLACE: &str = "share/doc/gangway";

/// Folders of which all comes along: pages, and what pages and users compile.
const FOLDERS: [&str; 2] = ["docs", "examples"];

/// Where the links begin.
const FIRST: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Lays them out in the stage, and takes away what stood there before.
pub fn lay_out(root: &Path, stage: &Path) -> Result<()> {
    let place = stage.join(PLACE);
    if place.is_dir() {
        std::fs::remove_dir_all(&place)
            .map_err(|error| format!("cannot remove the folder {}: {error}", place.display()))?;
    }
    for file in all(root)? {
        let to = place.join(&file);
        tree::create_folder(to.parent().ok_or("a staged file has a directory")?)?;
        tree::write(&to, tree::read_bytes(&root.join(&file))?)?;
    }
    Ok(())
}

/// All files, by their paths in the tree.
fn all(root: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut wanted: Vec<PathBuf> = FIRST.iter().map(PathBuf::from).collect();
    for folder in FOLDERS {
        for path in tree::files(&root.join(folder))? {
            wanted.push(path.strip_prefix(root)?.to_owned());
        }
    }
    let mut found = BTreeSet::new();
    while let Some(file) = wanted.pop() {
        if !found.insert(file.clone()) || file.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = tree::read(&root.join(&file))?;
        for link in links(&text) {
            let folder = file.parent().unwrap_or(Path::new(""));
            let target = plain(&folder.join(link))
                .filter(|target| root.join(target).is_file())
                .ok_or_else(|| format!("{} links to {link}, which is no file of the tree", file.display()))?;
            wanted.push(target);
        }
    }
    Ok(found)
}

/// The files that a page links to, as it has them: without places in them, and without addresses.
fn links(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        }
        if in_block {
            continue;
        }
        // Every second part of a line stands between backquotes. A link may have some in its text.
        let mut quoted = false;
        for part in line.split_inclusive('`') {
            if !quoted {
                found.extend(part.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()));
            }
            quoted = !quoted;
        }
    }
    let files = found.into_iter().filter(|link| !link.contains(':'));
    files.filter_map(|link| link.split('#').next()).filter(|file| !file.is_empty()).collect()
}

/// A path without `..`, if it stays in the tree.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop().then_some(())?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_a_page() {
        let page = "[a](a.md#x) and [`b`](../b.c), `[not](this)`, [far](https://x/y)\n\
                    ```c\nx[1](y)\n```\n![p](p.png) [here](#there) [two](c.md) `x`\n";
        assert_eq!(links(page), ["a.md", "../b.c", "p.png", "c.md"]);
        assert_eq!(plain(Path::new("docs/../a/./b.md")), Some("a/b.md".into()));
        assert_eq!(plain(Path::new("docs/../../b.md")), None);
    }

    #[test]
    fn every_link_of_the_tree_holds() {
        let files = all(&tree::root().unwrap()).unwrap();
        for wanted in ["README.md", "docs/cli.md", "docs/heat.png", "examples/saxpy.c", "CONTRIBUTING.md"] {
            assert!(files.contains(Path::new(wanted)), "{wanted}: {files:?}");
        }
    }
}
