//! Tests that the modules of a crate are layers: each uses only those that stand above it in the
//! table of the crate's documentation, and no two in one folder use each other.
//!
//! Called by `tests/layers.rs` of each crate that has such a table. The sources are read
//! ([`paths`]); nothing is compiled. What a folder's `mod.rs` or the crate's root takes from a
//! module, by `use`, is found to be that module's. Libraries that C programs call have [`rooms`], too.

pub mod paths;
pub mod rooms;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use paths::{ItemPath, Use};

/// The modules of one folder, and which of the others each uses.
pub type Siblings = BTreeMap<String, BTreeSet<String>>;

/// Checks the crate in a folder: its table, and the modules of each folder below.
pub fn check(crate_folder: impl AsRef<Path>) {
    let source = crate_folder.as_ref().join("src");
    let root = ["lib.rs", "main.rs"].map(|name| source.join(name)).into_iter().find(|file| file.is_file());
    let root = read(&root.unwrap_or_else(|| panic!("{}: has no root", source.display())));
    let (layers, modules) = (table(&root), Modules::read(&source));
    assert!(!layers.is_empty(), "{}: has no table of modules in its documentation", source.display());
    let (listed, declared): (BTreeSet<_>, BTreeSet<_>) =
        (layers.iter().cloned().collect(), modules.top().collect());
    assert_eq!(listed, declared, "{}: the modules in the table, and those there are", source.display());

    let faults = modules.faults(&layers);
    assert!(
        faults.is_empty(),
        "{}:\n{}\nMove what both need into a module above them, or hand it in as a parameter.",
        source.display(),
        faults.join("\n")
    );
}

/// The modules in the order of the first table: `//! | [`name`] | what |`.
fn table(root: &str) -> Vec<String> {
    let lines = root.lines().map(|line| line.strip_prefix("//! |"));
    let rows = lines.skip_while(Option::is_none).map_while(|row| row.map(str::trim_start));
    rows.filter_map(|row| row.split('`').nth(1).filter(|_| row.starts_with(['[', '`'])))
        .map(str::to_owned)
        .collect()
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The sources in a folder and those inside of it, in order.
#[must_use]
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The modules of a crate, and the paths that each names.
struct Modules {
    uses: BTreeMap<ItemPath, Vec<Use>>,
    /// What a module takes from others by `use`: the module, a name in it, and where that is from.
    taken: BTreeMap<(ItemPath, String), ItemPath>,
}

impl Modules {
    fn read(source: &Path) -> Self {
        let texts = files(source).into_iter().map(|file| {
            let module = paths::module(file.strip_prefix(source).unwrap());
            (module, read(&file))
        });
        Self::new(texts)
    }

    /// Of the texts of modules.
    fn new(texts: impl IntoIterator<Item = (ItemPath, String)>) -> Self {
        let uses: BTreeMap<_, _> =
            texts.into_iter().map(|(module, text)| (module.clone(), paths::uses(&module, &text))).collect();
        let taken = uses.iter().flat_map(|(module, uses)| {
            let imports = uses.iter().filter(|used| used.within == *module);
            imports.filter_map(|used| Some(((module.clone(), used.name.clone()?), used.path.clone())))
        });
        Self { taken: taken.collect(), uses }
    }

    /// The modules that the crate's root declares.
    fn top(&self) -> impl Iterator<Item = String> {
        self.uses.keys().filter(|module| module.len() == 1).map(|module| module[0].clone())
    }

    /// The module that a path is from.
    fn origin(&self, path: &[String]) -> ItemPath {
        let mut path = path.to_vec();
        let mut known = 0;
        // Imports that lead to each other would have no end; no crate has chains as long as this.
        let mut imports = 0;
        while known < path.len() {
            if self.uses.contains_key(&path[..=known]) {
                known += 1;
                continue;
            }
            let taken = self.taken.get(&(path[..known].to_vec(), path[known].clone()));
            let Some(from) = taken.filter(|_| imports < 20) else { break };
            path = [from.as_slice(), &path[known + 1..]].concat();
            (known, imports) = (0, imports + 1);
        }
        path.truncate(known);
        path
    }

    /// Each use of a module by one that stands in the same folder, or below such a one.
    fn among_siblings(&self) -> impl Iterator<Item = Sibling<'_>> {
        let uses = self.uses.iter().flat_map(|(module, uses)| uses.iter().map(move |used| (module, used)));
        uses.filter_map(|(module, used)| {
            let origin = self.origin(&used.path);
            let common = module.iter().zip(&origin).take_while(|(one, other)| one == other).count();
            let (user, other) = (module.get(common)?, origin.get(common)?.clone());
            Some(Sibling { folder: &module[..common], user, other, module, used })
        })
    }

    /// What is wrong with the order of the modules.
    fn faults(&self, layers: &[String]) -> Vec<String> {
        let mut faults = BTreeSet::new();
        let mut folders = BTreeMap::<&[String], Siblings>::new();
        let place = |name: &str| layers.iter().position(|layer| layer == name);
        for Sibling { folder, user, other, module, used } in self.among_siblings() {
            if !folder.is_empty() {
                let siblings = folders.entry(folder).or_default();
                siblings.entry(other.clone()).or_default();
                siblings.entry(user.to_owned()).or_default().insert(other);
            } else if place(&other) > place(user) {
                let (module, used) = (module.join("::"), used.path.join("::"));
                faults.insert(format!("`{module}` uses `{used}` of `{other}`, which stands below it"));
            }
        }
        let mut faults: Vec<_> = faults.into_iter().collect();
        for (folder, siblings) in folders {
            for circle in circles(&siblings) {
                faults.push(format!(
                    "in `{}`, modules use each other: {}",
                    folder.join("::"),
                    told(&circle, &siblings)
                ));
            }
        }
        faults
    }
}

/// A use of a module by another in the same folder.
struct Sibling<'a> {
    folder: &'a [String],
    user: &'a str,
    other: String,
    module: &'a ItemPath,
    used: &'a Use,
}

/// The modules of a circle, each with those that it uses.
fn told(circle: &[String], siblings: &Siblings) -> String {
    let one = |module: &String| {
        let others: Vec<_> =
            siblings[module].iter().filter(|other| circle.contains(other)).cloned().collect();
        format!("{module} -> {}", others.join(", "))
    };
    circle.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The modules that use each other, directly or not, in groups.
#[must_use]
pub fn circles(uses: &Siblings) -> BTreeSet<Vec<String>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[(&str, &str)], faults: &[&str]) {
        let layers = ["one", "two", "three"].map(str::to_owned);
        let texts = texts.iter().map(|(module, text)| (paths::item_path(module), (*text).to_owned()));
        assert_eq!(Modules::new(texts).faults(&layers), faults);
    }

    #[test]
    fn what_points_down_the_table_is_found() {
        check(
            &[
                ("", "mod one; mod two; use two::Thing;"),
                ("one", "use crate::Thing;"),
                ("two", "use super::one::A;"),
            ],
            &["`one` uses `Thing` of `two`, which stands below it"],
        );
        check(
            &[("one", ""), ("one::inner", "fn f() { super::super::two::g() }"), ("two", "")],
            &["`one::inner` uses `two::g` of `two`, which stands below it"],
        );
    }

    #[test]
    fn circles_of_a_folder_are_found_however_they_are_written() {
        check(
            &[
                ("one", "mod a; mod b; mod c; pub use self::c::Thing;"),
                ("one::a", "use crate::{one::{b::B}};"),
                ("one::b", "use super::Thing as Other;"),
                ("one::c", "mod tests { use super::super::a::A; }"),
            ],
            &["in `one`, modules use each other: a -> b; b -> c; c -> a"],
        );
    }

    #[test]
    fn what_points_up_is_fine() {
        let three = "//! [`crate::three`]\nuse crate::{one::A, two}; fn f() { let _ = two::B; }";
        check(&[("one", "use std::fmt;"), ("two", "use crate::one::{self, A};"), ("three", three)], &[]);
        let parent = ("one", "mod a; mod b; use a::A;");
        check(&[parent, ("one::a", "use super::Own;"), ("one::b", "use super::A; use crate::one;")], &[]);
    }

    #[test]
    fn circles_are_found_however_long_they_are() {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let found = |uses: &[(&str, &[&str])]| {
            circles(&uses.iter().map(|&(name, others)| (name.to_owned(), owned(others))).collect())
        };
        assert!(found(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]).is_empty());
        let found = found(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"]), ("d", &["a", "e"]), ("e", &["d"])]);
        let circle = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(found, BTreeSet::from([circle(&["a", "b", "c"]), circle(&["d", "e"])]));
    }

    #[test]
    fn the_table_has_modules_that_are_public_and_not() {
        let root = "//! | module | what |\n//! |---|---|\n//! | [`one`] | a |\n//! | `two` | b |\nmod one;";
        assert_eq!(table(root), ["one", "two"]);
        let another = format!("{root}\n//!\n//! | variable | what |\n//! |---|---|\n//! | `HOME` | c |");
        assert_eq!(table(&another), ["one", "two"]);
    }
}
