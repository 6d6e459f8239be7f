//! The present table across `fork`.
//!
//! The forking thread takes the table's locks before, so that the child finds nothing
//! locked and no change half made. What the other threads were doing cannot go on in the
//! child: [`PresentTable::forget_other_threads`] ends it there.

use super::reverse::Ranges;
use super::{PresentTable, Writer};
use crate::block::Block;
use crate::entry::{Attachment, Entry, EntryRef, OwedCopy};
use crate::ready::Ready;
use crate::stock::Objects;
use gangway_sync::{MutexGuard, lock, this_thread};
use std::ptr::NonNull;

/// The locks of an entry. Nobody holds two of them at any other time.
struct Locked<'t> {
    _attachments: MutexGuard<'t, Vec<Attachment>>,
    _left_to_filler: MutexGuard<'t, Vec<usize>>,
    _owed_copies: MutexGuard<'t, Vec<OwedCopy>>,
}

impl<'t> Locked<'t> {
    fn of(entry: &'t Entry) -> Self {
        Self {
            _attachments: lock(&entry.attachments),
            _left_to_filler: entry.left_to_filler.hold(),
            _owed_copies: entry.owed_copies.hold(),
        }
    }
}

/// The locks of a table.
pub struct TableLocks<'t> {
    writer: MutexGuard<'t, Writer>,
    entries: Vec<Locked<'t>>,
    _points: MutexGuard<'t, Objects<Ready>>,
    _blocks: MutexGuard<'t, Objects<Block>>,
    _reverse: MutexGuard<'t, Ranges>,
}

impl PresentTable {
    /// Takes all locks: first the one of the reverse look-up, which is held while the entries
    /// are read, then the writers', as whoever has that may want an entry's.
    pub fn lock_all(&self) -> TableLocks<'_> {
        let reverse = self.reverse.lock_all();
        let mut writer = lock(&self.writer);
        self.make_all(&mut writer);
        let entries = self.entries_ever(&writer).map(Locked::of).collect();
        let (points, blocks) = (self.points.hold(), self.blocks.hold());
        TableLocks { writer, entries, _points: points, _blocks: blocks, _reverse: reverse }
    }

    /// In a forked child, whose only thread this is: what target regions of other threads
    /// have made leaves the table, and so does what others were mapping or unmapping. The
    /// host storage may be on stacks that new threads will use. Device memory is given up
    /// for lost, since the other threads may have been about to free it. References that
    /// other threads' constructs had on older data stay.
    pub fn forget_other_threads(&self, locks: TableLocks<'_>) {
        let TableLocks { mut writer, entries, .. } = locks;
        drop(entries);
        let this = this_thread();
        let gone: Vec<EntryRef<'_>> =
            self.locked_entries().into_iter().filter(|entry| entry.forget_other_threads(this)).collect();
        for entry in gone {
            self.remove(&mut writer, entry);
        }
        // Threads that were about to write a pointer will not say so any more.
        self.link_again(&writer);
    }

    /// All entries there have ever been, in use or not.
    fn entries_ever(&self, writer: &Writer) -> impl Iterator<Item = &Entry> {
        let chunks: Vec<NonNull<[Entry]>> =
            writer.all_entries.iter().map(|chunk| NonNull::from(&**chunk)).collect();
        // SAFETY: entries live as long as their table.
        chunks.into_iter().flat_map(|chunk| unsafe { chunk.as_ref() })
    }

    /// Ends the life of an entry, whoever has references to it.
    fn remove(&self, writer: &mut MutexGuard<'_, Writer>, entry: EntryRef<'_>) {
        entry.entry().end_life();
        self.take_out(writer, entry);
    }
}
