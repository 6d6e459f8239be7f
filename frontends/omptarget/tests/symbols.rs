//! What the dynamic linker sees of the staged library: it has to be taken for
//! the stock one by every program that was linked with that.

#[path = "../../openmp/tests/support/shared.rs"]
mod shared;
mod support;

use object::elf;
use shared::Shared;
use std::collections::BTreeSet;
use std::path::Path;

fn staged() -> Shared {
    Shared::read(&support::staged().join("libomptarget.so.22.1"))
}

/// The committed list.
fn listed() -> BTreeSet<&'static str> {
    include_str!("../exports.txt").lines().filter(|line| !line.is_empty()).collect()
}

/// The names by which libraries of ours that stand before other ones lead to this one.
const PRIVATE: &str = "GANGWAY_PRIVATE";

/// The version of a name that programs may ask for, and the name.
fn exports(shared: &Shared) -> impl Iterator<Item = (&str, Option<&str>)> {
    let all = shared.exports.iter().map(|(name, version)| (name.as_str(), version.as_deref()));
    all.filter(|(_, version)| *version != Some(PRIVATE))
}

#[test]
fn the_exports_are_those_of_the_list() {
    let staged = staged();
    assert_eq!(exports(&staged).map(|(name, _)| name).collect::<BTreeSet<_>>(), listed());
}

/// What another library leads to here is no name that a program could ask for.
#[test]
fn private_exports_have_names_of_our_own() {
    let staged = staged();
    let private = staged.exports.iter().filter(|(_, version)| version.as_deref() == Some(PRIVATE));
    let names: Vec<_> = private.map(|(name, _)| name).collect();
    assert!(!names.is_empty() && names.iter().all(|name| name.starts_with("gangway_")), "{names:?}");
}

/// Names of Gangway's own come on top: device calls of the host.
#[test]
fn the_list_is_the_stock_librarys() {
    let is_ours = |name: &&str| name.trim_start_matches('_').starts_with("gangway_");
    let (ours, theirs): (BTreeSet<&str>, BTreeSet<&str>) = listed().into_iter().partition(is_ours);
    assert_eq!(Shared::read(Path::new(support::STOCK)).names(), theirs);
    assert!(ours.contains("gangway_host_call"), "{ours:?}");
}

#[test]
fn every_export_has_the_version_programs_ask_for() {
    let staged = staged();
    for (name, version) in exports(&staged) {
        assert_eq!(version, Some("VERS1.0"), "{name}");
    }
}

#[test]
fn the_soname_is_the_stock_librarys() {
    let stock = Shared::read(Path::new(support::STOCK)).soname;
    assert_eq!(stock.as_deref(), Some("libomptarget.so.22.1"));
    assert_eq!(staged().soname, stock);
}

#[test]
fn it_stays_loaded() {
    // Threads keep their spares in thread-local data of the library, and `atexit`
    // its functions.
    assert_ne!(staged().flags_1 & u64::from(elf::DF_1_NODELETE), 0);
}

#[test]
fn it_needs_the_c_library_and_nothing_else() {
    let shared = staged();
    let system =
        ["libc.so.6", "libm.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"];
    for library in &shared.needed {
        assert!(system.contains(&library.as_str()), "needs {library}");
    }
    for (name, (version, weak)) in &shared.imports {
        let from_system = version
            .as_deref()
            .is_some_and(|version| version.starts_with("GLIBC_") || version.starts_with("GCC_"));
        assert!(from_system || *weak, "{name} is undefined, and no system library's");
    }
    assert!(!shared.has_text_relocations);
}
