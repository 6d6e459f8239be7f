//! What the dynamic linker sees of the staged library: its functions have to be taken for
//! libgomp's by every program of GCC's, and its code must not depend on libgomp.

#[path = "../../openmp/tests/support/shared.rs"]
mod shared;
mod support;

use object::elf;
use shared::Shared;
use std::collections::BTreeSet;
use std::path::Path;

fn staged() -> Shared {
    Shared::read(&support::stage().join("lib/gangway/libgangway-gomp.so"))
}

/// The committed list: version and name.
fn listed() -> BTreeSet<(&'static str, &'static str)> {
    let lines = include_str!("../exports.txt").lines();
    lines.map(|line| line.split_once(' ').expect("a version and a name")).collect()
}

#[test]
fn the_exports_are_those_of_the_list() {
    let staged = staged();
    let exports = staged.exports.iter();
    let found: BTreeSet<_> =
        exports.map(|(name, version)| (version.as_deref().unwrap_or("none"), name.as_str())).collect();
    assert_eq!(found, listed());
}

#[test]
fn programs_ask_for_these_versions() {
    let stock = Shared::read(Path::new(support::STOCK));
    for (version, name) in listed() {
        let found = stock.exports.get(name).unwrap_or_else(|| panic!("libgomp has no {name}"));
        assert_eq!(found.as_deref(), Some(version), "{name}");
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
        let from_system = version.starts_with("GLIBC_") || version.starts_with("GCC_");
        assert!(from_system || *weak, "{name} is undefined, and no system library's");
    }
    assert!(!staged.has_text_relocations);
}
