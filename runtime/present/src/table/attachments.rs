//! What attaching a pointer, and its end, is to a table.

use super::{PresentTable, Writer};
use crate::entry::{Attached, Attachment, Entry, EntryRef, Pointee};
use crate::state::Phase;
use gangway_sync::{MutexGuard, Ordering, lock};

impl PresentTable {
    /// Forgets the attachments of an entry that leaves the table.
    #[inline]
    pub(crate) fn drop_attachments(&self, writer: &MutexGuard<'_, Writer>, entry: &Entry) {
        // A load for most: an exchange would cost them as much as a lock.
        if entry.has_attachments.load(Ordering::Acquire) {
            self.drop_all(writer, entry);
        }
    }

    #[cold]
    fn drop_all(&self, writer: &MutexGuard<'_, Writer>, entry: &Entry) {
        entry.has_attachments.store(false, Ordering::Relaxed);
        let mut attachments = lock(&entry.attachments);
        attachments.drain(..).for_each(|attachment| self.unlink_locked(writer, attachment.pointee));
        drop(attachments);
        entry.left_to_filler.clear();
    }

    /// Remembers an attachment of a pointer in an entry to another entry; one that has a count
    /// adds to the count there is. `filler`: the caller's construct fills the entry. If the
    /// caller has to write a pointer that it says is busy, it calls
    /// [`written`](EntryRef::written) afterwards. Without a pointee the device pointer is null.
    pub fn attach(
        &self,
        pointer: EntryRef<'_>,
        pointee: Option<EntryRef<'_>>,
        attachment: Attachment,
        filler: bool,
    ) -> Attached {
        let host_pointer = attachment.host_pointer;
        let attachment = Attachment { pointee: pointee.map(Pointee::of), ..attachment };
        if !self.remember(pointer, attachment) {
            return Attached::Known;
        }
        let filling = pointer.snapshot().is_some_and(|snapshot| snapshot.phase == Phase::Filling);
        if filler || !filling {
            return Attached::Write;
        }
        let of_block = pointer.block().map(|block| &block.left);
        if !pointer.entry().left_to_filler.leave(of_block, host_pointer) {
            return Attached::WriteWhenFilled;
        }
        pointer.written(host_pointer);
        Attached::LeftToFiller
    }

    /// False if the same pointer is attached to the same thing already.
    fn remember(&self, pointer: EntryRef<'_>, attachment: Attachment) -> bool {
        // The new link first: what only moves must not look as if it were gone. Links need the
        // writers' lock, which comes before that of an entry's attachments.
        self.link(attachment.pointee);
        let mut attachments = pointer.idle_attachments(attachment.host_pointer);
        pointer.entry().has_attachments.store(true, Ordering::Release);
        let (new, before) = match attachments.iter_mut().find(|a| a.host_pointer == attachment.host_pointer) {
            Some(known) if known.is_same(&attachment) => {
                known.count = known.count.saturating_add(attachment.count);
                (false, std::mem::replace(&mut known.pointee, attachment.pointee))
            }
            Some(known) => {
                let count = known.count.saturating_add(attachment.count);
                (true, std::mem::replace(known, Attachment { count, ..attachment }).pointee)
            }
            None => {
                attachments.push(attachment);
                (true, None)
            }
        };
        drop(attachments);
        self.unlink(before);
        new
    }

    /// A pointer of which [`detach`](EntryRef::detach) has given up the last is no attached one any
    /// more.
    pub fn detached(&self, pointer: EntryRef<'_>, host_pointer: usize) {
        let mut attachments = lock(&pointer.entry().attachments);
        let gone = attachments.extract_if(.., |a| a.busy && a.host_pointer == host_pointer);
        let pointees: Vec<_> = gone.map(|attachment| attachment.pointee).collect();
        drop(attachments);
        pointees.into_iter().for_each(|pointee| self.unlink(pointee));
    }
}
