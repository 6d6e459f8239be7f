//! `target update`: moving data of present items (OpenMP 6.0 section 7.9.9).

use super::enter::{check_kind, partly_present};
use super::reports;
use super::tell;
use super::work::Work;
use crate::error::{ErrorKind, HostRange, MappedAction, Result};
use crate::events;
use crate::items::{Components, Item, Items};
use crate::map_kind::MapKind;
use gangway_backend::{Copies, Stream};
use gangway_present::Relation;

impl Work {
    /// Moves the data of all items.
    ///
    /// # Errors
    /// `present` and not present, or a copy failed.
    pub(crate) fn update(&mut self, items: &impl Items) -> Result<()> {
        match self.construct.noticing() {
            None => self.update_all(items),
            Some(stream) => self.update_noticed(items, stream),
        }
    }

    /// The same where the device wants to know that the program asks for these copies.
    #[cold]
    fn update_noticed(&mut self, items: &impl Items, stream: &dyn Stream) -> Result<()> {
        self.construct.is_for_update();
        let mut updated = Ok(());
        stream.on_behalf(Copies::AskedFor, &mut || updated = self.update_all(items));
        updated
    }

    #[inline]
    fn update_all(&mut self, items: &impl Items) -> Result<()> {
        for index in 0..items.len() {
            if !items.has_mapper(index) {
                self.update_item(items, index)?;
                continue;
            }
            check_kind(&self.construct, items, &items.item(index), index)?;
            let components = Components::of(items, index);
            (0..components.len()).try_for_each(|component| self.update_item(&components, component))?;
        }
        Ok(())
    }

    fn update_item(&mut self, items: &impl Items, index: usize) -> Result<()> {
        let item = &items.item(index);
        check_kind(&self.construct, items, item, index)?;
        if item.kind.has(MapKind::LITERAL | MapKind::PRIVATE | MapKind::STRUCTURE | MapKind::DETACH) {
            return Ok(());
        }
        if !item.kind.has(MapKind::IN_PIECES) {
            return self.update_section(item, item.begin, item.size);
        }
        if item.size == 0 {
            return Ok(());
        }
        let damaged = |reason| self.construct.fail(ErrorKind::DamagedSection { label: item.label, reason });
        let section = items.section(item).map_err(damaged)?;
        let (begin, size) = (section.hull().start, section.hull().len());
        if size == 0 {
            return Ok(());
        }
        match self.lookups.recent.lookup(self.construct.table(), begin, size) {
            Relation::Contained(_) => {}
            Relation::Absent => return self.nothing_to_update(item, begin, size),
            // Rows that are mapped one by one.
            Relation::Partial(_) => {
                if section.runs() > self.construct.table().bytes_in(begin, begin + size) as u64 {
                    return self.nothing_to_update(item, begin, size);
                }
            }
        }
        section.each_run(&mut |begin, size| self.update_section(item, begin, size))
    }

    fn update_section(&mut self, item: &Item, host: usize, size: usize) -> Result<()> {
        let entry = match self.lookups.recent.lookup(self.construct.table(), host, size) {
            Relation::Contained(entry) => entry,
            Relation::Partial(entry) if item.kind.has(MapKind::WHOLE) => {
                let wanted = HostRange { begin: host, size, label: item.label };
                return Err(partly_present(&self.construct, entry, wanted));
            }
            _ => return self.nothing_to_update(item, host, size),
        };
        // Another thread may end the mapping meanwhile: the storage stays until the copies are done.
        // One use does for all rows of a section, of which there may be more than can be counted.
        if self.in_use.last() != Some(entry) {
            match entry.begin_use() {
                None => return self.nothing_to_update(item, host, size),
                Some(counted) => self.in_use.add_all(counted.then_some(entry).into_iter()),
            }
        }
        // Only then is there a point to wait for in the stream, where memory may be allocated in order, too.
        if !entry.wait_filled() {
            return self.nothing_to_update(item, host, size);
        }
        self.operations.order.wait_until_ready(&self.construct, entry)?;
        if events::observed() {
            tell::found(&self.construct, entry, host, size);
        }
        if size == 0 {
            return Ok(());
        }
        if item.kind.has(MapKind::TO) {
            self.operations.copy_in(&self.construct, entry, host, size, item.label)?;
        }
        if item.kind.has(MapKind::FROM) {
            self.operations.copy_out(&self.construct, entry, host, size, item.label, &[])?;
        }
        Ok(())
    }

    /// OpenMP 5.2 section 5.9: no assignment for an item that is not present, an error
    /// with `present`.
    fn nothing_to_update(&self, item: &Item, host: usize, size: usize) -> Result<()> {
        if self.construct.has_unified_shared_memory() {
            return Ok(());
        }
        let wanted = HostRange { begin: host, size, label: item.label };
        if !item.kind.has(MapKind::PRESENT) {
            if size != 0 && !item.kind.has(MapKind::IF_PRESENT) {
                reports::never_mapped(&self.construct, wanted, MappedAction::Update);
            }
            return Ok(());
        }
        Err(self.construct.fail(ErrorKind::NotPresent { wanted, near: self.construct.device().near(host) }))
    }
}
