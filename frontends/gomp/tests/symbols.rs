//! What the dynamic linker sees of the staged library: its functions have to be taken for
//! libgomp's by every program of GCC's, and its code must not depend on libgomp.

#[path = "../../frontend/tests/support/shared.rs"]
mod shared;
mod support;

use gangway_commands::stage;
use object::elf;
use shared::Shared;
use std::collections::BTreeSet;
use std::path::Path;

fn staged() -> Shared {
    Shared::read(&stage().join("lib/gangway/libgangway-gomp.so"))
}

/// The committed list: version and name. `VERSION` is that of libomp's names. It asks for some of
/// them behind itself; a library of clang's in a program of GCC's comes to the functions here directly.
fn listed() -> BTreeSet<(&'static str, &'static str)> {
    let lines = include_str!("../exports.txt").lines();
    lines.map(|line| line.split_once(' ').expect("a version and a name")).collect()
}

#[test]
fn the_exports_are_those_of_the_list() {
    let staged = staged();
    let exports = staged.exports.iter();
    let exports = exports.map(|(name, version)| (version.as_deref().unwrap_or("none"), name.as_str()));
    let hidden = staged.hidden.iter().map(|(name, version)| (version.as_str(), name.as_str()));
    assert_eq!(exports.chain(hidden).collect::<BTreeSet<_>>(), listed());
}

/// Names of newer releases than this machine's libgomp are compared with its sources
/// (`releases.rs`).
#[test]
fn programs_ask_for_these_versions() {
    let stock = Shared::read(Path::new(support::STOCK));
    let known: BTreeSet<_> = stock.exports.values().flatten().map(String::as_str).collect();
    let mut compared = 0;
    for (version, name) in listed().into_iter().filter(|(version, _)| known.contains(version)) {
        let found = stock.exports.get(name).unwrap_or_else(|| panic!("libgomp has no {name}"));
        assert_eq!(found.as_deref(), Some(version), "{name}");
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
}

/// It has no code but jumps, each to the library that has all front ends.
#[test]
fn it_leads_to_the_library_with_the_runtime() {
    let staged = staged();
    assert_eq!(staged.needed.iter().filter(|library| library.starts_with("libomptarget")).count(), 1);
    for (_, name) in listed() {
        let import = staged.imports.get(&format!("gangway_gomp_{name}"));
        let version = import.and_then(|(version, _)| version.as_deref());
        assert_eq!(version, Some("GANGWAY_PRIVATE"), "{name}");
    }
}

#[test]
fn it_stays_loaded_and_needs_no_libgomp() {
    let staged = staged();
    assert_eq!(staged.soname.as_deref(), Some("libgangway-gomp.so"));
    assert_ne!(staged.flags_1 & u64::from(elf::DF_1_NODELETE), 0);
    assert!(!staged.needed.iter().any(|library| library.contains("gomp")), "{:?}", staged.needed);
    for (name, (version, weak)) in &staged.imports {
        let version = version.as_deref().unwrap_or_default();
        let from_system = ["GLIBC_", "GCC_", "GANGWAY_"].iter().any(|system| version.starts_with(system));
        assert!(from_system || *weak, "{name} is undefined, and no library's that is there");
    }
    assert!(!staged.has_text_relocations);
}
