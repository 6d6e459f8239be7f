//! Host memory that kernels may use: `cuMemHostRegister`.
//!
//! The engine asks for each access that leaves the reserved range, so the look-up takes no
//! lock: it reads a sorted list that is replaced as a whole.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

use crate::error::Error;
use crate::is_device_address;

#[derive(Debug, Default)]
pub(crate) struct HostRanges {
    /// Start and length, sorted, without overlap.
    ranges: ArcSwap<Vec<(u64, u64)>>,
    changing: Mutex<()>,
}

impl HostRanges {
    pub(crate) fn register(&self, address: u64, size: u64) -> Result<(), Error> {
        let bad = Error::BadHostRange { address, size };
        let last = match size.checked_sub(1).and_then(|more| address.checked_add(more)) {
            Some(last) if address != 0 => last,
            _ => return Err(bad),
        };
        if is_device_address(address) || is_device_address(last) {
            return Err(bad);
        }
        self.change(|ranges| {
            let at = ranges.partition_point(|&(start, _)| start <= address);
            let before = at > 0 && overlaps(ranges[at - 1], address);
            let after = ranges.get(at).is_some_and(|&(start, _)| start <= last);
            if before || after {
                return Err(Error::AlreadyRegistered { address, size });
            }
            ranges.insert(at, (address, size));
            Ok(())
        })
    }

    /// Ends a registration and returns its length.
    pub(crate) fn unregister(&self, address: u64) -> Result<u64, Error> {
        self.change(|ranges| match ranges.binary_search_by_key(&address, |&(start, _)| start) {
            Ok(at) => Ok(ranges.remove(at).1),
            Err(_) => Err(Error::NotRegistered(address)),
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<(u64, u64)>) -> Result<T, Error>) -> Result<T, Error> {
        let _alone = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ranges = Vec::clone(&self.ranges.load());
        let result = change(&mut ranges)?;
        self.ranges.store(Arc::new(ranges));
        Ok(result)
    }

    /// The registration that an address is in: its start and length.
    pub(crate) fn find(&self, address: u64) -> Option<(u64, u64)> {
        let ranges = self.ranges.load();
        let at = ranges.partition_point(|&(start, _)| start <= address);
        ranges[..at].last().copied().filter(|&range| overlaps(range, address))
    }

    /// Whether all of an access is in registered memory; it may be several registrations
    /// next to each other.
    pub(crate) fn covers(&self, mut address: u64, mut size: u64) -> bool {
        loop {
            let Some((start, length)) = self.find(address) else { return false };
            let rest = length - (address - start);
            if size <= rest {
                return true;
            }
            let Some(next) = address.checked_add(rest) else { return false };
            (address, size) = (next, size - rest);
        }
    }
}

fn overlaps((start, length): (u64, u64), address: u64) -> bool {
    address >= start && address - start < length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_found_to_the_byte() {
        let ranges = HostRanges::default();
        ranges.register(0x1000, 100).expect("free");
        ranges.register(0x1064, 28).expect("adjacent");
        assert!(ranges.covers(0x1000, 128) && !ranges.covers(0x1000, 129) && !ranges.covers(0xfff, 2));
        assert!(ranges.covers(0x1063, 2) && ranges.covers(0x107f, 1) && !ranges.covers(0x1080, 1));
        assert_eq!(ranges.find(0x1063), Some((0x1000, 100)));
        let again = ranges.register(0x107f, 1);
        assert_eq!(again, Err(Error::AlreadyRegistered { address: 0x107f, size: 1 }));
        assert!(ranges.register(0xff0, 17).is_err() && ranges.register(0xff0, 0x1000).is_err());
        assert_eq!(ranges.unregister(0x1001), Err(Error::NotRegistered(0x1001)));
        assert_eq!(ranges.unregister(0x1000), Ok(100));
        assert!(!ranges.covers(0x1000, 1) && ranges.covers(0x1064, 28));
    }

    #[test]
    fn what_is_no_host_memory_is_refused() {
        let ranges = HostRanges::default();
        for (address, size) in [(0, 8), (0x1000, 0), (u64::MAX, 2), (crate::BASE, 8), (crate::BASE - 4, 8)] {
            assert_eq!(ranges.register(address, size), Err(Error::BadHostRange { address, size }));
        }
        ranges.register(u64::MAX - 7, 8).expect("the last bytes");
        assert!(ranges.covers(u64::MAX, 1) && !ranges.covers(u64::MAX, 2));
    }
}
