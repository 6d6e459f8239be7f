//! Members of a structure that count by themselves, as in OpenACC: each becomes present, is copied back and leaves
//! with references of its own (OpenACC 3.3 section 2.6.7).
//!
//! A kernel reaches them through one address, so that they have to stand on the device as in the structure.
//! Those that become present together get a block for all of them, from the first byte to the last, and an entry
//! each. The block stays until the last of them has left. What is present apart from that block cannot be reached
//! with it: the construct is refused, as by libgomp.

use super::special::hull_of;
use super::tell;
use super::wanted::{Count, Wanted, mapped_by};
use super::work::{Held, Work, give_up_unused};
use crate::error::{ErrorKind, Result};
use crate::events::{self, MappingChange};
use crate::items::Item;
use crate::map_kind::MapKind;
use gangway_backend::{DevicePtr, RangeChange};
use gangway_present::{Batch, EntryRef, PartOfBlock, Relation, Together};
use gangway_sync::back_off;
use std::ops::Range;

/// What there is of a structure's members.
enum Found {
    /// All that have to be, in these entries, at this distance from the host's.
    Present(Vec<EntryRef<'static>>, isize),
    /// Nothing, at that version of the table.
    Absent(usize),
    /// Some, and one is missing: what is present, and the member.
    Apart(EntryRef<'static>, Item),
    /// Another thread changes it.
    Changing,
}

impl Work {
    /// Makes those of the next items present that are members of a structure, and count by themselves; they find
    /// their entries there, and have their data copied.
    #[cold]
    pub(super) fn enter_members(&mut self, structure: &Item, members: &[Item]) -> Result<Held> {
        let nothing = Held { device: DevicePtr(structure.begin), ..Held::NOTHING };
        if self.construct.has_unified_shared_memory() {
            return Ok(nothing);
        }
        for attempt in 0.. {
            match self.find_members(members) {
                Found::Present(entries, distance) => {
                    if self.hold_members(structure, &entries)? {
                        return Ok(Held { device: DevicePtr(structure.begin).offset(distance), ..nothing });
                    }
                }
                Found::Absent(version) => {
                    let ranges = ranges_of(members);
                    if ranges.is_empty() {
                        return Ok(nothing);
                    }
                    if let Some(device) = self.create_members(structure, &ranges, version)? {
                        let before = ranges[0].start.wrapping_sub(structure.begin) as isize;
                        return Ok(Held { device: device.offset(before.wrapping_neg()), ..nothing });
                    }
                }
                Found::Apart(entry, member) => {
                    // Another thread may be giving them up, one after the other.
                    if attempt > super::enter::PATIENCE {
                        let (wanted, mapped) = (Wanted::of(&member).range(), mapped_by(entry));
                        return Err(self.construct.fail(ErrorKind::MembersApart { wanted, mapped }));
                    }
                }
                Found::Changing => {}
            }
            back_off(attempt);
        }
        unreachable!("the loop ends by returning")
    }

    fn find_members(&self, members: &[Item]) -> Found {
        let table = self.construct.table();
        let version = table.version();
        let mut entries: Vec<EntryRef<'static>> = Vec::new();
        let mut known = None;
        let mut missing = None;
        for member in members.iter().filter(|member| member.size != 0) {
            match table.lookup(member.begin, member.size) {
                Relation::Contained(entry) => {
                    if !entry.wait_allocated() {
                        return Found::Changing;
                    }
                    let distance = entry.translate(member.begin).0.wrapping_sub(member.begin) as isize;
                    if known.is_some_and(|known| known != distance) {
                        return Found::Apart(entries[0], *member);
                    }
                    known = Some(distance);
                    entries.push(entry);
                }
                Relation::Partial(entry) => return Found::Apart(entry, *member),
                Relation::Absent if is_made(member) => missing = Some(*member),
                Relation::Absent => {}
            }
        }
        match (known, missing) {
            (Some(distance), None) => Found::Present(entries, distance),
            (Some(_), Some(member)) => Found::Apart(entries[0], member),
            (None, None) => Found::Absent(version),
            (None, Some(member)) => {
                // Another member of the structure's may be between these.
                let hull = hull_of(members.iter().filter(|member| is_made(member)));
                let hull = hull.unwrap_or_default();
                match table.lookup_at(hull.start, hull.end.wrapping_sub(hull.start)) {
                    (Relation::Absent, now) if now == version => Found::Absent(version),
                    (Relation::Absent, _) => Found::Changing,
                    (Relation::Contained(entry) | Relation::Partial(entry), _) => Found::Apart(entry, member),
                }
            }
        }
    }

    /// Holds what has been found until the members have references of their own: one that another thread gives up
    /// meanwhile would be made anew, and apart. False: one has gone.
    fn hold_members(&mut self, structure: &Item, entries: &[EntryRef<'static>]) -> Result<bool> {
        let counter = structure.kind.counter();
        for (index, entry) in entries.iter().enumerate() {
            match entry.acquire(counter) {
                Some(Some(_)) => {
                    let device = entry.translate(structure.begin);
                    self.holdings.push_structure(Held {
                        entry: Some(*entry),
                        device,
                        counted: Some(counter),
                    });
                }
                Some(None) => {
                    let wanted = mapped_by(*entry);
                    return Err(self.construct.fail(ErrorKind::TooManyReferences { wanted }));
                }
                None => {
                    for _ in 0..index {
                        if let Some(held) = self.holdings.pop_structure() {
                            give_up_unused(&mut self.construct, held)?;
                        }
                    }
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Makes entries in one block, which were absent at that version of the table. Answers where the first of them
    /// is on the device; `None`: another thread was faster.
    fn create_members(
        &mut self,
        structure: &Item,
        ranges: &[Range<usize>],
        version: usize,
    ) -> Result<Option<DevicePtr>> {
        let begin = ranges[0].start;
        let size = ranges[ranges.len() - 1].end - begin;
        let room = self.operations.pack.room_for_members(&self.construct, begin, size, ranges.len())?;
        let place = |host: usize| DevicePtr(room.first.0 + (host - begin));
        let wanted = |range: &Range<usize>| Wanted {
            begin: range.start,
            base: structure.base,
            size: range.len(),
            padding: 0,
            label: structure.label,
            kind: structure.kind,
            count: Count::Yes,
        };
        let mut batch = Batch::default();
        for range in ranges {
            batch.push(wanted(range).new_entry(), place(range.start), ());
        }
        if self.construct.table().insert_together(&mut batch, room.block, version) == Together::Not {
            self.operations.pack.take_members_back(&mut self.construct, &room, ranges.len())?;
            return Ok(None);
        }
        self.lookups.note_insertion();
        let region_of = if self.construct.is_region() { gangway_sync::this_thread() } else { 0 };
        for (range, entry) in ranges.iter().zip(batch.iter().filter_map(|(.., entry)| entry)) {
            let wanted = wanted(range);
            entry.set_region_of(region_of);
            if events::observed() {
                let part = PartOfBlock { block: room.block, storage: place(range.start), padding: 0 };
                tell::part(&self.construct, part, range.len(), range.start, wanted.label);
            }
            let mapped = RangeChange::Mapped(entry.translate(range.start));
            self.construct.notice(range.start, range.len(), mapped, wanted.label);
            self.unpublished.add(entry, false);
            if events::observed()
                && let Some(counts) = entry.snapshot()
            {
                tell::entry(&self.construct, MappingChange::Created, entry, &wanted, counts);
            }
            self.holdings.push_structure(Held::of_new(entry, &wanted));
        }
        Ok(Some(room.first))
    }
}

/// Whether a member becomes present if it is not.
fn is_made(member: &Item) -> bool {
    member.size != 0 && !member.kind.has(MapKind::PRESENT | MapKind::IF_PRESENT)
}

/// The ranges of members that become present, in order; those that overlap are one.
fn ranges_of(members: &[Item]) -> Vec<Range<usize>> {
    let made = members.iter().filter(|member| is_made(member));
    let mut ranges: Vec<Range<usize>> =
        made.map(|member| member.begin..member.begin.saturating_add(member.size)).collect();
    ranges.sort_by_key(|range| range.start);
    ranges.dedup_by(|next, range| {
        let overlaps = next.start < range.end;
        if overlaps {
            range.end = range.end.max(next.end);
        }
        overlaps
    });
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use gangway_present::Label;

    #[test]
    fn members_that_overlap_have_one_entry() {
        let item = |begin, size, kind| Item { base: begin, begin, size, kind, label: Label::NONE };
        let all = [
            item(40, 8, MapKind::TO),
            item(16, 16, MapKind::ALLOC),
            item(20, 4, MapKind::FROM),
            item(24, 16, MapKind::TO),
            item(100, 8, MapKind::PRESENT),
            item(8, 0, MapKind::TO),
        ];
        assert_eq!(ranges_of(&all), [16..40, 40..48]);
    }
}
