//! Accesses that a program tells itself: code that clang has compiled with `-fsanitize-coverage=trace-loads,trace-stores`,
//! as `gangway cc --check=map` has it done, calls a function before each.
//!
//! Most accesses are to pages that have nothing to do with mapped data. A table of bits says so, by the low bits of a
//! page's number.

use super::tracker::{Mistake, TRACKER, Tracker};
use crate::caller;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

const PAGE: usize = 4096;
const PAGES: usize = 1 << 16;

/// Pages with mapped data, or with its storage on a device that has the same addresses.
static WATCHED: [AtomicU64; PAGES / 64] = [const { AtomicU64::new(0) }; PAGES / 64];

/// The program has told an access.
static TOLD: AtomicBool = AtomicBool::new(false);

/// How many accesses of kernels have been told.
static BY_KERNELS: AtomicUsize = AtomicUsize::new(0);

/// Whether the program tells its accesses.
pub fn are_told() -> bool {
    TOLD.load(Ordering::Relaxed)
}

/// How many accesses of kernels have been told so far.
pub fn by_kernels() -> usize {
    BY_KERNELS.load(Ordering::Relaxed)
}

/// Has accesses to a range looked at.
pub fn watch(address: usize, size: usize) {
    let (first, last) = (address / PAGE, address.saturating_add(size.max(1) - 1) / PAGE);
    for page in first..=last.min(first + PAGES) {
        WATCHED[page % PAGES / 64].fetch_or(1 << (page % 64), Ordering::Relaxed);
    }
}

#[inline]
fn is_watched(address: usize) -> bool {
    let page = address / PAGE;
    WATCHED[page % PAGES / 64].load(Ordering::Relaxed) & 1 << (page % 64) != 0
}

#[inline]
fn accessed<const SIZE: usize, const WRITES: bool>(address: *const c_void) {
    if !TOLD.load(Ordering::Relaxed) {
        TOLD.store(true, Ordering::Relaxed);
    }
    if is_watched(address.addr()) {
        look_at(address.addr(), SIZE, WRITES);
    }
}

#[cold]
fn look_at(address: usize, size: usize, writes: bool) {
    let code = caller::noted().addr().saturating_sub(1);
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

fn host_reads(tracker: &Tracker, address: usize, size: usize) -> Option<gangway_freshness::Access> {
    tracker.ledger.has_newer_on_devices(address, size).then_some(())?;
    // SAFETY: the program is about to read the same bytes.
    let now = unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address), size) };
    tracker.ledger.host_reads(address, now)
}

macro_rules! callbacks {
    ($($load:ident $store:ident $size:literal;)+) => {$(
        /// The program loads from an address.
        pub extern "C" fn $load(address: *const c_void) {
            accessed::<$size, false>(address);
        }

        /// The program stores to an address.
        pub extern "C" fn $store(address: *const c_void) {
            accessed::<$size, true>(address);
        }
    )+};
}

callbacks! {
    __sanitizer_cov_load1 __sanitizer_cov_store1 1;
    __sanitizer_cov_load2 __sanitizer_cov_store2 2;
    __sanitizer_cov_load4 __sanitizer_cov_store4 4;
    __sanitizer_cov_load8 __sanitizer_cov_store8 8;
    __sanitizer_cov_load16 __sanitizer_cov_store16 16;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_watched_as_a_whole() {
        let begin = (1 << 40) + 100 * PAGE + 8;
        assert!(!is_watched(begin));
        watch(begin, PAGE);
        assert!(is_watched(begin) && is_watched(begin + PAGE) && !is_watched(begin + 2 * PAGE));
    }
}
