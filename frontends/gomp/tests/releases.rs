//! What each release of libgomp exports, and who answers it: `releases.txt` and the page in `docs`.
//!
//! The list is made of the releases' own `libgomp.map`, and the tables of the page of the list. With
//! `GANGWAY_BLESS=1` both are written anew. Sources are looked for in the folder that
//! `GANGWAY_GCC_SOURCES` names (`gcc-16*/libgomp/libgomp.map`), and in Debian's packages
//! `gcc-N-source`; a release without any is left out, which is said.

#[path = "../../frontend/tests/support/shared.rs"]
mod shared;
mod support;

use gangway_commands::{Run, is_blessing};
use shared::Shared;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The releases whose names are listed.
const RELEASES: RangeInclusive<u8> = 12..=16;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gcc-releases.md");
const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/releases.txt");

/// What stands around the part of the page that is written here.
const BEGIN: &str = "<!-- names: written by frontends/gomp/tests/releases.rs -->\n";
const END: &str = "<!-- end of names -->\n";

/// A name with its version.
type Name = (String, String);

/// The names that programs call, in a version script of libgomp's.
fn names(script: &str) -> BTreeSet<Name> {
    let mut names = BTreeSet::new();
    let mut version = "";
    for line in script.lines().map(str::trim) {
        if let Some(node) = line.strip_suffix('{') {
            version = node.trim();
        } else if let Some(name) = line.strip_suffix(';')
            && !version.starts_with("GOMP_PLUGIN_")
            && ["GOMP_", "GOACC_", "omp_", "acc_"].iter().any(|prefix| name.starts_with(prefix))
        {
            names.insert((version.to_owned(), name.to_owned()));
        }
    }
    names
}

/// The version script of a release, if its sources are here.
fn script(release: u8) -> Option<String> {
    if let Some(folder) = std::env::var_os("GANGWAY_GCC_SOURCES") {
        let start = format!("gcc-{release}");
        let mut folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let found = folders.find(|path| path.file_name().unwrap().to_string_lossy().starts_with(&start))?;
        return Some(std::fs::read_to_string(found.join("libgomp/libgomp.map")).unwrap());
    }
    let package = PathBuf::from(format!("/usr/src/gcc-{release}"));
    let mut files = std::fs::read_dir(&package).ok()?.map(|entry| entry.unwrap().path());
    let tarball = files.find(|path| path.to_string_lossy().ends_with("-dfsg.tar.xz"))?;
    let tar = Command::new("tar")
        .args(["--extract", "--to-stdout", "--wildcards", "--file"])
        .arg(&tarball)
        .arg("*/libgomp/libgomp.map")
        .run();
    Some(tar.succeeded().stdout)
}

/// The committed list: each name with the releases that list it.
fn listed() -> BTreeMap<Name, RangeInclusive<u8>> {
    let text = std::fs::read_to_string(LIST).unwrap();
    let line = |line: &str| {
        let [version, name, first, last] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        ((version.to_owned(), name.to_owned()), first.parse().unwrap()..=last.parse().unwrap())
    };
    text.lines().map(line).collect()
}

#[test]
fn the_list_is_that_of_the_sources() {
    let found: BTreeMap<u8, BTreeSet<Name>> =
        RELEASES.filter_map(|release| Some((release, names(&script(release)?)))).collect();
    for release in RELEASES.filter(|release| !found.contains_key(release)) {
        eprintln!(
            "left out: the names of GCC {release}, whose package gcc-{release}-source is not installed"
        );
    }
    if is_blessing() && found.len() == RELEASES.count() {
        let all: BTreeSet<&Name> = found.values().flatten().collect();
        let line = |name: &Name| {
            let has: Vec<u8> = RELEASES.filter(|release| found[release].contains(name)).collect();
            format!("{} {} {} {}\n", name.0, name.1, has[0], has[has.len() - 1])
        };
        std::fs::write(LIST, all.into_iter().map(line).collect::<String>()).unwrap();
    }
    let listed = listed();
    for (release, names) in found {
        let expected = listed.iter().filter(|(_, releases)| releases.contains(&release));
        assert_eq!(names, expected.map(|(name, _)| name.clone()).collect(), "GCC {release}");
    }
}

/// What a library of this machine exports is what the list says of its release.
#[test]
fn the_list_is_true_of_the_library_here() {
    let stock = Shared::read(Path::new(support::STOCK));
    let listed = listed();
    let exported = |name: &Name| stock.exports.get(&name.1).is_some_and(|it| it.as_deref() == Some(&name.0));
    // Names that are declared and that no source defines until GCC 15.
    let is_missing = |name: &Name| name.0 == "OACC_2.5" && name.1.contains("_finalize_async_");
    // The newest release of which all is there.
    let release = RELEASES.rev().find(|release| {
        let mut of_release = listed.iter().filter(|(_, releases)| releases.contains(release));
        of_release.all(|(name, _)| exported(name) || is_missing(name) || name.1.contains("_lock"))
    });
    let release = release.expect("libgomp has the names of some release");
    let unknown = stock.exports.iter().filter(|(name, version)| {
        let version = version.as_deref().unwrap_or_default();
        let is_plugins = version.starts_with("GOMP_PLUGIN_");
        let known = listed.get(&(version.to_owned(), (*name).clone()));
        !is_plugins && known.is_none_or(|releases| !releases.contains(&release))
    });
    assert_eq!(unknown.map(|(name, _)| name).collect::<Vec<_>>(), [""; 0], "GCC {release}");
}

/// The crate of each exported function.
fn crates() -> BTreeMap<String, &'static str> {
    let source = include_str!("../src/exports.rs");
    let mut crates = BTreeMap::new();
    for statement in source.split_once("export! {").unwrap().1.split(';') {
        let Some((module, names)) = statement.rsplit_once(':') else { continue };
        let module =
            module.rsplit(|it: char| !(it.is_alphanumeric() || it == '_')).next().unwrap_or_default();
        let home = match module {
            "memory" | "devices" | "asynchronous" => "openmp",
            "acc_data" | "acc_memory" | "acc_present" | "acc_device" | "acc_end" | "acc_waits"
            | "acc_property" | "acc_interop" | "profiling" => "openacc",
            _ => "gomp",
        };
        for name in names.split(',').map(|name| name.trim().trim_end_matches("<Libgomp>")) {
            crates.insert(name.to_owned(), home);
        }
    }
    crates
}

/// Every name that is exported is libgomp's, with its version, and the list of exports has it.
#[test]
fn what_is_exported_is_listed() {
    let listed = listed();
    let crates = crates();
    for line in include_str!("../exports.txt").lines() {
        let (version, name) = line.split_once(' ').unwrap();
        if version != "VERSION" {
            assert!(listed.contains_key(&(version.to_owned(), name.to_owned())), "{line}");
        }
        assert!(crates.contains_key(name), "{name} stands in no statement of exports.rs");
    }
}

/// The tables of the page.
fn tables() -> String {
    let crates = crates();
    let exports: BTreeSet<&str> = include_str!("../exports.txt").lines().collect();
    // Release, then version: who answers, and what.
    let mut rows: BTreeMap<(u8, String), BTreeMap<&str, Vec<String>>> = BTreeMap::new();
    for ((version, name), releases) in listed() {
        let is_exported = exports.contains(format!("{version} {name}").as_str());
        let home = if is_exported { crates[&name] } else { "libgomp" };
        let until = match *releases.end() {
            last if last < *RELEASES.end() => format!(" (until GCC {last})"),
            _ => String::new(),
        };
        let row = rows.entry((*releases.start(), version)).or_default();
        row.entry(home).or_default().push(format!("`{name}`{until}"));
    }
    let mut text = String::new();
    for release in RELEASES {
        let of_release: Vec<_> = rows.iter().filter(|((first, _), _)| *first == release).collect();
        if of_release.is_empty() {
            continue;
        }
        let since = if release == *RELEASES.start() { "in" } else { "new in" };
        text += &format!(
            "\n### Names {since} GCC {release}\n\n| version | answered by | names |\n|---|---|---|\n"
        );
        for ((_, version), homes) in of_release {
            for (home, names) in homes {
                let home = if *home == "libgomp" { "libgomp" } else { &format!("`frontends/{home}`") };
                text += &format!("| {version} | {home} | {} |\n", names.join(", "));
            }
        }
    }
    text + "\n"
}

#[test]
fn the_page_has_the_list() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("where the tables begin");
    let (written, after) = rest.split_once(END).expect("where the tables end");
    let tables = tables();
    if is_blessing() {
        return std::fs::write(PAGE, format!("{before}{BEGIN}{tables}{END}{after}")).unwrap();
    }
    assert!(written == tables, "docs/gcc-releases.md is old: run this test with GANGWAY_BLESS=1");
}
