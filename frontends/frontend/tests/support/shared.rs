//! What the dynamic linker sees of a shared library.

use object::read::elf::{ElfFile64, FileHeader, SectionHeader, Sym};
use object::{Endianness, elf};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A shared library's dynamic section and symbols.
#[allow(dead_code, reason = "each front end looks at its part")]
pub struct Shared {
    pub soname: Option<String>,
    pub needed: BTreeSet<String>,
    pub flags_1: u64,
    /// Defined symbols with their versions.
    pub exports: BTreeMap<String, Option<String>>,
    /// Other versions of them, for programs that ask for one by name.
    pub hidden: BTreeSet<(String, String)>,
    /// Undefined symbols: version, and whether the library can do without.
    pub imports: BTreeMap<String, (Option<String>, bool)>,
    pub has_text_relocations: bool,
}

#[allow(dead_code, reason = "each front end looks at its part")]
impl Shared {
    pub fn read(path: &Path) -> Self {
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
        let (mut exports, mut imports, mut hidden) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
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
            } else if version_index.is_hidden() {
                hidden.insert((name, version.unwrap_or_default()));
            } else if symbol.st_shndx(endian) != elf::SHN_ABS {
                exports.insert(name, version);
            }
        }
        Self {
            soname: entries(elf::DT_SONAME).next().map(text),
            needed: entries(elf::DT_NEEDED).map(text).collect(),
            flags_1: entries(elf::DT_FLAGS_1).next().unwrap_or(0),
            exports,
            hidden,
            imports,
            has_text_relocations: entries(elf::DT_TEXTREL).next().is_some(),
        }
    }

    /// The names that it exports.
    pub fn names(&self) -> BTreeSet<&str> {
        self.exports.keys().map(String::as_str).collect()
    }
}
