//! Giving list items up.

use super::enter::counter;
use super::work::Work;
use crate::arguments::{Arguments, Components, Item};
use crate::error::{ErrorKind, HostRange, Result};
use crate::events::{self, MappingChange, MappingEvent};
use crate::map_type as bit;
use crate::present::{EntryRef, Relation, Release, Snapshot};

/// Reports items that were to be unmapped and are not mapped. OpenMP 5.2 section
/// 5.8.6 has them ignored, so this is only done on request (`GANGWAY_CHECK`).
pub type NeverMappedReport = fn(Box<crate::error::Error>);

static NEVER_MAPPED: std::sync::OnceLock<NeverMappedReport> = std::sync::OnceLock::new();

/// Asks for [`ErrorKind::NeverMapped`] reports for the rest of the process.
pub fn report_never_mapped(report: NeverMappedReport) {
    let _ = NEVER_MAPPED.set(report);
}

impl Work {
    /// Gives up the references of a region whose items `enter` made present.
    ///
    /// # Errors
    /// A copy back failed; the remaining items are given up all the same.
    #[inline]
    pub(crate) fn exit_entered(&mut self, arguments: &Arguments<'_>) -> Result<()> {
        let mut result = Ok(());
        for index in (0..arguments.len()).rev() {
            if arguments.map_type(index) & NOT_MAPPED != 0 {
                continue;
            }
            let item = arguments.item(index);
            let done = match (item.mapper, self.held[index].entry) {
                (Some(mapper), _) => self.exit_mapped(&item, mapper),
                (None, Some(entry)) => self.exit_entry(&item, entry),
                (None, None) => Ok(()),
            };
            result = result.and(done);
        }
        result
    }

    /// Gives up the items of a `target exit data` or the end of `target data`.
    ///
    /// # Errors
    /// `present` and not present, or a copy back failed; the remaining items are
    /// given up all the same.
    pub(crate) fn exit(&mut self, arguments: &Arguments<'_>) -> Result<()> {
        let mut result = Ok(());
        for index in (0..arguments.len()).rev() {
            let item = arguments.item(index);
            let known = self.check_map_type(&item, index);
            if known.is_err() || item.map_type & NOT_MAPPED != 0 {
                result = result.and(known);
                continue;
            }
            let done = match item.mapper {
                Some(mapper) => self.exit_mapped(&item, mapper),
                None => self.exit_item(&item),
            };
            result = result.and(done);
        }
        result
    }

    #[cold]
    pub(super) fn exit_mapped(
        &mut self,
        item: &Item,
        mapper: crate::arguments::MapperFunction,
    ) -> Result<()> {
        let components = Components::of(item, mapper);
        let exit = |result: Result<()>, component: &Item| {
            if component.map_type & NOT_MAPPED != 0 { result } else { result.and(self.exit_item(component)) }
        };
        components.iter().rev().fold(Ok(()), exit)
    }

    /// Looks the item up and gives it up.
    fn exit_item(&mut self, item: &Item) -> Result<()> {
        let implicit = item.map_type & bit::IMPLICIT != 0;
        match self.recent.lookup(&self.device.table, item.begin, item.size as usize) {
            Relation::Contained(entry) => self.exit_found(item, entry),
            Relation::Partial(entry) if implicit => self.exit_found(item, entry),
            Relation::Partial(_) | Relation::Absent => self.nothing_to_exit(item),
        }
    }

    /// An entry that another thread is still making is given up when it is made:
    /// it has no storage to copy from or to free before.
    fn exit_found(&mut self, item: &Item, entry: EntryRef<'static>) -> Result<()> {
        if entry.wait_filled() { self.exit_entry(item, entry) } else { self.nothing_to_exit(item) }
    }

    /// OpenMP 5.2 section 5.8.6: an item that is not present is ignored, unless
    /// `present` says that it is an error.
    #[cold]
    fn nothing_to_exit(&self, item: &Item) -> Result<()> {
        if self.unified_shared_memory || self.discarding {
            return Ok(());
        }
        let wanted = HostRange { begin: item.begin, size: item.size as usize, label: item.label };
        if item.map_type & bit::PRESENT != 0 {
            let near = self.device.near(item.begin);
            return Err(self.fail(ErrorKind::NotPresent { wanted, near }));
        }
        if let Some(report) = NEVER_MAPPED.get()
            && item.size != 0
        {
            let delete = item.map_type & bit::DELETE != 0;
            let near = self.device.near(item.begin);
            report(self.fail(ErrorKind::NeverMapped { wanted, delete, near }));
        }
        Ok(())
    }

    #[inline]
    fn exit_entry(&mut self, item: &Item, entry: EntryRef<'static>) -> Result<()> {
        let map_type = item.map_type;
        let (counter, delete) = (counter(map_type), map_type & bit::DELETE != 0);
        let counts = bit::parent(map_type).is_none() || map_type & bit::PTR_AND_OBJ != 0;
        let (snapshot, last) = if counts {
            match entry.release(counter, delete, self.stream.is_some()) {
                // Another thread has deleted it: ignored, as if never mapped.
                None => return Ok(()),
                Some((_, Release::Crowded)) => return self.exit_crowded(item, entry),
                Some((snapshot, release)) => {
                    if release != Release::Shared {
                        self.unmapping.push(entry);
                    }
                    (snapshot, release == Release::Last)
                }
            }
        } else {
            match entry.snapshot() {
                None => return Ok(()),
                Some(snapshot) => (snapshot, snapshot.would_be_last(counter, delete)),
            }
        };
        if events::observed() {
            self.tell_exit(item, entry, snapshot, counts, last);
        }
        let copy = map_type & bit::FROM != 0 && (last || map_type & bit::ALWAYS != 0) && item.size != 0;
        if last || copy {
            // Neither copied back nor freed before it has been filled.
            self.wait_for_event(entry)?;
        }
        if !copy || self.discarding {
            return Ok(());
        }
        let (begin, size) = entry.part_of(item.begin, item.size as usize);
        self.copy_out(entry, begin, size, item.label)
    }

    /// Gives an item up that more constructs in flight use than can be counted:
    /// copies back, waits, and then needs the entry no more.
    #[cold]
    fn exit_crowded(&mut self, item: &Item, entry: EntryRef<'static>) -> Result<()> {
        let (counter, delete) = (counter(item.map_type), item.map_type & bit::DELETE != 0);
        let last = entry.snapshot().is_some_and(|counts| counts.would_be_last(counter, delete));
        let copy = item.map_type & bit::FROM != 0
            && (last || item.map_type & bit::ALWAYS != 0)
            && item.size != 0
            && !self.discarding;
        let mut result = Ok(());
        if copy {
            let (begin, size) = entry.part_of(item.begin, item.size as usize);
            result = self.copy_out(entry, begin, size, item.label);
        }
        result = result.and(self.settle());
        if let Some((_, Release::Last)) = entry.release(counter, delete, false) {
            self.unmapping.push(entry);
        }
        result
    }

    #[cold]
    fn tell_exit(&self, item: &Item, entry: EntryRef<'static>, counts: Snapshot, counted: bool, last: bool) {
        let delete = item.map_type & bit::DELETE != 0;
        self.tell_mapping(&MappingEvent {
            change: if counted { MappingChange::Released { last, delete } } else { MappingChange::Found },
            implicit: false,
            hold: item.map_type & bit::HOLD != 0,
            host_base: item.base,
            host: item.begin,
            size: item.size as usize,
            allocation: entry.allocation(),
            device: entry.translate(item.begin),
            counts: Some(counts),
            label: item.label,
        });
    }
}

/// Items that have no entry of their own at the end of a construct.
const NOT_MAPPED: u64 = bit::LITERAL | bit::PRIVATE | bit::ATTACH;
