//! Accesses that a program tells itself: code that clang has compiled with `-fsanitize-coverage=trace-loads,trace-stores`,
//! as `gangway cc --check=map` has it done, calls a function before each.
//!
//! Most accesses are to pages that have nothing to do with mapped data. Tables of bits say so, by the low bits of a
//! page's number, and by lines where a page has something else, too.

use super::contents;
use super::tracker::{Mistake, TRACKER, Tracker};
use crate::caller;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

const PAGE: usize = 4096;
/// What is told apart where a page has mapped data and something else.
const LINE: usize = 64;

/// Bits for pieces of memory, by the low bits of their numbers: those of which an access has to be looked at.
struct Bits([AtomicU64; BITS / 64]);

/// Pages of 4 GiB, or lines of 64 MiB, are told apart.
const BITS: usize = 1 << 20;

impl Bits {
    const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; BITS / 64])
    }

    fn set(&self, number: usize) {
        self.0[number % BITS / 64].fetch_or(1 << (number % 64), Ordering::Relaxed);
    }

    #[inline]
    fn has(&self, number: usize) -> bool {
        self.0[number % BITS / 64].load(Ordering::Relaxed) & 1 << (number % 64) != 0
    }
}

/// Pages of mapped data, or of its storage on a device that has the same addresses, and of nothing else.
static WHOLE: Bits = Bits::new();
/// Pages that have it in some lines.
static PARTS: Bits = Bits::new();
static LINES: Bits = Bits::new();

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
    let end = address.saturating_add(size.max(1));
    let pages = address / PAGE..=(end - 1) / PAGE;
    for page in pages.take(BITS) {
        let begin = page * PAGE;
        if address <= begin && begin + PAGE <= end {
            WHOLE.set(page);
            continue;
        }
        PARTS.set(page);
        let lines = address.max(begin) / LINE..=(end.min(begin + PAGE) - 1) / LINE;
        lines.for_each(|line| LINES.set(line));
    }
}

/// An access may begin before a range: alignment keeps it within a line then.
#[inline]
fn is_watched(address: usize) -> bool {
    let page = address / PAGE;
    WHOLE.has(page) || PARTS.has(page) && LINES.has(address / LINE)
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
    // The program is about to read the same bytes. If it must not, that is for its own instruction to find out, and not
    // for this thread, which has the tracker.
    let mut now = [0; 16];
    let now = now.get_mut(..size)?;
    contents::read_into(address, now).then(|| tracker.ledger.host_reads(address, now))?
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
    fn what_shares_a_page_with_mapped_data_is_not_watched() {
        let begin = (1 << 40) + 100 * PAGE + 8;
        assert!(!is_watched(begin));
        watch(begin, 2 * PAGE);
        let watched = |distance: usize| is_watched(begin - 8 + distance);
        assert!(
            watched(8)
                && watched(PAGE - 1)
                && watched(PAGE)
                && watched(2 * PAGE - 1)
                && watched(2 * PAGE + 7)
        );
        assert!(!watched(2 * PAGE + LINE) && !watched(3 * PAGE - 1) && !watched(3 * PAGE));
    }
}
