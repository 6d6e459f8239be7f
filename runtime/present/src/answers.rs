//! What a table answers.

use crate::block::BlockRef;
use crate::entry::EntryRef;
use crate::label::Label;
use crate::ready::ReadyRef;
use gangway_backend::DevicePtr;

/// How a host range relates to the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Relation<'t> {
    /// Wholly inside a mapped range (a zero-length section: it starts in one, or
    /// between a variable's base address and its mapped section).
    Contained(EntryRef<'t>),
    /// It starts or ends in a mapped range but is not inside it.
    Partial(EntryRef<'t>),
    /// It touches nothing that is mapped.
    Absent,
}

/// What is left to do for an entry that has been removed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Removed<'t> {
    /// Device memory to free, if it is in no block; none for associated storage.
    pub allocation: Option<DevicePtr>,
    /// The block it is part of, of which one use is the caller's to give up.
    pub block: Option<BlockRef<'t>>,
    /// Its point, of which one use is the caller's to give up.
    pub ready: Option<ReadyRef<'t>>,
    /// First host byte of the range.
    pub host_begin: usize,
    /// One past the last host byte.
    pub host_end: usize,
    /// Device address of the range.
    pub device_begin: DevicePtr,
    /// The name it was mapped under.
    pub label: Label,
}

/// What the end of a construct's use of an entry led to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Finished<'t> {
    /// Others use the entry, or references came back.
    Left,
    /// It was the last use, and goes on: the caller makes the entry's
    /// [owed copies](EntryRef::take_owed_copies), and then calls again.
    Owing,
    /// The entry has left the table, and the caller frees its memory.
    Removed(Removed<'t>),
}

impl<'t> Finished<'t> {
    /// What is left to do for the entry, if it has been removed.
    #[must_use]
    pub fn removed(self) -> Option<Removed<'t>> {
        match self {
            Self::Removed(removed) => Some(removed),
            Self::Left | Self::Owing => None,
        }
    }
}

/// What [`PresentTable::finish_parts`] has taken from entries, for which the caller answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartsTaken {
    /// Uses of the block.
    pub uses: usize,
    /// Uses of the construct's own point.
    pub points: usize,
}

/// Why an association cannot be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAssociated {
    /// No range starts at that address.
    Absent,
    /// The range was mapped, not associated.
    Mapped,
    /// A structured region holds it.
    Held,
}

impl Removed<'_> {
    pub(crate) fn of(entry: EntryRef<'_>) -> Self {
        Self {
            allocation: entry.allocation(),
            ready: None,
            block: None,
            host_begin: entry.host_begin(),
            host_end: entry.host_end(),
            device_begin: entry.translate(entry.host_begin()),
            label: entry.label(),
        }
    }
}
