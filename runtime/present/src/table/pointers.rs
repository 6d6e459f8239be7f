//! Which entries attached pointers point to, and which of them are gone.
//!
//! The map effects of a construct are not one step, so one may find a structure that
//! another construct is giving up, and then what its pointer points to in a new life that a
//! third one has begun: both are present, nobody is to attach the pointer, and it leads to
//! memory that has been freed. An entry therefore counts the attached pointers that point to
//! it. When it leaves the table they dangle, until they are attached to something else or
//! their own entry leaves, too. As long as the table has dangling pointers, constructs with
//! attachments look whether theirs is one ([`EntryRef::is_dangling`]).

use super::{PresentTable, Writer};
use crate::entry::{Entry, Pointee};
use gangway_sync::{AtomicUsize, MutexGuard, Ordering, lock};

/// As long as one lives, the table has a dangling pointer.
#[derive(Debug)]
pub struct Dangling<'t>(&'t AtomicUsize);

impl Drop for Dangling<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl PresentTable {
    /// Whether attached pointers may point to what is not there any more. One load.
    #[inline]
    #[must_use]
    pub fn has_dangling(&self) -> bool {
        self.dangling.load(Ordering::Acquire) != 0
    }

    /// Has other constructs look at the pointers they attach, until a thread that attaches one
    /// anew has written it.
    pub fn begin_mending(&self) -> Dangling<'_> {
        self.dangling.fetch_add(1, Ordering::AcqRel);
        Dangling(&self.dangling)
    }

    /// One more pointer is attached to an entry. The caller has no lock of the table's or of an
    /// entry's.
    pub(crate) fn link(&self, pointee: Option<Pointee>) {
        let Some(pointee) = pointee else { return };
        let _writer = lock(&self.writer);
        if !pointee.pointers().change(pointee.generation, |word| word + 1) {
            self.dangling.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// A pointer is attached to an entry no more. The rest is as with [`link`](Self::link).
    pub(crate) fn unlink(&self, pointee: Option<Pointee>) {
        if pointee.is_some() {
            self.unlink_locked(&lock(&self.writer), pointee);
        }
    }

    /// As [`unlink`](Self::unlink), for who has the writers' lock.
    pub(crate) fn unlink_locked(&self, _writer: &MutexGuard<'_, Writer>, pointee: Option<Pointee>) {
        let counted = |p: Pointee| p.pointers().change(p.generation, |word| word - 1);
        if pointee.is_some_and(|pointee| !counted(pointee)) {
            // Below zero for a moment, if the entry has just gone: constructs look in vain.
            self.dangling.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// In a forked child: counts all links anew. A thread that is no more may have been about to
    /// attach a pointer, and have counted that.
    #[cfg(not(loom))]
    pub(crate) fn link_again(&self, _writer: &MutexGuard<'_, Writer>) {
        let entries = self.locked_entries();
        for entry in &entries {
            entry.entry().pointers.begin(entry.key().1);
        }
        let mut dangling = 0;
        for entry in &entries {
            let attachments = lock(&entry.entry().attachments);
            let dangles = |p: &Pointee| !p.pointers().change(p.generation, |word| word + 1);
            dangling +=
                attachments.iter().filter_map(|attachment| attachment.pointee).filter(dangles).count();
        }
        self.dangling.store(dangling, Ordering::Release);
    }

    /// An entry leaves the table. The caller has the writers' lock: who finds another one in
    /// its place finds the dangling pointers, too.
    #[inline]
    pub(crate) fn end_pointers(&self, _writer: &MutexGuard<'_, Writer>, entry: &Entry) {
        let dangling = entry.pointers.end();
        if dangling != 0 {
            self.dangling.fetch_add(dangling, Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(loom)]
    use crate::answers::Relation;
    #[cfg(not(loom))]
    use crate::entry::Attached;
    use crate::entry::Attachment;
    use crate::entry::EntryRef;
    use crate::state::Counter;
    use crate::table::plain;
    use gangway_backend::DevicePtr;

    fn attachment(host_pointer: usize) -> Attachment {
        Attachment {
            host_pointer,
            device_pointer: DevicePtr(host_pointer),
            host_content: [1; 8].into(),
            device_content: [2; 8].into(),
            count: 0,
            busy: false,
            pointee: None,
        }
    }

    fn remove(table: &PresentTable, entry: EntryRef<'_>) {
        entry.release(Counter::Dynamic, false, false).unwrap();
        table.finish_unmapping(entry).removed().unwrap();
    }

    #[cfg(not(loom))]
    #[test]
    fn pointers_dangle_until_they_are_attached_anew_or_go() {
        let table = PresentTable::new();
        let pointer = table.insert(&plain(64, 64)).unwrap();
        let mut pointee = table.insert(&plain(256, 64)).unwrap();
        pointer.set_allocation(DevicePtr(64), 0);
        pointer.publish();
        for host in [64, 72] {
            assert_eq!(table.attach(pointer, Some(pointee), attachment(host), false), Attached::Write);
            assert_eq!(table.attach(pointer, Some(pointee), attachment(host), false), Attached::Known);
        }
        for _ in 0..3 {
            assert!(!table.has_dangling() && !pointer.is_dangling(64));
            remove(&table, pointee);
            assert!(table.has_dangling() && pointer.is_dangling(64) && pointer.is_dangling(72));
            assert!(!pointer.is_dangling(80), "no pointer");
            pointee = table.insert(&plain(256, 64)).unwrap();
            // To the same address, as it happens.
            assert_eq!(table.attach(pointer, Some(pointee), attachment(64), false), Attached::Known);
            assert!(table.has_dangling() && !pointer.is_dangling(64) && pointer.is_dangling(72));
            assert_eq!(table.attach(pointer, Some(pointee), attachment(72), false), Attached::Known);
        }
        assert!(!table.has_dangling());
        let mending = table.begin_mending();
        assert!(table.has_dangling());
        drop(mending);
        remove(&table, pointee);
        remove(&table, pointer);
        assert!(!table.has_dangling());
        // The other way round.
        let pointer = table.insert(&plain(64, 64)).unwrap();
        let pointee = table.insert(&plain(256, 64)).unwrap();
        table.attach(pointer, Some(pointee), attachment(64), true);
        remove(&table, pointer);
        remove(&table, pointee);
        assert!(!table.has_dangling());
    }

    /// A thread has counted a link when the process forks, and is gone in the child before it has
    /// remembered the attachment.
    #[cfg(not(loom))]
    #[test]
    fn links_are_counted_anew_after_a_fork() {
        let table = PresentTable::new();
        let [pointer, pointee] = [64, 256].map(|host| table.insert(&plain(host, 64)).unwrap());
        table.attach(pointer, Some(pointee), attachment(64), true);
        table.link(Some(Pointee::of(pointee)));
        table.link_again(&lock(&table.writer));
        remove(&table, pointee);
        assert!(table.has_dangling());
        remove(&table, pointer);
        assert!(!table.has_dangling());
    }

    /// A table with a structure at 64 and what its pointer points to at 256.
    #[cfg(loom)]
    fn pair() -> loom::sync::Arc<PresentTable> {
        let table = loom::sync::Arc::new(PresentTable::new());
        for host in [64, 256] {
            let entry = table.insert(&plain(host, 8)).unwrap();
            entry.set_allocation(DevicePtr(host), 0);
            entry.publish();
        }
        table
    }

    #[cfg(loom)]
    fn at(table: &PresentTable, host: usize) -> Option<EntryRef<'_>> {
        match table.lookup(host, 8) {
            Relation::Contained(entry) => Some(entry),
            _ => None,
        }
    }

    /// A pointer is attached while what it points to goes: it dangles, however the two meet.
    #[cfg(loom)]
    #[test]
    fn loom_a_pointer_is_attached_to_what_goes() {
        loom::model(|| {
            let table = pair();
            let other = table.clone();
            let removing = loom::thread::spawn(move || remove(&other, at(&other, 256).unwrap()));
            let (pointer, pointee) = (at(&table, 64).unwrap(), at(&table, 256));
            if let Some(pointee) = pointee {
                table.attach(pointer, Some(pointee), attachment(64), false);
            }
            removing.join().unwrap();
            assert_eq!(table.has_dangling(), pointee.is_some());
            assert_eq!(pointer.is_dangling(64), pointee.is_some());
            remove(&table, pointer);
            assert!(!table.has_dangling());
        });
    }

    /// A structure goes while what its pointer points to goes, and comes again.
    #[cfg(loom)]
    #[test]
    fn loom_both_ends_of_a_pointer_go() {
        loom::model(|| {
            let table = pair();
            table.attach(at(&table, 64).unwrap(), at(&table, 256), attachment(64), false);
            let other = table.clone();
            let removing = loom::thread::spawn(move || {
                remove(&other, at(&other, 256).unwrap());
                other.insert(&plain(256, 8)).unwrap();
            });
            remove(&table, at(&table, 64).unwrap());
            removing.join().unwrap();
            assert!(!table.has_dangling());
        });
    }
}
