//! What the dynamic linker sees of the staged library: it has to be taken for
//! the stock one by every program that was linked with that.

#[path = "../../frontend/tests/support/shared.rs"]
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

/// A name of LLVM's library, of `releases.txt`.
struct Name {
    name: &'static str,
    first: u32,
    last: Option<u32>,
    /// Why Gangway's library lacks it.
    lacking: Option<&'static str>,
}

impl Name {
    fn is_in(&self, release: u32) -> bool {
        self.first <= release && self.last.is_none_or(|last| release <= last)
    }
}

/// The releases, and the names.
fn releases() -> (Vec<u32>, Vec<Name>) {
    let number = |text: &str| text.parse::<u32>().unwrap_or_else(|_| panic!("{text} is no release"));
    let mut releases = Vec::new();
    let mut names = Vec::new();
    let lines = include_str!("../releases.txt").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let (entry, lacking) = match line.split_once(" # ") {
            Some((entry, why)) => (entry, Some(why)),
            None => (line, None),
        };
        let (span, name) = entry.split_once(' ').unwrap();
        if span == "releases" {
            releases = name.split(' ').map(number).collect();
            continue;
        }
        let (first, last) = match span.split_once('-') {
            Some((first, last)) => (first, Some(number(last))),
            None => (span, None),
        };
        names.push(Name { name, first: number(first), last, lacking });
    }
    (releases, names)
}

/// What images for CPUs are linked with, and no library of LLVM's has.
const MISSING_IN_LLVM: &str = "__llvm_omp_indirect_call_lookup";

/// How the names begin of what code calls that `gangway cc --check` has made to tell its accesses.
const TELLS_ACCESSES: [&str; 3] = ["__sanitizer_cov_load", "__sanitizer_cov_store", "__wrap_mem"];

/// Names of Gangway's own come on top: device calls of the host, OpenACC's routines, what tells accesses, and what LLVM
/// forgot.
#[test]
fn the_list_has_the_names_of_every_release() {
    let is_ours = |name: &&str| {
        name.trim_start_matches('_').starts_with("gangway_")
            || name.starts_with("acc_")
            || TELLS_ACCESSES.iter().any(|start| name.starts_with(start))
    };
    let (ours, theirs): (BTreeSet<&str>, BTreeSet<&str>) = listed().into_iter().partition(is_ours);
    let (_, names) = releases();
    let wanted = names.iter().filter(|n| n.lacking.is_none()).map(|n| n.name);
    assert_eq!(theirs, wanted.chain([MISSING_IN_LLVM]).collect());
    assert!(ours.contains("gangway_host_call"), "{ours:?}");
}

/// As far as LLVM's own libraries are installed; the others are told.
#[test]
fn each_release_has_the_names_that_are_listed_for_it() {
    let (releases, names) = releases();
    let mut compared = Vec::new();
    for release in releases {
        let library = format!("/usr/lib/llvm-{release}/lib/libomptarget.so.{release}.1");
        if !Path::new(&library).exists() {
            println!("left out: LLVM {release}, as there is no {library}");
            continue;
        }
        let listed: BTreeSet<&str> = names.iter().filter(|n| n.is_in(release)).map(|n| n.name).collect();
        let shared = Shared::read(Path::new(&library));
        // Debian 12's library of LLVM 19 has let two variables of its own out.
        let names: BTreeSet<&str> = shared.names().into_iter().filter(|n| !n.starts_with("_Z")).collect();
        assert_eq!(names, listed, "LLVM {release}");
        compared.push(release);
    }
    assert!(compared.contains(&22), "only {compared:?} were compared: liboffload-22 is missing");
}

/// Programs of a release ask for a library of its name.
#[test]
fn the_library_answers_to_the_name_of_every_release() {
    let staged = support::staged();
    let library = staged.join("libomptarget.so.22.1").canonicalize().unwrap();
    for release in releases().0 {
        let name = staged.join(format!("libomptarget.so.{release}.1"));
        assert_eq!(name.canonicalize().ok().as_ref(), Some(&library), "{}", name.display());
    }
}

/// The page says what differs, and so has to name all that does.
#[test]
fn the_page_about_releases_names_what_differs() {
    let page = include_str!("../../../docs/clang-releases.md");
    let (releases, names) = releases();
    for release in &releases {
        assert!(page.contains(&format!("`libomptarget.so.{release}.1`")), "LLVM {release}");
    }
    let differs = |name: &&Name| name.last.is_some() || name.first != releases[0];
    for name in names.iter().filter(differs) {
        let row =
            page.lines().find(|line| line.starts_with('|') && line.contains(&format!("`{}`", name.name)));
        let row = row.unwrap_or_else(|| panic!("docs/clang-releases.md has no row with `{}`", name.name));
        let since = match name.last {
            None => format!("| {} ", name.first),
            Some(last) if last == name.first => format!("| {last} only "),
            Some(last) => format!("| {} to {last} ", name.first),
        };
        assert!(row.starts_with(&since), "{row}: it is in {since}");
    }
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
