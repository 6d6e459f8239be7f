//! A front end for tables of items like GCC's: addresses, sizes and kinds in three
//! arrays, which are read where they are.
//!
//! The numbers are those of GCC's `gomp-constants.h`. A size is the number of members of
//! a structure, and of a pointer the distance from where it points to the section.

use crate::program::Entry;
use gangway_runtime::{Components, Item, Items, Label, MapKind};
use std::cell::Cell;

pub const ALLOC: u8 = 0;
pub const TO: u8 = 1;
pub const FROM: u8 = 2;
pub const TOFROM: u8 = 3;
pub const POINTER: u8 = 4;
pub const TO_PSET: u8 = 5;
pub const FORCE_PRESENT: u8 = 6;
pub const DELETE: u8 = 7;
pub const FORCE_DEVICEPTR: u8 = 8;
pub const IF_PRESENT: u8 = 11;
pub const FIRSTPRIVATE: u8 = 12;
pub const FIRSTPRIVATE_INT: u8 = 13;
pub const USE_DEVICE_PTR: u8 = 14;
pub const ZERO_LEN_ARRAY_SECTION: u8 = 15;
pub const USE_DEVICE_PTR_IF_PRESENT: u8 = 16;
pub const ALWAYS_TO: u8 = 17;
pub const ALWAYS_FROM: u8 = 18;
pub const ALWAYS_TOFROM: u8 = 19;
pub const RELEASE: u8 = 23;
pub const STRUCT: u8 = 28;
pub const ALWAYS_POINTER: u8 = 29;
pub const DELETE_ZERO_LEN_ARRAY_SECTION: u8 = 31;
pub const STRUCT_UNORD: u8 = 92;
pub const ATTACH: u8 = 80;
pub const DETACH: u8 = 81;
pub const ATTACH_ZERO_LENGTH_ARRAY_SECTION: u8 = 82;
pub const FORCE_ALLOC: u8 = 128;
pub const FORCE_TO: u8 = 129;
pub const FORCE_FROM: u8 = 130;
pub const FORCE_TOFROM: u8 = 131;
pub const FORCE_DETACH: u8 = 209;

/// What a table of items is for, which says what its kinds mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Construct {
    Region,
    Begin,
    End,
    Update,
}

/// The two languages count differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// A construct counts once on what is mapped, however many items are in it.
    OpenMp,
    /// Each item counts.
    OpenAcc,
}

/// The arrays of one construct.
pub struct Table<'a> {
    pub construct: Construct,
    pub language: Language,
    pub hostaddrs: &'a [Cell<usize>],
    pub sizes: &'a [usize],
    /// The low byte is the kind, the high one the logarithm of the alignment.
    pub kinds: &'a [u16],
    /// What stands for an item that has a user-defined mapper, by its number. GCC expands
    /// mappers itself; another compiler may have a table like this one and leave it to the
    /// runtime.
    pub mappers: &'a [(usize, Vec<Entry>)],
}

impl Table<'_> {
    fn encoding(&self, index: usize) -> u8 {
        self.kinds[index] as u8
    }

    /// What the pointer at an item's address points to.
    fn target(&self, index: usize) -> usize {
        // SAFETY: tests give the address of a pointer.
        let pointer = unsafe { *(self.hostaddrs[index].get() as *const usize) };
        pointer.wrapping_add(self.sizes[index])
    }

    /// OpenACC's pointer has to be present.
    fn detached(&self) -> MapKind {
        let detached = MapKind::DETACH | MapKind::COUNTED;
        if self.language == Language::OpenAcc { detached | MapKind::PRESENT } else { detached }
    }

    /// The kinds with [`FORCE_ALLOC`]'s bit: new data, data given up whoever else has it,
    /// or data to be updated.
    fn forced(&self, copies: MapKind) -> MapKind {
        match self.construct {
            Construct::Region | Construct::Begin => copies | MapKind::NEW,
            Construct::End => copies | MapKind::DELETE,
            Construct::Update => copies | MapKind::PRESENT,
        }
    }
}

impl Items for Table<'_> {
    fn len(&self) -> usize {
        self.kinds.len()
    }

    fn kind(&self, index: usize) -> MapKind {
        let kind = match self.encoding(index) {
            ALLOC | RELEASE => MapKind::ALLOC,
            TO | TO_PSET => MapKind::TO,
            FROM => MapKind::FROM,
            TOFROM => MapKind::TO | MapKind::FROM,
            POINTER => MapKind::POINTER,
            FORCE_PRESENT => MapKind::PRESENT,
            DELETE | DELETE_ZERO_LEN_ARRAY_SECTION => MapKind::DELETE,
            FORCE_DEVICEPTR | FIRSTPRIVATE_INT => MapKind::LITERAL,
            IF_PRESENT => MapKind::IF_PRESENT,
            FIRSTPRIVATE => MapKind::PRIVATE | MapKind::TO,
            USE_DEVICE_PTR => MapKind::RETURN_ADDRESS | MapKind::PRESENT | MapKind::UNCOUNTED,
            USE_DEVICE_PTR_IF_PRESENT => MapKind::RETURN_ADDRESS | MapKind::IF_PRESENT | MapKind::UNCOUNTED,
            ZERO_LEN_ARRAY_SECTION => MapKind::NULL_IF_ABSENT,
            ALWAYS_TO => MapKind::TO | MapKind::ALWAYS,
            ALWAYS_FROM => MapKind::FROM | MapKind::ALWAYS,
            ALWAYS_TOFROM => MapKind::TO | MapKind::FROM | MapKind::ALWAYS,
            STRUCT | STRUCT_UNORD => MapKind::STRUCTURE,
            ALWAYS_POINTER => MapKind::ATTACH | MapKind::ALWAYS | MapKind::REWRITE | MapKind::PRESENT,
            // Where structured data ends, what was attached at its beginning is detached.
            ATTACH if self.construct == Construct::End => MapKind::DETACH,
            ATTACH => MapKind::ATTACH | MapKind::COUNTED | MapKind::PRESENT,
            ATTACH_ZERO_LENGTH_ARRAY_SECTION => MapKind::ATTACH | MapKind::COUNTED | MapKind::NULL_IF_ABSENT,
            DETACH => self.detached(),
            FORCE_DETACH => self.detached() | MapKind::DELETE,
            FORCE_ALLOC => self.forced(MapKind::ALLOC),
            FORCE_TO => self.forced(MapKind::TO),
            FORCE_FROM => self.forced(MapKind::FROM),
            FORCE_TOFROM => self.forced(MapKind::TO | MapKind::FROM),
            unknown => return MapKind::unknown(unknown.into()),
        };
        let count = if self.language == Language::OpenMp { MapKind::ONCE } else { MapKind::ALLOC };
        // GCC's kernels have a slot for every item.
        let slot = if self.construct == Construct::Region { MapKind::PARAMETER } else { MapKind::ALLOC };
        kind | count | slot
    }

    fn item(&self, index: usize) -> Item {
        let (address, size) = (self.hostaddrs[index].get(), self.sizes[index]);
        let (begin, size) = match self.encoding(index) {
            ATTACH | ATTACH_ZERO_LENGTH_ARRAY_SECTION | ALWAYS_POINTER | DETACH | FORCE_DETACH => {
                (self.target(index), size_of::<usize>())
            }
            POINTER => (address, size_of::<usize>()),
            ZERO_LEN_ARRAY_SECTION
            | DELETE_ZERO_LEN_ARRAY_SECTION
            | USE_DEVICE_PTR
            | USE_DEVICE_PTR_IF_PRESENT => (address, 0),
            _ => (address, size),
        };
        Item { base: address, begin, size, kind: self.kind(index), label: Label::NONE }
    }

    fn knows(&self, kind: MapKind) -> bool {
        kind.unknown_encoding().is_none()
    }

    fn explain_unknown(&self, kind: MapKind) -> String {
        format!("map kind {}", kind.unknown_encoding().unwrap_or_default())
    }

    fn has_mapper(&self, index: usize) -> bool {
        self.mappers.iter().any(|(item, _)| *item == index)
    }

    fn expand(&self, index: usize, components: &mut Components) {
        let Some((_, entries)) = self.mappers.iter().find(|(item, _)| *item == index) else { return };
        with_table(self.construct, self.language, entries, &[], |named| {
            for component in 0..named.len() {
                match named.encoding(component) {
                    POINTER => components.push_pointer(named.item(component), named.target(component)),
                    _ => components.push(named.item(component)),
                }
            }
        });
    }

    fn pointee(&self, index: usize) -> usize {
        self.target(index)
    }

    fn return_address(&self, index: usize, address: usize) {
        self.hostaddrs[index].set(address);
    }
}

/// A construct's table, as a compiler leaves it on the stack.
pub fn with_table<R>(
    construct: Construct,
    language: Language,
    entries: &[Entry],
    mappers: &[(usize, Vec<Entry>)],
    then: impl FnOnce(&Table<'_>) -> R,
) -> R {
    let hostaddrs: Vec<_> = entries.iter().map(|entry| Cell::new(entry.0)).collect();
    let sizes: Vec<_> = entries.iter().map(|entry| entry.1).collect();
    // Some alignment in the high byte, which says nothing here.
    let kinds: Vec<_> = entries.iter().map(|entry| u16::from(entry.2) | 3 << 8).collect();
    let (hostaddrs, sizes, kinds) = (&*hostaddrs, &*sizes, &*kinds);
    then(&Table { construct, language, hostaddrs, sizes, kinds, mappers })
}
