//! Accesses that the program and the C library [tell](crate::host_accesses).

use super::tracker::{Mistake, TRACKER, Tracker};
use super::uses::User;
use super::{advice, contents, pages};
use crate::host_accesses::{self, Access, Consumer};
use gangway_freshness::Stale;
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
        if !is_of_interest() {
            return;
        }
        match access {
            Access::Free => {
                pages::release(address, size);
                note_freed(address, size);
                TRACKER.try_with(|tracker| tracker.ledger.free(address, size));
            }
            Access::Protect => pages::release(address, size),
            Access::Open => pages::open(address, size),
            // How much is written shows later, in the contents.
            Access::Write => pages::begin_use(User::Library, address, size),
            Access::Use => pages::begin_reading(address, size),
            Access::Read => {
                pages::begin_reading(address, size);
                library_reads(address, size);
            }
        }
    }

    fn library_has_ended(&self, address: usize, size: usize) {
        if is_of_interest() {
            pages::end_use(User::Library, address, size);
        }
    }
}

/// The runtime's own memory is allocated and freed with the locks held, too.
fn is_of_interest() -> bool {
    (pages::are_closed() || host_accesses::are_told()) && !pages::are_mine() && !advice::is_mine()
}

/// Notes that the program gives memory back which is mapped.
fn note_freed(address: usize, size: usize) {
    let mapped = TRACKER.try_with(|tracker| {
        let mut mapped = tracker.ledger.covering(address, size).filter(|(_, pair)| pair.is_present());
        mapped.next().is_some()
    });
    // Whose call it is, is asked without the lock: the answer may load a library.
    let code = if mapped == Some(true) { host_accesses::library_caller() } else { None };
    // Without an instruction of the program's it is a stack, of a thread that ends.
    let Some(code) = code.filter(|code| *code != 0) else { return };
    TRACKER.try_with(|tracker| {
        let place = tracker.places.code(code);
        // The last one counts where several begin in one block: a variable of its own rather than a part.
        let covering = tracker.ledger.covering(address, size).filter(|(_, pair)| pair.is_present());
        let Some((key, pair)) = covering.last() else { return };
        let (key, begin) = (*key, pair.host().max(address));
        let bytes = (pair.host() + pair.size()).min(address + size) - begin;
        let stale = Stale { offset: begin - pair.host(), bytes, origin: 0 };
        tracker.note(Mistake::Frees, key, stale, place);
    });
}

/// Tells of what is old of what the system is about to read.
fn library_reads(address: usize, size: usize) {
    // No more is of interest than what is mapped.
    let mapped = |tracker: &mut Tracker| {
        let ledger = &tracker.ledger;
        let ends = ledger.covering(address, size).map(|(key, pair)| key.0 + pair.size());
        ends.max().filter(|_| ledger.has_newer_on_devices(address, size))
    };
    let Some(Some(end)) = TRACKER.try_with(mapped) else { return };
    // Without an allocation: signal handlers write, too.
    let mut now = [0; 4096];
    let mut at = address;
    while at < end.min(address + size) {
        let part = now.len().min(end.min(address + size) - at);
        let now = &mut now[..part];
        if !contents::read_into(at, now) {
            return;
        }
        let old = TRACKER.try_with(|tracker| tracker.ledger.host_reads(at, now)).flatten();
        if let Some(access) = old {
            let code = host_accesses::library_caller().unwrap_or(0);
            TRACKER.try_with(|tracker| {
                let place = tracker.places.code(code);
                tracker.note(Mistake::HostReads, access.key, access.stale, place);
            });
            return;
        }
        at += part;
    }
}

fn host_reads(tracker: &Tracker, address: usize, size: usize) -> Option<gangway_freshness::Access> {
    tracker.ledger.has_newer_on_devices(address, size).then_some(())?;
    // The program is about to read the same bytes. If it must not, that is for its own instruction to find out, and not
    // for this thread, which has the tracker.
    let mut now = [0; host_accesses::LINE];
    let now = now.get_mut(..size)?;
    contents::read_into(address, now).then(|| tracker.ledger.host_reads(address, now))?
}
