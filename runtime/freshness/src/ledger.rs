//! All pairs, by the addresses of both sides.

use std::collections::BTreeMap;

use crate::pair::{Origin, Pair, Stale};

/// The name of a pair: the first byte on the host, and the device's number.
pub type Key = (usize, i32);

/// Bytes of pairs that have gone which are remembered.
const MOST_GONE: usize = 256 << 20;

/// All pairs.
#[derive(Debug, Default)]
pub struct Ledger {
    pairs: BTreeMap<Key, Pair>,
    /// Those that are mapped, by device and storage.
    by_storage: BTreeMap<(i32, usize), Key>,
    /// The size of the largest.
    largest: usize,
    /// Bytes of those that have gone.
    gone: usize,
    /// How often something has changed.
    version: u64,
}

/// An access of one side that has to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub key: Key,
    pub stale: Stale,
}

impl Ledger {
    #[must_use]
    pub const fn new() -> Self {
        Self { pairs: BTreeMap::new(), by_storage: BTreeMap::new(), largest: 0, gone: 0, version: 0 }
    }

    /// What is the same as long as nothing has changed.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// A range has been mapped, and has this on the host. What was there before is forgotten.
    pub fn map(&mut self, key: Key, storage: usize, name: u32, now: impl Into<Box<[u8]>>) -> &mut Pair {
        let now: Box<[u8]> = now.into();
        self.version += 1;
        self.forget_overlapping(key, now.len());
        self.largest = self.largest.max(now.len());
        self.by_storage.insert((key.1, storage), key);
        self.pairs.insert(key, Pair::new(key.0, storage, name, now));
        self.pairs.get_mut(&key).expect("it has just been inserted")
    }

    /// Pairs of the device that overlap, and those of others that have gone.
    fn forget_overlapping(&mut self, (host, device): Key, size: usize) {
        let old: Vec<Key> = self
            .covering(host, size)
            .filter(|(key, pair)| key.1 == device || !pair.present)
            .map(|(key, _)| *key)
            .collect();
        old.into_iter().for_each(|key| self.forget(key));
    }

    fn forget(&mut self, key: Key) {
        if let Some(pair) = self.pairs.remove(&key) {
            if pair.present {
                self.by_storage.remove(&(key.1, pair.storage));
            } else {
                self.gone -= pair.size();
            }
        }
    }

    /// A range is not mapped any more.
    pub fn unmap(&mut self, key: Key) {
        self.version += 1;
        let Some(pair) = self.pairs.get_mut(&key).filter(|pair| pair.present) else { return };
        self.by_storage.remove(&(key.1, pair.storage));
        if pair.device_newer == 0 {
            self.pairs.remove(&key);
            return;
        }
        pair.leave();
        self.gone += pair.size();
        while self.gone > MOST_GONE {
            let Some(key) = self.pairs.iter().find(|(_, pair)| !pair.present).map(|(key, _)| *key) else {
                return;
            };
            self.forget(key);
        }
    }

    /// The host's memory is given back: what is there later is something else, which nobody has an old value of.
    pub fn free(&mut self, host: usize, size: usize) {
        let mut any = false;
        let first = host.saturating_sub(self.largest.saturating_sub(1));
        for (_, pair) in self.pairs.range_mut((first, i32::MIN)..(host.saturating_add(size), i32::MIN)) {
            if pair.host + pair.size() <= host {
                continue;
            }
            any = true;
            if pair.present {
                let (begin, end) = part(pair.host, pair.size(), host, size);
                pair.host_is_lost(begin..end);
            }
        }
        if any {
            self.version += 1;
            let old: Vec<Key> =
                self.covering(host, size).filter(|(_, pair)| !pair.present).map(|(key, _)| *key).collect();
            old.into_iter().for_each(|key| self.forget(key));
        }
    }

    #[must_use]
    pub fn get(&self, key: Key) -> Option<&Pair> {
        self.pairs.get(&key)
    }

    pub fn get_mut(&mut self, key: Key) -> Option<&mut Pair> {
        self.version += 1;
        self.pairs.get_mut(&key)
    }

    /// Those that are mapped on a device.
    #[must_use]
    pub fn present_on(&self, device: i32) -> Vec<Key> {
        self.pairs.iter().filter(|(key, pair)| key.1 == device && pair.present).map(|(key, _)| *key).collect()
    }

    /// The pairs that a range of the host touches.
    pub fn covering(&self, host: usize, size: usize) -> impl Iterator<Item = (&Key, &Pair)> {
        let first = host.saturating_sub(self.largest.saturating_sub(1));
        self.pairs
            .range((first, i32::MIN)..(host.saturating_add(size), i32::MIN))
            .filter(move |(_, pair)| pair.host + pair.size() > host)
    }

    /// The mapped pair whose storage has an address.
    #[must_use]
    pub fn at_storage(&self, device: i32, address: usize) -> Option<(Key, &Pair)> {
        let (_, key) = self.by_storage.range((device, 0)..=(device, address)).next_back()?;
        let pair = self.pairs.get(key)?;
        (address - pair.storage < pair.size()).then_some((*key, pair))
    }

    /// The device whose storage has an address.
    #[must_use]
    pub fn device_with(&self, address: usize) -> Option<i32> {
        let (mut device, mut first) = (None, i32::MIN);
        while device.is_none() {
            let (&(next, _), _) = self.by_storage.range((first, 0)..).next()?;
            device = self.at_storage(next, address).map(|(key, _)| key.1);
            first = next.checked_add(1)?;
        }
        device
    }

    /// Whether a device may have something newer of a range of the host.
    #[must_use]
    pub fn has_newer_on_devices(&self, host: usize, size: usize) -> bool {
        self.covering(host, size).any(|(_, pair)| pair.device_newer != 0)
    }

    /// The host reads a range, where it finds `now`: whether that is old.
    #[must_use]
    pub fn host_reads(&self, host: usize, now: &[u8]) -> Option<Access> {
        self.covering(host, now.len()).find_map(|(key, pair)| {
            let (begin, end) = part(pair.host, pair.size(), host, now.len());
            let at = pair.host + begin - host;
            let stale = pair.host_reads(begin..end, &now[at..at + (end - begin)])?;
            Some(Access { key: *key, stale })
        })
    }

    /// The host writes a range, whose content is not there yet.
    pub fn host_writes(&mut self, host: usize, size: usize, origin: Origin) {
        self.version += 1;
        let first = host.saturating_sub(self.largest.saturating_sub(1));
        for (_, pair) in self.pairs.range_mut((first, i32::MIN)..(host.saturating_add(size), i32::MIN)) {
            if pair.host + pair.size() > host {
                let (begin, end) = part(pair.host, pair.size(), host, size);
                pair.host_writes(begin..end, origin);
            }
        }
    }

    /// The host has this now: what has changed it has written, whoever has pairs of it.
    pub fn see_host(&mut self, host: usize, now: &[u8]) {
        self.version += 1;
        let first = host.saturating_sub(self.largest.saturating_sub(1));
        for (_, pair) in self.pairs.range_mut((first, i32::MIN)..(host.saturating_add(now.len()), i32::MIN)) {
            if pair.host + pair.size() > host {
                let (begin, end) = part(pair.host, pair.size(), host, now.len());
                let at = pair.host + begin - host;
                pair.see_host(begin, &now[at..at + (end - begin)], 0);
            }
        }
    }

    /// A copy from a device has given the host this: what that says of pairs of other devices.
    pub fn host_is_given(&mut self, by: Key, host: usize, now: &[u8]) {
        self.version += 1;
        let first = host.saturating_sub(self.largest.saturating_sub(1));
        for (key, pair) in self.pairs.range_mut((first, i32::MIN)..(host.saturating_add(now.len()), i32::MIN))
        {
            if *key != by && pair.host + pair.size() > host {
                let (begin, end) = part(pair.host, pair.size(), host, now.len());
                let at = pair.host + begin - host;
                pair.host_is_given(begin, &now[at..at + (end - begin)]);
            }
        }
    }

    /// A kernel reads a range of storage: whether that is old.
    #[must_use]
    pub fn device_reads(&self, device: i32, storage: usize, size: usize) -> Option<Access> {
        let (key, pair) = self.at_storage(device, storage)?;
        let (begin, end) = part(pair.storage, pair.size(), storage, size);
        Some(Access { key, stale: pair.device_reads(begin..end)? })
    }

    /// A kernel under way writes a range of storage, whose content is not there yet.
    pub fn device_writes(&mut self, device: i32, storage: usize, size: usize, origin: Origin) {
        self.version += 1;
        let Some((key, _)) = self.at_storage(device, storage) else { return };
        if let Some(pair) = self.pairs.get_mut(&key) {
            let (begin, end) = part(pair.storage, pair.size(), storage, size);
            pair.device_writes(begin..end, origin);
        }
    }

    /// The ranges of the host with bytes that the device has newer.
    pub fn stale_on_host(&self) -> impl Iterator<Item = (&Key, &Pair)> {
        self.pairs.iter().filter(|(_, pair)| pair.device_newer != 0)
    }
}

/// What a range has of another: offsets in the other.
fn part(of: usize, length: usize, begin: usize, size: usize) -> (usize, usize) {
    let end = (begin + size).min(of + length);
    let begin = begin.max(of);
    (begin - of, end.max(begin) - of)
}
