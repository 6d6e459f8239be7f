//! Accesses that the program and the C library [tell](crate::host_accesses).

use super::tracker::{Mistake, TRACKER, Tracker};
use super::{advice, contents, pages};
use crate::host_accesses::{self, Access, Consumer};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many accesses of kernels have been told.
static BY_KERNELS: AtomicUsize = AtomicUsize::new(0);

/// How many accesses of kernels have been told so far.
pub fn by_kernels() -> usize {
    BY_KERNELS.load(Ordering::Relaxed)
}

/// Hears of what the host does.
pub struct Accesses;

impl Consumer for Accesses {
    fn accessed(&self, address: usize, size: usize, writes: bool, code: usize) {
        let _ = TRACKER.try_with(|tracker| {
            let device = tracker.ledger.device_with(address);
            if device.is_some() {
                BY_KERNELS.fetch_add(1, Ordering::Relaxed);
            }
            if writes {
                let place = tracker.places.code(code);
                tracker.ledger.host_writes(address, size, place);
                if let Some(device) = device {
                    tracker.ledger.device_writes(device, address, size, place);
                }
                return;
            }
            let by_kernel = device.and_then(|device| tracker.ledger.device_reads(device, address, size));
            if let Some(access) = by_kernel {
                let place = tracker.places.code(code);
                tracker.note(Mistake::DeviceReads, access.key, access.stale, place);
            } else if let Some(access) = host_reads(tracker, address, size) {
                let place = tracker.places.code(code);
                tracker.note(Mistake::HostReads, access.key, access.stale, place);
            }
        });
    }

    fn library(&self, address: usize, size: usize, access: Access) {
        // The runtime's own memory is allocated and freed with the locks held, too.
        if !pages::any() && !host_accesses::are_told() || pages::are_mine() || advice::is_mine() {
            return;
        }
        match access {
            Access::Free => {
                pages::release(address, size);
                TRACKER.try_with(|tracker| tracker.ledger.free(address, size));
            }
            // How much is written shows later, in the contents.
            Access::Write => pages::open(address, size),
            Access::Read => library_reads(address, size),
        }
    }
}

fn library_reads(address: usize, size: usize) {
    // No more is of interest than what is mapped.
    let mapped = |tracker: &mut Tracker| {
        let ledger = &tracker.ledger;
        let ends = ledger.covering(address, size).map(|(key, pair)| key.0 + pair.size());
        ends.max().filter(|_| ledger.has_newer_on_devices(address, size))
    };
    let Some(Some(end)) = TRACKER.try_with(mapped) else { return };
    let size = size.min(end - address);
    pages::open(address, size);
    let Some(now) = contents::read(address, size) else { return };
    TRACKER.try_with(|tracker| {
        if let Some(access) = tracker.ledger.host_reads(address, &now) {
            let place = tracker.places.code(host_accesses::library_caller().unwrap_or(0));
            tracker.note(Mistake::HostReads, access.key, access.stale, place);
        }
    });
}

fn host_reads(tracker: &Tracker, address: usize, size: usize) -> Option<gangway_freshness::Access> {
    tracker.ledger.has_newer_on_devices(address, size).then_some(())?;
    // SAFETY: the program is about to read the same bytes.
    let now = unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address), size) };
    tracker.ledger.host_reads(address, now)
}
