//! Small new items of a construct, which become present together.
//!
//! An item of which nothing is present, which is small and of which nothing else is to be done
//! waits here until the next item comes that is not like it. Then all of them enter the present
//! table under one lock. Their storage is in the construct's block, and their data in its image,
//! before they do. Should another thread have mapped one of them meanwhile, or should two of them
//! overlap, they are made present one after the other like all other items.

use crate::map_kind::MapKind;
use gangway_backend::DevicePtr;
use gangway_present::{
    BlockRef, DeferredRef, EntryRef, MadeWhen, NewEntry, PresentTable, StreamRef, Together,
};

/// The items that wait, or whose entries a region has deferred.
#[derive(Default)]
pub(in crate::environment) struct Batch {
    /// With the argument's number and its kind.
    entries: gangway_present::Batch<'static, (usize, MapKind)>,
    /// The version of the table at which all were absent.
    version: usize,
    /// What of the block was in use before them.
    used: usize,
    /// Their entries are there for others, and have not been made.
    deferred: Option<DeferredRef<'static>>,
    /// What the next ones can be deferred with, and the table that it belongs to.
    spare: Option<(&'static PresentTable, DeferredRef<'static>)>,
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.give_spare_back();
    }
}

impl Batch {
    /// Whether no item waits.
    #[inline]
    pub(in crate::environment) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many items wait.
    #[inline]
    pub(in crate::environment) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the items' entries have not been made.
    #[inline]
    pub(in crate::environment) fn is_deferred(&self) -> bool {
        self.deferred.is_some()
    }

    /// The version of the table at which the items that wait were absent; `None` if none wait.
    pub(in crate::environment) fn version_of_waiting(&self) -> Option<usize> {
        (!self.is_empty()).then_some(self.version)
    }

    /// Whether items can wait that are absent at a version of the table. The first of them may
    /// have what is not `used` of the block.
    #[inline]
    pub(in crate::environment) fn suits(&mut self, version: usize, used: usize) -> bool {
        if self.is_empty() {
            (self.version, self.used) = (version, used);
        }
        version == self.version
    }

    /// An item waits, with storage in the block.
    #[inline]
    pub(in crate::environment) fn push(
        &mut self,
        new: NewEntry,
        storage: DevicePtr,
        argument: usize,
        kind: MapKind,
    ) {
        self.entries.push(new, storage, (argument, kind));
    }

    /// The items, with their arguments' numbers and kinds, and with their entries if those have been made.
    pub(in crate::environment) fn items(
        &self,
    ) -> impl Iterator<Item = (&NewEntry, usize, MapKind, Option<EntryRef<'static>>)> {
        self.entries.iter().map(|(new, &(argument, kind), entry)| (new, argument, kind, entry))
    }

    /// What of the block was in use before the items.
    pub(in crate::environment) fn used_before(&self) -> usize {
        self.used
    }

    /// Forgets the items. Their memory stays.
    pub(in crate::environment) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Has the entries made.
    pub(in crate::environment) fn insert(
        &mut self,
        table: &'static PresentTable,
        block: BlockRef<'static>,
    ) -> Together {
        table.insert_together(&mut self.entries, block, self.version)
    }

    /// Has the entries made only if somebody else asks for them.
    pub(in crate::environment) fn defer(
        &mut self,
        table: &'static PresentTable,
        block: BlockRef<'static>,
        stream: StreamRef,
    ) -> Together {
        let Some(deferred) = self.spare_of(table) else { return Together::Not };
        let made = table.defer_together(&mut self.entries, block, self.version, deferred, stream);
        if made != Together::Not {
            self.deferred = Some(deferred);
        }
        made
    }

    /// The construct has issued its copies. False: entries were deferred and have been made
    /// meanwhile, so that it has to publish them.
    #[inline]
    pub(in crate::environment) fn publish(&self) -> bool {
        self.deferred.is_none_or(DeferredRef::publish)
    }

    /// The construct gives up its references to what it has deferred. False: that has been made meanwhile.
    #[inline]
    pub(in crate::environment) fn release(&self) -> bool {
        self.deferred.is_none_or(DeferredRef::release)
    }

    /// The construct's operations are done, and what it has deferred is not there any more. Answers how
    /// many items those were; `None`: their entries have been made meanwhile.
    #[inline]
    pub(in crate::environment) fn close(&mut self) -> Option<usize> {
        let Some(deferred) = self.deferred else { return Some(0) };
        if !deferred.close() {
            return None;
        }
        let items = self.len();
        self.clear();
        self.deferred = None;
        Some(items)
    }

    /// Has what has been deferred made. False: nothing has been.
    #[inline]
    pub(in crate::environment) fn make_deferred(&self, table: &'static PresentTable) -> bool {
        self.deferred.map(|deferred| table.make_deferred(deferred)).is_some()
    }

    /// What has been deferred has been made: nothing is deferred any more. Answers what the construct
    /// had done until then.
    pub(in crate::environment) fn take_made(&mut self) -> Option<MadeWhen<'static>> {
        let deferred = self.deferred.take()?;
        Some(deferred.take_made(&mut self.entries))
    }

    fn give_spare_back(&mut self) {
        if let Some((table, spare)) = self.spare.take() {
            table.give_back_deferred(spare);
        }
    }

    /// What entries of a table can be deferred with.
    fn spare_of(&mut self, table: &'static PresentTable) -> Option<DeferredRef<'static>> {
        if self.spare.is_none_or(|(of, _)| !std::ptr::eq(of, table)) {
            self.give_spare_back();
            self.spare = table.take_deferred().map(|deferred| (table, deferred));
        }
        self.spare.map(|(_, deferred)| deferred)
    }
}
