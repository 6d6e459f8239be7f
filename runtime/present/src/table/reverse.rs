//! From device addresses to host addresses: reverse offload, `acc_hostptr`.
//!
//! The ranges in order of their device addresses are gathered when somebody asks, and
//! kept until the table changes: a question is a binary search, the first one after a
//! change sorts all ranges. Nothing is kept up to date for it, so a program that never
//! asks, and a launch in any program, pay nothing.

use super::PresentTable;
use crate::state::Phase;
use gangway_backend::DevicePtr;
use gangway_sync::{Mutex, MutexGuard, lock};

/// The ranges of a table by device address.
#[derive(Debug, Default)]
pub(crate) struct Reverse(Mutex<Ranges>);

#[derive(Debug, Default)]
pub(crate) struct Ranges {
    ranges: Vec<Range>,
    /// Version of the table they were gathered at; `None` if not all of them could be.
    version: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Range {
    device: usize,
    size: usize,
    host: usize,
}

impl Reverse {
    /// Takes the lock, for a fork: before the table's own, as [`PresentTable::host_of`] does.
    #[cfg(not(loom))]
    pub(crate) fn lock_all(&self) -> MutexGuard<'_, Ranges> {
        lock(&self.0)
    }
}

impl PresentTable {
    /// The host address that a device address stands for, if it is in a mapped range.
    #[must_use]
    pub fn host_of(&self, device: DevicePtr) -> Option<usize> {
        let mut reverse = lock(&self.reverse.0);
        if reverse.version != Some(self.version()) {
            self.gather(&mut reverse);
        }
        let after = reverse.ranges.partition_point(|range| range.device <= device.0);
        let range = reverse.ranges[..after].last()?;
        let offset = device.0 - range.device;
        (offset < range.size).then_some(range.host + offset)
    }

    #[cold]
    fn gather(&self, reverse: &mut MutexGuard<'_, Ranges>) {
        // Before the entries are read: what changes meanwhile changes the version.
        let version = self.version();
        let mut complete = true;
        reverse.ranges.clear();
        for entry in self.entries() {
            match entry.snapshot() {
                Some(counts) if counts.phase != Phase::Allocating => reverse.ranges.push(Range {
                    device: entry.translate(entry.host_begin()).0,
                    size: entry.host_end() - entry.host_begin(),
                    host: entry.host_begin(),
                }),
                // Its device address will be known without a change of the table.
                _ => complete = false,
            }
        }
        reverse.ranges.sort_unstable_by_key(|range| range.device);
        reverse.version = complete.then_some(version);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::state::{Counter, Release};
    use crate::table::plain;
    use proptest::prelude::*;

    const FAR: usize = 1 << 40;

    proptest! {
        #[test]
        fn agrees_with_a_walk(steps in prop::collection::vec((1usize..60, any::<bool>(), 0usize..70), 1..80)) {
            let table = PresentTable::new();
            let mut model: Vec<(usize, usize)> = Vec::new();
            for (place, add, probe) in steps {
                // Device addresses go the other way, with gaps.
                let (host, device) = (place * 64, FAR - place * 128);
                if add && let Ok(entry) = table.insert(&plain(host, 48)) {
                    entry.set_allocation(DevicePtr(device), 0);
                    entry.publish();
                    model.push((device, host));
                } else if let Some(position) = model.iter().position(|&(_, mapped)| mapped == host) {
                    model.remove(position);
                    let crate::Relation::Contained(entry) = table.lookup(host, 1) else { panic!() };
                    prop_assert_eq!(entry.release(Counter::Dynamic, false, false).unwrap().1, Release::Last);
                    table.finish_unmapping(entry).removed().unwrap();
                }
                for address in [device, device + probe, device - 1] {
                    let inside = |&&(begin, _): &&(usize, usize)| (begin..begin + 48).contains(&address);
                    let expected = model.iter().find(inside).map(|&(begin, host)| host + address - begin);
                    prop_assert_eq!(table.host_of(DevicePtr(address)), expected);
                }
            }
        }
    }

    #[test]
    fn what_is_being_allocated_is_found_when_it_is_there() {
        let table = PresentTable::new();
        let entry = table.insert(&plain(4096, 8)).unwrap();
        assert_eq!(table.host_of(DevicePtr(FAR)), None);
        entry.set_allocation(DevicePtr(FAR - 8), 8);
        assert_eq!(table.host_of(DevicePtr(FAR + 7)), Some(4103));
        assert_eq!(table.host_of(DevicePtr(FAR + 8)), None);
    }
}
