//! Offload entry tables: what a program or an image offers to the runtime by name.
//!
//! clang 21 and newer write entries of 56 bytes into `llvm_offload_entries`; clang 20
//! and older wrote 32 bytes into `omp_offloading_entries`. Both are read from linked
//! files and from objects.

use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::host::{Host, Pointer};
use crate::offload_binary::OffloadKind;

const CURRENT: u64 = 56;
const LEGACY: u64 = 32;

/// One section of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table<'a> {
    pub section: &'a str,
    pub layout: Layout,
    /// Where the table starts in the file.
    pub offset: u64,
    pub entries: Vec<Entry<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// 56 bytes, self-describing.
    Current,
    /// 32 bytes: address, name, size, flags, data.
    Legacy,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    pub kind: EntryKind,
    pub offload_kind: OffloadKind,
    pub name: &'a str,
    /// Where the linker put it; unknown in an object.
    pub address: Option<u64>,
    /// 0 for a function.
    pub size: u64,
    pub flags: u32,
    pub data: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A target region, or a kernel of another language.
    Kernel,
    /// A `declare target` variable.
    Global,
    /// `declare target link`: the entry is a pointer to the variable.
    Link,
    /// A function that device code calls through a host pointer.
    Indirect,
    /// A table of virtual functions for indirect calls.
    IndirectTable,
    /// The `requires` clauses of a translation unit.
    Requires,
    /// Runs when the image is loaded.
    Constructor,
    /// Runs when the image is unloaded.
    Destructor,
}

impl EntryKind {
    fn of(offload_kind: OffloadKind, flags: u32, size: u64) -> EntryKind {
        let bit = |mask: u32| flags & mask != 0;
        match offload_kind {
            OffloadKind::OpenMp if bit(0x10) => EntryKind::Requires,
            OffloadKind::OpenMp if bit(0x20) => EntryKind::IndirectTable,
            OffloadKind::OpenMp if bit(0x08) => EntryKind::Indirect,
            OffloadKind::OpenMp if bit(0x02) => EntryKind::Constructor,
            OffloadKind::OpenMp if bit(0x04) => EntryKind::Destructor,
            OffloadKind::OpenMp if bit(0x01) => EntryKind::Link,
            _ if size == 0 => EntryKind::Kernel,
            _ => EntryKind::Global,
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            EntryKind::Kernel => "kernel",
            EntryKind::Global => "global",
            EntryKind::Link => "link",
            EntryKind::Indirect => "indirect",
            EntryKind::IndirectTable => "indirect-table",
            EntryKind::Requires => "requires",
            EntryKind::Constructor => "constructor",
            EntryKind::Destructor => "destructor",
        }
    }
}

/// The entry tables of an ELF file, host or device.
pub fn tables(bytes: &[u8]) -> Result<Vec<Table<'_>>> {
    tables_of(&Host::parse(bytes)?)
}

pub(crate) fn tables_of<'a>(host: &Host<'a>) -> Result<Vec<Table<'a>>> {
    let mut tables = Vec::new();
    for (number, section) in host.sections.iter().enumerate() {
        let current = match section.name {
            "llvm_offload_entries" => true,
            "omp_offloading_entries" => false,
            _ => continue,
        };
        if section.data.is_empty() {
            continue;
        }
        let table = if current { current_table(host, number) } else { legacy_table(host, number) };
        tables.push(table?);
    }
    Ok(tables)
}

fn current_table<'a>(host: &Host<'a>, number: usize) -> Result<Table<'a>> {
    let section = &host.sections[number];
    let data = Bytes(section.data);
    let moved = |error: Error| error.moved_by(section.offset);
    whole(section.data, CURRENT, section.offset)?;
    let mut entries = Vec::new();
    for at in (0..section.data.len() as u64).step_by(CURRENT as usize) {
        let version = data.u16("an entry's version", at + 8).map_err(moved)?;
        if data.u64("an entry", at).map_err(moved)? != 0 || version != 1 {
            return Err(Error::Unsupported {
                what: "an entry's version",
                offset: section.offset + at + 8,
                expected: "version 1",
                found: version.to_string().into(),
            });
        }
        let offload_kind = OffloadKind::from_number(data.u16("an entry's kind", at + 10).map_err(moved)?);
        let flags = data.u32("an entry's flags", at + 12).map_err(moved)?;
        let size = data.u64("an entry's size", at + 32).map_err(moved)?;
        let value = data.u64("an entry's data", at + 40).map_err(moved)?;
        entries.push(entry(host, number, (at + 16, at + 24), offload_kind, size, flags, value)?);
    }
    Ok(Table { section: section.name, layout: Layout::Current, offset: section.offset, entries })
}

fn legacy_table<'a>(host: &Host<'a>, number: usize) -> Result<Table<'a>> {
    let section = &host.sections[number];
    let data = Bytes(section.data);
    let moved = |error: Error| error.moved_by(section.offset);
    whole(section.data, LEGACY, section.offset)?;
    let mut entries = Vec::new();
    for at in (0..section.data.len() as u64).step_by(LEGACY as usize) {
        let size = data.u64("an entry's size", at + 16).map_err(moved)?;
        let flags = data.u32("an entry's flags", at + 24).map_err(moved)?;
        let value = data.u32("an entry's data", at + 28).map_err(moved)?;
        entries.push(entry(host, number, (at, at + 8), OffloadKind::OpenMp, size, flags, value.into())?);
    }
    Ok(Table { section: section.name, layout: Layout::Legacy, offset: section.offset, entries })
}

fn entry<'a>(
    host: &Host<'a>,
    section: usize,
    (address, name): (u64, u64),
    offload_kind: OffloadKind,
    size: u64,
    flags: u32,
    data: u64,
) -> Result<Entry<'a>> {
    let target = host.pointer(section, address)?;
    let name = match host.pointer(section, name)? {
        Pointer::Null => "",
        pointer => host.text(pointer)?.ok_or_else(|| {
            let at = host.sections[section].offset + name;
            Error::malformed("an entry's name", at, "a pointer to text in this file", "a pointer elsewhere")
        })?,
    };
    let kind = EntryKind::of(offload_kind, flags, size);
    Ok(Entry { kind, offload_kind, name, address: host.address(target), size, flags, data })
}

/// A table is a whole number of entries.
fn whole(data: &[u8], entry: u64, offset: u64) -> Result<()> {
    if (data.len() as u64).is_multiple_of(entry) {
        return Ok(());
    }
    let expected = if entry == CURRENT { "a multiple of 56 bytes" } else { "a multiple of 32 bytes" };
    Err(Error::malformed("the offload entry table", offset, expected, format!("{} bytes", data.len())))
}
