//! ELF files with their pointers resolved, linked or not.
//!
//! Tables that compilers leave in a program are full of pointers. In a linked file
//! those are addresses, often only known from dynamic relocations; in an object file
//! they are relocations against sections and symbols. This module makes both look
//! the same: a pointer leads to a section and an offset in it.

use std::collections::HashMap;

use object::read::elf::{ElfFile64, FileHeader};
use object::{
    LittleEndian, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, Relocation, RelocationTarget,
    SectionFlags, SectionIndex, elf,
};

use crate::bytes::{Bytes, offset_in};
use crate::elf::Elf;
use crate::error::{Error, Result};

type File<'a> = ElfFile64<'a, LittleEndian>;

/// The section of CUDA compilers' registration records.
pub const CUDA_WRAPPERS: &str = ".nvFatBinSegment";

/// Sections whose relocations are read in object files.
const TABLES: [&str; 5] = [
    "llvm_offload_entries",
    "omp_offloading_entries",
    ".gnu.offload_funcs",
    ".gnu.offload_vars",
    CUDA_WRAPPERS,
];

/// An ELF file of either machine, opened for reading tables.
pub struct Host<'a> {
    pub file: File<'a>,
    pub sections: Vec<Section<'a>>,
    /// Indexes of loaded sections by address; empty for object files.
    by_address: Vec<usize>,
    /// What the linker or the loader would put at (section, offset).
    relocated: HashMap<(usize, u64), Pointer<'a>>,
}

pub struct Section<'a> {
    pub name: &'a str,
    /// Empty for sections without content in the file.
    pub data: &'a [u8],
    /// Where `data` is in the file.
    pub offset: u64,
    pub address: u64,
    pub size: u64,
    index: SectionIndex,
}

/// What a pointer field of a table points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer<'a> {
    Null,
    /// An offset in one of [`Host::sections`]; object files may name the symbol.
    Inside {
        section: usize,
        offset: u64,
        symbol: Option<&'a str>,
    },
    /// A symbol that another file defines.
    External(&'a str),
    /// An address in no section.
    Nowhere(u64),
}

impl<'a> Host<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Host<'a>> {
        // Truncation is told better by our own check of the headers.
        Elf::parse(bytes)?;
        let file = File::parse(bytes).map_err(|error| malformed("the ELF file", 0, error))?;
        let mut sections = Vec::new();
        for section in file.sections() {
            let data = section.data().unwrap_or_default();
            sections.push(Section {
                name: section.name().unwrap_or_default(),
                data,
                offset: if data.is_empty() { 0 } else { offset_in(bytes, data) },
                address: section.address(),
                size: section.size(),
                index: section.index(),
            });
        }
        let mut host = Host { file, sections, by_address: Vec::new(), relocated: HashMap::new() };
        if host.is_object() {
            host.read_static_relocations();
        } else {
            host.sort_by_address();
            host.read_dynamic_relocations();
        }
        Ok(host)
    }

    pub fn is_object(&self) -> bool {
        self.file.elf_header().e_type(LittleEndian) == elf::ET_REL
    }

    /// Sections of this name, with their numbers.
    pub fn named<'h>(&'h self, name: &'h str) -> impl Iterator<Item = (usize, &'h Section<'a>)> {
        self.sections.iter().enumerate().filter(move |(_, section)| section.name == name)
    }

    /// The pointer stored at an offset of a section.
    pub fn pointer(&self, section: usize, offset: u64) -> Result<Pointer<'a>> {
        if let Some(target) = self.relocated.get(&(section, offset)) {
            return Ok(*target);
        }
        let word = Bytes(self.sections[section].data)
            .u64("a pointer", offset)
            .map_err(|error| error.moved_by(self.sections[section].offset))?;
        Ok(self.resolve(word))
    }

    /// The content from a pointer to the end of its section.
    pub fn content(&self, pointer: Pointer<'a>) -> Option<&'a [u8]> {
        let Pointer::Inside { section, offset, .. } = pointer else { return None };
        self.sections[section].data.get(usize::try_from(offset).ok()?..)
    }

    /// The text that a pointer leads to.
    pub fn text(&self, pointer: Pointer<'a>) -> Result<Option<&'a str>> {
        let Pointer::Inside { section, offset, .. } = pointer else { return Ok(None) };
        let section = &self.sections[section];
        Bytes(section.data).text("a name", offset).map(Some).map_err(|error| error.moved_by(section.offset))
    }

    /// Where a pointer leads in the program's address space; objects have none yet.
    pub fn address(&self, pointer: Pointer<'a>) -> Option<u64> {
        if self.is_object() {
            return None;
        }
        match pointer {
            Pointer::Inside { section, offset, .. } => {
                Some(self.sections[section].address.wrapping_add(offset))
            }
            Pointer::Nowhere(address) => Some(address),
            Pointer::Null | Pointer::External(_) => None,
        }
    }

    fn resolve(&self, address: u64) -> Pointer<'a> {
        if address == 0 {
            return Pointer::Null;
        }
        let behind = self.by_address.partition_point(|&at| self.sections[at].address <= address);
        // An address may be one past a section's end, as the end of a table is.
        let found = self.by_address[..behind].iter().rev().take(2).find(|&&at| {
            let section = &self.sections[at];
            address - section.address <= section.size
        });
        match found {
            Some(&section) => {
                Pointer::Inside { section, offset: address - self.sections[section].address, symbol: None }
            }
            None => Pointer::Nowhere(address),
        }
    }

    fn sort_by_address(&mut self) {
        let loaded = |section: &Section<'_>| {
            let flags = self.file.section_by_index(section.index).map(|section| section.flags());
            matches!(flags, Ok(SectionFlags::Elf { sh_flags }) if sh_flags & u64::from(elf::SHF_ALLOC) != 0
                && sh_flags & u64::from(elf::SHF_TLS) == 0)
        };
        let mut order: Vec<usize> =
            (0..self.sections.len()).filter(|&at| loaded(&self.sections[at])).collect();
        order.sort_by_key(|&at| self.sections[at].address);
        self.by_address = order;
    }

    fn read_dynamic_relocations(&mut self) {
        let mut relocated = HashMap::new();
        for (address, relocation) in self.file.dynamic_relocations().into_iter().flatten() {
            let Pointer::Inside { section, offset, .. } = self.resolve(address) else { continue };
            relocated.insert((section, offset), self.dynamic_target(&relocation));
        }
        self.relocated = relocated;
    }

    fn dynamic_target(&self, relocation: &Relocation) -> Pointer<'a> {
        let addend = relocation.addend() as u64;
        let RelocationTarget::Symbol(index) = relocation.target() else {
            return self.resolve(addend);
        };
        let symbol = self.file.dynamic_symbol_table().and_then(|table| table.symbol_by_index(index).ok());
        match symbol {
            Some(symbol) if symbol.is_undefined() => Pointer::External(symbol.name().unwrap_or_default()),
            Some(symbol) => self.resolve(symbol.address().wrapping_add(addend)),
            None => Pointer::Null,
        }
    }

    fn read_static_relocations(&mut self) {
        // Object files number sections from 1, without a gap; ours may skip the first.
        let numbers: HashMap<SectionIndex, usize> =
            self.sections.iter().enumerate().map(|(at, section)| (section.index, at)).collect();
        let mut relocated = HashMap::new();
        for (at, section) in self.sections.iter().enumerate() {
            if !TABLES.contains(&section.name) {
                continue;
            }
            let Ok(section) = self.file.section_by_index(section.index) else { continue };
            for (offset, relocation) in section.relocations() {
                let RelocationTarget::Symbol(index) = relocation.target() else { continue };
                let Ok(symbol) = self.file.symbol_by_index(index) else { continue };
                let name = symbol.name().unwrap_or_default();
                let target = match symbol.section_index().and_then(|index| numbers.get(&index)) {
                    Some(&section) => Pointer::Inside {
                        section,
                        offset: symbol.address().wrapping_add(relocation.addend() as u64),
                        symbol: (!name.is_empty()).then_some(name),
                    },
                    None => Pointer::External(name),
                };
                relocated.insert((at, offset), target);
            }
        }
        self.relocated = relocated;
    }
}

/// The libraries that a linked file asks the loader for (`DT_NEEDED`).
pub fn needed_libraries(bytes: &[u8]) -> Result<Vec<&str>> {
    dynamic_texts(bytes, &[elf::DT_NEEDED])
}

/// The library directories that a linked file names itself, `DT_RPATH` first and
/// `DT_RUNPATH` second, each as a colon-separated list.
pub fn search_paths(bytes: &[u8]) -> Result<(Option<&str>, Option<&str>)> {
    let first = |tag| dynamic_texts(bytes, &[tag]).map(|texts| texts.first().copied());
    Ok((first(elf::DT_RPATH)?, first(elf::DT_RUNPATH)?))
}

fn dynamic_texts<'a>(bytes: &'a [u8], tags: &[i64]) -> Result<Vec<&'a str>> {
    Elf::parse(bytes)?;
    let file = File::parse(bytes).map_err(|error| malformed("the ELF file", 0, error))?;
    // By program headers: a program without section headers still runs.
    let header = file.elf_header();
    let segments = header
        .program_headers(LittleEndian, bytes)
        .map_err(|error| malformed("the program headers", 32, error))?;
    let mut texts = Vec::new();
    let Some(entries) = segments.iter().find_map(|segment| dynamic_entries(segment, bytes)) else {
        return Ok(texts);
    };
    let value = |tag: i64| entries.iter().find(|(known, _)| *known == tag as u64).map(|(_, value)| *value);
    let Some(table) = value(elf::DT_STRTAB).and_then(|address| at_address(segments, bytes, address)) else {
        return Ok(texts);
    };
    for (tag, offset) in &entries {
        if tags.iter().any(|wanted| *wanted as u64 == *tag) {
            let text = Bytes(table).text("a name in the dynamic section", *offset);
            texts.push(text.map_err(|error| error.moved_by(offset_in(bytes, table)))?);
        }
    }
    Ok(texts)
}

fn dynamic_entries(segment: &elf::ProgramHeader64<LittleEndian>, bytes: &[u8]) -> Option<Vec<(u64, u64)>> {
    if segment.p_type.get(LittleEndian) != elf::PT_DYNAMIC {
        return None;
    }
    let (offset, size) = (segment.p_offset.get(LittleEndian), segment.p_filesz.get(LittleEndian));
    let data = Bytes(bytes).slice("the dynamic section", offset, size).ok()?;
    let word = |at: &[u8]| u64::from_le_bytes(at.try_into().unwrap_or_default());
    let pairs = data.chunks_exact(16).map(|entry| (word(&entry[..8]), word(&entry[8..])));
    Some(pairs.take_while(|(tag, _)| *tag != 0).collect())
}

fn at_address<'a>(
    segments: &[elf::ProgramHeader64<LittleEndian>],
    bytes: &'a [u8],
    address: u64,
) -> Option<&'a [u8]> {
    let segment = segments.iter().find(|segment| {
        let start = segment.p_vaddr.get(LittleEndian);
        segment.p_type.get(LittleEndian) == elf::PT_LOAD
            && address >= start
            && address - start < segment.p_filesz.get(LittleEndian)
    })?;
    let into = address - segment.p_vaddr.get(LittleEndian);
    let offset = segment.p_offset.get(LittleEndian).checked_add(into)?;
    bytes.get(usize::try_from(offset).ok()?..)
}

fn malformed(what: &'static str, offset: u64, error: object::Error) -> Error {
    Error::malformed(what, offset, "a well-formed one", format!("unreadable ({error})"))
}
