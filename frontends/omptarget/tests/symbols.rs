//! What the dynamic linker sees of the staged library: it has to be taken for
//! the stock one by every program that was linked with that.

mod support;

use object::read::elf::{ElfFile64, FileHeader, SectionHeader, Sym};
use object::{Endianness, elf};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A shared library's dynamic section and symbols.
struct Shared {
    soname: Option<String>,
    needed: BTreeSet<String>,
    flags_1: u64,
    /// Defined symbols with their versions.
    exports: BTreeMap<String, Option<String>>,
    /// Undefined symbols: version, and whether the library can do without.
    imports: BTreeMap<String, (Option<String>, bool)>,
    has_text_relocations: bool,
}

impl Shared {
    fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file = ElfFile64::<Endianness>::parse(&*bytes).unwrap();
        let (endian, data) = (file.endian(), &*bytes);
        let sections = file.elf_header().sections(endian, data).unwrap();
        let (dynamic, link) = sections
            .iter()
            .find_map(|section| section.dynamic(endian, data).unwrap())
            .expect("a shared library has a dynamic section");
        let strings = sections.strings(endian, data, link).unwrap();
        let text = |offset: u64| {
            String::from_utf8(strings.get(offset as u32).expect("a string's offset").to_vec()).unwrap()
        };
        let entries = |tag: i64| {
            dynamic
                .iter()
                .filter(move |entry| entry.d_tag.get(endian) == tag)
                .map(move |entry| entry.d_val.get(endian))
        };
        let symbols = sections.symbols(endian, data, elf::SHT_DYNSYM).unwrap();
        let versions = sections.versions(endian, data).unwrap().expect("a versioned library");
        let (mut exports, mut imports) = (BTreeMap::new(), BTreeMap::new());
        for (index, symbol) in symbols.enumerate() {
            let name = String::from_utf8(symbol.name(endian, symbols.strings()).unwrap().to_vec()).unwrap();
            let version_index = versions.version_index(endian, index);
            let version = versions.version(version_index).unwrap();
            let version = version.map(|version| String::from_utf8(version.name().to_vec()).unwrap());
            if name.is_empty() || symbol.st_type() == elf::STT_SECTION {
                continue;
            }
            if symbol.is_undefined(endian) {
                imports.insert(name, (version, symbol.st_bind() == elf::STB_WEAK));
            } else if symbol.st_shndx(endian) != elf::SHN_ABS {
                exports.insert(name, version);
            }
        }
        Self {
            soname: entries(elf::DT_SONAME).next().map(text),
            needed: entries(elf::DT_NEEDED).map(text).collect(),
            flags_1: entries(elf::DT_FLAGS_1).next().unwrap_or(0),
            exports,
            imports,
            has_text_relocations: entries(elf::DT_TEXTREL).next().is_some(),
        }
    }

    fn staged() -> Self {
        Self::read(&support::staged().join("libomptarget.so.22.1"))
    }

    fn names(&self) -> BTreeSet<&str> {
        self.exports.keys().map(String::as_str).collect()
    }
}

/// The committed list.
fn listed() -> BTreeSet<&'static str> {
    include_str!("../exports.txt").lines().filter(|line| !line.is_empty()).collect()
}

#[test]
fn the_exports_are_those_of_the_list() {
    assert_eq!(Shared::staged().names(), listed());
}

#[test]
fn the_list_is_the_stock_librarys() {
    assert_eq!(Shared::read(Path::new(support::STOCK)).names(), listed());
}

#[test]
fn every_export_has_the_version_programs_ask_for() {
    for (name, version) in Shared::staged().exports {
        assert_eq!(version.as_deref(), Some("VERS1.0"), "{name}");
    }
}

#[test]
fn the_soname_is_the_stock_librarys() {
    let stock = Shared::read(Path::new(support::STOCK)).soname;
    assert_eq!(stock.as_deref(), Some("libomptarget.so.22.1"));
    assert_eq!(Shared::staged().soname, stock);
}

#[test]
fn it_stays_loaded() {
    // Threads keep their spares in thread-local data of the library, and `atexit`
    // its functions.
    assert_ne!(Shared::staged().flags_1 & u64::from(elf::DF_1_NODELETE), 0);
}

#[test]
fn it_needs_the_c_library_and_nothing_else() {
    let shared = Shared::staged();
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
