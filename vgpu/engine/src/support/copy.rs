//! Copies from global to shared memory that a kernel starts and waits for later.

use gangway_interpreter::FaultKind;

use super::helper::{fault, run};
use super::lanes::{lanes, narrow};
use super::place::{Access, Space, place};
use super::watch;
use crate::abi::Warp;

/// The bits of what a copy is told: it is checked to the byte, and told of.
pub(crate) const CHECK: u64 = 1;
pub(crate) const WATCH: u64 = 2;

/// `cp.async`: to the shared `addresses` from the global ones in `values[0]`, as many bytes as
/// `values[1]` says; the rest of `size` becomes zero.
pub(super) unsafe extern "C" fn copy(warp: *mut Warp, mask: u64, size: u64, check: u64) {
    // SAFETY: compiled code passes its warp; `place` gives places in memory that may be used.
    unsafe {
        run(warp, |warp| {
            let watch = check & WATCH != 0;
            let access =
                |space, size: u64| Access { watch, ..Access::plain(size as u8, space, check & CHECK != 0) };
            for lane in lanes(mask as u32) {
                let taken = u64::from(narrow(&warp.values[1])[lane]).min(size);
                let source = warp.values[0][lane];
                let from = match taken {
                    _ if !source.is_multiple_of(size) => {
                        Err(FaultKind::Misaligned { address: source, size: size as usize })
                    }
                    0 => Ok(std::ptr::null_mut()),
                    // Less than the whole may be at the end of an allocation.
                    _ => (0..taken).try_fold(std::ptr::null_mut(), |first: *mut u8, offset| {
                        let place = place(warp, lane, access(Space::Global, 1), source + offset, false);
                        let outside =
                            FaultKind::OutOfBounds { address: source, size: taken as usize, write: false };
                        let place = place.map_err(|_| outside)?;
                        Ok(if first.is_null() { place } else { first })
                    }),
                };
                let to = place(warp, lane, access(Space::Shared, size), warp.addresses[lane], true);
                match (from, to) {
                    (Ok(from), Ok(to)) => {
                        let mut bytes = [0u8; 32];
                        if taken > 0 {
                            drop(watch::loads(
                                warp,
                                1 << lane,
                                access(Space::Global, taken),
                                watch::at(from),
                            ));
                            std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), taken as usize);
                        }
                        watch::stores_bytes(warp, lane, access(Space::Shared, size), to, &bytes);
                        std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, size.min(16) as usize);
                    }
                    (Err(kind), _) | (_, Err(kind)) => fault(warp, 1 << lane, kind),
                }
            }
        });
    }
}
