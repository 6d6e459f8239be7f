//! From a region's host address to its kernel, for the launch path.
//!
//! A hash table that is read without a lock and changed, rarely, under the
//! runtime's registration lock. Grown tables are kept: each is twice its
//! predecessor, so the old ones together are smaller than the present one.

use gangway_backend::Kernel;
use once_cell::race::OnceBox;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Device numbers that keep their kernels in a region's own table. Programs with
/// more devices than this are refused when the devices are numbered.
pub const MAX_DEVICES: usize = 128;

/// A target region, or another function the program can launch.
#[derive(Debug)]
pub struct Region {
    /// Host address that identifies it.
    pub host: usize,
    /// Kernel symbol.
    pub name: &'static str,
    /// Kernel per device, looked up on first launch.
    kernels: Box<[OnceBox<Kernel>]>,
}

impl Region {
    /// A region not yet looked up on any device.
    #[must_use]
    pub fn new(host: usize, name: &'static str) -> Self {
        Self { host, name, kernels: (0..MAX_DEVICES).map(|_| OnceBox::new()).collect() }
    }

    /// Its kernel on a device, if it has been looked up.
    #[inline]
    #[must_use]
    pub fn kernel(&self, device: usize) -> Option<&Kernel> {
        self.kernels[device].get()
    }

    /// Remembers what looking it up found, unless another thread has been quicker; answers
    /// what is remembered.
    pub fn set_kernel(&self, device: usize, kernel: Kernel) -> &Kernel {
        self.kernels[device].get_or_init(|| Box::new(kernel))
    }
}

/// The regions of all registered libraries.
#[derive(Default)]
pub struct Regions {
    table: AtomicPtr<Table>,
    #[allow(clippy::vec_box, reason = "readers hold addresses into the boxes")]
    tables: Mutex<Vec<Box<Table>>>,
}

struct Table {
    slots: Box<[Slot]>,
}

#[derive(Default)]
struct Slot {
    /// Host address; 0 never used, [`TOMBSTONE`] free again.
    key: AtomicUsize,
    region: AtomicPtr<Region>,
}

const TOMBSTONE: usize = usize::MAX;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Regions {
    /// No regions.
    #[must_use]
    pub const fn new() -> Self {
        Self { table: AtomicPtr::new(std::ptr::null_mut()), tables: Mutex::new(Vec::new()) }
    }

    /// The region at a host address.
    #[inline]
    #[must_use]
    pub fn find(&self, host: usize) -> Option<&Region> {
        // SAFETY: tables are never freed while `self` lives.
        let table = unsafe { self.table.load(Ordering::Acquire).as_ref() }?;
        let slot = table.slot_of(host)?;
        // SAFETY: libraries remove their regions here before they free them, and a
        // program that launches a region while it closes its library has lost the
        // region's code too.
        let region = unsafe { slot.region.load(Ordering::Acquire).as_ref() }?;
        (region.host == host).then_some(region)
    }

    /// Adds regions.
    ///
    /// # Safety
    /// They stay where they are until [`remove`](Self::remove)d.
    pub unsafe fn add<'r>(&self, regions: impl ExactSizeIterator<Item = &'r Region>) {
        let mut tables = lock(&self.tables);
        let needed = regions.len() + tables.last().map_or(0, |table| table.used());
        if tables.last().is_none_or(|table| table.slots.len() < needed * 2) {
            let grown = Box::new(Table::with_capacity((needed * 4).next_power_of_two()));
            if let Some(old) = tables.last() {
                grown.take_over(old);
            }
            self.table.store((&raw const *grown).cast_mut(), Ordering::Release);
            tables.push(grown);
        }
        let table = tables.last().expect("made above if there was none");
        regions.for_each(|region| table.insert(region.host, region));
    }

    /// Keeps others from changing the table.
    pub(crate) fn hold(&self) -> impl Sized + use<'_> {
        lock(&self.tables)
    }

    /// Removes regions by host address.
    pub fn remove(&self, hosts: impl Iterator<Item = usize>) {
        let tables = lock(&self.tables);
        let Some(table) = tables.last() else { return };
        for slot in hosts.filter_map(|host| table.slot_of(host)) {
            slot.key.store(TOMBSTONE, Ordering::Release);
            slot.region.store(std::ptr::null_mut(), Ordering::Release);
        }
    }
}

impl Table {
    fn with_capacity(capacity: usize) -> Self {
        Self { slots: (0..capacity.max(16)).map(|_| Slot::default()).collect() }
    }

    /// Slots in probing order. Functions are aligned, so the low bits say little.
    #[inline]
    fn probe(&self, host: usize) -> impl Iterator<Item = &Slot> {
        let mask = self.slots.len() - 1;
        let start = (host >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize) >> 32;
        (0..self.slots.len()).map(move |step| &self.slots[(start + step) & mask])
    }

    #[inline]
    fn slot_of(&self, host: usize) -> Option<&Slot> {
        for slot in self.probe(host) {
            match slot.key.load(Ordering::Acquire) {
                key if key == host => return Some(slot),
                0 => return None,
                _ => {}
            }
        }
        None
    }

    fn insert(&self, host: usize, region: &Region) {
        let free = |slot: &&Slot| matches!(slot.key.load(Ordering::Relaxed), 0 | TOMBSTONE);
        let slot = self.slot_of(host).or_else(|| self.probe(host).find(free));
        if let Some(slot) = slot {
            slot.region.store(std::ptr::from_ref(region).cast_mut(), Ordering::Release);
            slot.key.store(host, Ordering::Release);
        }
    }

    fn used(&self) -> usize {
        self.slots.iter().filter(|slot| slot.key.load(Ordering::Relaxed) != 0).count()
    }

    fn take_over(&self, old: &Self) {
        for slot in &old.slots {
            // SAFETY: what is in a table is valid until removed.
            if let Some(region) = unsafe { slot.region.load(Ordering::Relaxed).as_ref() } {
                self.insert(region.host, region);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gangway_backend::KernelHandle;

    #[test]
    fn regions_come_and_go() {
        let regions = Regions::new();
        assert!(regions.find(0x1000).is_none());
        let all: Vec<Region> = (1..=500).map(|i| Region::new(i * 0x30, "kernel")).collect();
        for chunk in all.chunks(7) {
            // SAFETY: `all` outlives the table.
            unsafe { regions.add(chunk.iter()) };
        }
        assert!(all.iter().all(|region| std::ptr::eq(regions.find(region.host).unwrap(), region)));
        regions.remove(all.iter().step_by(2).map(|region| region.host));
        for (index, region) in all.iter().enumerate() {
            assert_eq!(regions.find(region.host).is_some(), index % 2 == 1);
        }
        // SAFETY: as above.
        unsafe { regions.add(all.iter()) };
        assert!(all.iter().all(|region| regions.find(region.host).is_some()));
    }

    #[test]
    fn opening_and_closing_a_library_does_not_grow_the_table() {
        let regions = Regions::new();
        let region = Region::new(0x5000, "kernel");
        for _ in 0..1000 {
            // SAFETY: the region outlives the table.
            unsafe { regions.add(std::iter::once(&region)) };
            regions.remove(std::iter::once(0x5000));
        }
        assert_eq!(lock(&regions.tables).len(), 1);
    }

    #[test]
    fn kernels_are_remembered_per_device() {
        let region = Region::new(8, "kernel");
        assert_eq!(region.kernel(3), None);
        // A handle may be any number.
        for handle in [0, 77] {
            assert_eq!(region.set_kernel(3, Kernel::new(KernelHandle(handle))).handle, KernelHandle(0));
        }
        assert_eq!(region.kernel(3), Some(&Kernel::new(KernelHandle(0))));
        assert_eq!(region.kernel(2), None);
    }
}
