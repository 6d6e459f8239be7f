//! Host memory that kernels may use: `cuMemHostRegister`.
//!
//! The engine asks for each access that leaves the reserved range. So the look-up takes no lock: it
//! reads a sorted list that is replaced as a whole.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;

use crate::error::Error;
use crate::range::is_device_address;

#[derive(Debug, Default)]
pub(crate) struct HostRanges {
    /// Sorted, without overlap.
    ranges: ArcSwap<Vec<Arc<Registration>>>,
    changing: Mutex<()>,
    /// How many registrations have ended: what somebody remembers of them is stale then.
    ended: AtomicU64,
}

/// A range that the program has registered.
#[derive(Debug)]
pub(crate) struct Registration {
    start: u64,
    length: u64,
    users: Mutex<Users>,
    unused: Condvar,
}

#[derive(Debug, Default)]
struct Users {
    holders: u64,
    /// No new holder is taken.
    ended: bool,
}

impl Registration {
    fn new(start: u64, length: u64) -> Arc<Self> {
        Arc::new(Self { start, length, users: Mutex::default(), unused: Condvar::new() })
    }

    fn contains(&self, address: u64) -> bool {
        address >= self.start && address - self.start < self.length
    }

    fn users(&self) -> MutexGuard<'_, Users> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `false` if it has ended.
    fn hold(&self) -> bool {
        let mut users = self.users();
        users.holders += u64::from(!users.ended);
        !users.ended
    }

    pub(crate) fn release(&self) {
        let mut users = self.users();
        users.holders -= 1;
        if users.holders == 0 && users.ended {
            self.unused.notify_all();
        }
    }

    /// Waits for the holders.
    fn end(&self) {
        let mut users = self.users();
        users.ended = true;
        while users.holders > 0 {
            users = self.unused.wait(users).unwrap_or_else(PoisonError::into_inner);
        }
    }
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
            let at = ranges.partition_point(|range| range.start <= address);
            let before = at > 0 && ranges[at - 1].contains(address);
            let after = ranges.get(at).is_some_and(|range| range.start <= last);
            if before || after {
                return Err(Error::AlreadyRegistered { address, size });
            }
            ranges.insert(at, Registration::new(address, size));
            Ok(())
        })
    }

    /// Ends a registration and returns its length, when there is no holder any more.
    pub(crate) fn unregister(&self, address: u64) -> Result<u64, Error> {
        let ended =
            self.change(|ranges| match ranges.binary_search_by_key(&address, |range| range.start) {
                Ok(at) => Ok(ranges.remove(at)),
                Err(_) => Err(Error::NotRegistered(address)),
            })?;
        self.ended.fetch_add(1, Ordering::Release);
        ended.end();
        Ok(ended.length)
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&mut Vec<Arc<Registration>>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let _alone = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ranges = Vec::clone(&self.ranges.load());
        let result = change(&mut ranges)?;
        self.ranges.store(Arc::new(ranges));
        Ok(result)
    }

    /// How many registrations have ended so far.
    pub(crate) fn ended(&self) -> u64 {
        self.ended.load(Ordering::Acquire)
    }

    /// The registration that an address is in: its start and length.
    pub(crate) fn find(&self, address: u64) -> Option<(u64, u64)> {
        let ranges = self.ranges.load();
        let at = ranges.partition_point(|range| range.start <= address);
        let range = ranges[..at].last().filter(|range| range.contains(address))?;
        Some((range.start, range.length))
    }

    /// Holds the registrations that a range is in: they do not end before each has been released.
    pub(crate) fn hold(&self, mut address: u64, mut size: u64) -> Option<Vec<Arc<Registration>>> {
        let ranges = self.ranges.load();
        let mut next = ranges.partition_point(|range| range.start <= address).checked_sub(1)?;
        let mut held: Vec<Arc<Registration>> = Vec::new();
        loop {
            let one = ranges.get(next).filter(|one| one.contains(address) && one.hold());
            let Some(one) = one else {
                held.iter().for_each(|one| one.release());
                return None;
            };
            held.push(Arc::clone(one));
            let rest = one.length - (address - one.start);
            if size <= rest {
                return Some(held);
            }
            // A registration ends where the addresses do, at most: what is left then is in none.
            (address, size, next) = (address.wrapping_add(rest), size - rest, next + 1);
        }
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
