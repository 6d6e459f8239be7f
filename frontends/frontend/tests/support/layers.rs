//! The modules of a front end and of what is below are layers: each uses only those that stand
//! above it in the table of its crate's documentation.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules in the order of the table: `//! | [`name`] | what |`.
fn layers(source: &Path) -> Vec<String> {
    let text = fs::read_to_string(source.join("lib.rs")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | "));
    rows.filter_map(|row| row.split('`').nth(1).filter(|_| row.starts_with(['[', '`'])))
        .map(str::to_owned)
        .collect()
}

/// The modules that `lib.rs` declares.
fn declared(source: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(source.join("lib.rs")).unwrap();
    let declarations = text.lines().filter_map(|line| line.strip_suffix(';'));
    declarations.filter_map(|line| Some(line.split_once("mod ")?.1.to_owned())).collect()
}

/// The files of a module: `name.rs` or those in the folder `name`.
fn files(source: &Path, module: &str) -> Vec<PathBuf> {
    match fs::read_dir(source.join(module)) {
        Ok(folder) => folder.map(|entry| entry.unwrap().path()).collect(),
        Err(_) => vec![source.join(module).with_extension("rs")],
    }
}

/// The modules of the crate that a text names: `crate::name`, `crate::{name, other::thing}`.
pub fn used(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("crate::") {
        if text[..at].ends_with('$') {
            continue;
        }
        let rest = &text[at + "crate::".len()..];
        let Some(list) = rest.strip_prefix('{') else {
            found.insert(first_word(rest));
            continue;
        };
        let mut depth = 0;
        let end = list.find(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth < 0
        });
        let mut depth = 0;
        let items = list[..end.unwrap()].split(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && depth == 0
        });
        found.extend(items.map(first_word));
    }
    found
}

fn first_word(text: &str) -> String {
    let text = text.trim_start();
    text[..text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())].to_owned()
}

/// Checks the crate whose sources are in a folder.
pub fn check(source: &Path) {
    let layers = layers(source);
    let unlisted: Vec<_> = declared(source).into_iter().filter(|name| !layers.contains(name)).collect();
    assert!(unlisted.is_empty(), "{}: not in the table: {unlisted:?}", source.display());
    assert!(layers.len() > 5, "{}: the table is not where this test looks for it", source.display());
    for (row, module) in layers.iter().enumerate() {
        for file in files(source, module) {
            let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            for other in used(&text) {
                let below = layers.iter().position(|layer| *layer == other).is_some_and(|at| at > row);
                assert!(!below, "{}: uses `{other}`, a layer that stands below it", file.display());
            }
        }
    }
}
