//! The modules of a front end and of what is below are layers: each uses only those that stand
//! above it in the table of its crate's documentation. The files of one folder have no order, but
//! none uses another that uses it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules in the order of the table: `//! | [`name`] | what |`.
fn layers(source: &Path) -> Vec<String> {
    let text = read(&source.join("lib.rs"));
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | "));
    rows.filter_map(|row| row.split('`').nth(1).filter(|_| row.starts_with(['[', '`'])))
        .map(str::to_owned)
        .collect()
}

/// The modules that `lib.rs` declares.
fn declared(source: &Path) -> BTreeSet<String> {
    let text = read(&source.join("lib.rs"));
    let declarations = text.lines().filter_map(|line| line.strip_suffix(';'));
    declarations.filter_map(|line| Some(line.split_once("mod ")?.1.to_owned())).collect()
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// What stands in a folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

/// The files of a module: `name.rs`, and those in the folder `name`.
pub fn files(folder: &Path, module: &str) -> Vec<PathBuf> {
    let (file, inner) = (folder.join(module).with_extension("rs"), folder.join(module));
    let mut found: Vec<_> = file.is_file().then_some(file).into_iter().collect();
    if inner.is_dir() {
        for entry in entries(&inner) {
            if entry.is_dir() {
                found.extend(files(&inner, entry.file_name().unwrap().to_str().unwrap()));
            } else {
                found.push(entry);
            }
        }
    }
    assert!(!found.is_empty(), "{}: has no module `{module}`", folder.display());
    found
}

/// The modules that a text names behind a path: with `crate::`, those of `crate::name` and
/// `crate::{name, other::thing}`.
pub fn used(text: &str, path: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices(path) {
        if text[..at].ends_with(|c: char| c == '$' || c == ':' || c.is_alphanumeric()) {
            continue;
        }
        let rest = &text[at + path.len()..];
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

/// Where the names come from that a folder's `mod.rs` takes from its modules: a file that uses such a
/// name uses the module.
fn re_exports(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (at, _) in text.match_indices("use ") {
        let statement = text[at + "use ".len()..].split(';').next().unwrap();
        let Some((module, names)) = statement.split_once("::") else { continue };
        let names = names.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty());
        found.extend(names.map(|name| (name.to_owned(), module.trim().to_owned())));
    }
    found
}

/// The modules in a folder, and which of the others each uses.
fn siblings(source: &Path, folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let name = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let modules: BTreeSet<String> =
        entries(folder).iter().map(name).filter(|name| !["mod", "lib"].contains(&name.as_str())).collect();
    let taken = re_exports(&fs::read_to_string(folder.join("mod.rs")).unwrap_or_default());
    let within = folder.strip_prefix(source).unwrap().iter().map(|part| part.to_str().unwrap().to_owned());
    let from_root = format!("crate::{}", within.map(|part| part + "::").collect::<String>());
    let uses = |module: &String| {
        let mut found = BTreeSet::new();
        for file in files(folder, module) {
            let text = read(&file);
            // What stands in the module of tests has another parent.
            let text = text.split("\nmod tests {").next().unwrap();
            let depth = file.strip_prefix(folder).unwrap().iter().count()
                - usize::from(file.file_name().is_some_and(|name| name == "mod.rs"));
            let up = "super::".repeat(depth);
            found.extend(used(text, &up).into_iter().chain(used(text, &from_root)));
        }
        let found = found.into_iter().map(|name| taken.get(&name).cloned().unwrap_or(name));
        found.filter(|name| name != module && modules.contains(name)).collect()
    };
    modules.iter().map(|module| (module.clone(), uses(module))).collect()
}

/// The modules that use each other, directly or not, in groups.
pub fn circles(uses: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<Vec<String>> {
    let reached = |from: &String| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(module) = next.pop() {
            next.extend(uses[module].iter().filter(|other| reached.insert((*other).clone())));
        }
        reached
    };
    let reach: BTreeMap<&String, BTreeSet<String>> = uses.keys().map(|from| (from, reached(from))).collect();
    let circle = |module: &String| {
        let with =
            uses.keys().filter(|other| reach[module].contains(*other) && reach[other].contains(module));
        with.cloned().collect::<Vec<_>>()
    };
    uses.keys().map(circle).filter(|circle| circle.len() > 1).collect()
}

/// The folders of a crate that have modules.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let inner = entries(folder).into_iter().filter(|entry| entry.is_dir());
    inner.flat_map(|entry| [folders(&entry), vec![entry]].concat()).collect()
}

/// Checks the crate whose sources are in a folder.
pub fn check(source: &Path) {
    let layers = layers(source);
    let unlisted: Vec<_> = declared(source).into_iter().filter(|name| !layers.contains(name)).collect();
    assert!(unlisted.is_empty(), "{}: not in the table: {unlisted:?}", source.display());
    assert!(layers.len() > 5, "{}: the table is not where this test looks for it", source.display());
    for (row, module) in layers.iter().enumerate() {
        for file in files(source, module) {
            for other in used(&read(&file), "crate::") {
                let below = layers.iter().position(|layer| *layer == other).is_some_and(|at| at > row);
                assert!(!below, "{}: uses `{other}`, a layer that stands below it", file.display());
            }
        }
    }
    for folder in folders(source) {
        let circles = circles(&siblings(source, &folder));
        assert!(
            circles.is_empty(),
            "{}: modules use each other: {circles:?}\nMove what both need into one of its own.",
            folder.display()
        );
    }
}
