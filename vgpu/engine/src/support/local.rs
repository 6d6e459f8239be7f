//! Local memory: the stack's top, and copies between it and arrays of the caller's.

use gangway_interpreter::FaultKind;

use super::helper::{fault, run};
use super::lanes::{lanes, value};
use crate::abi::Warp;

/// Reserves the most that any lane asks for; where it begins.
pub(super) unsafe extern "C" fn alloca(warp: *mut Warp, mask: u64, align: u64, wide: u64) -> u64 {
    // SAFETY: compiled code passes its warp.
    unsafe {
        run(warp, |warp| {
            let asked = lanes(mask as u32).map(|lane| value(&warp.values[0], wide != 0, lane));
            let size = asked.max().unwrap_or(0);
            let start = warp.local_top.next_multiple_of(align.clamp(8, 1 << 20));
            match start.checked_add(size).filter(|&top| top <= warp.local_stride) {
                Some(top) => warp.local_top = top,
                None => fault(warp, mask as u32, FaultKind::StackOverflow),
            }
            start
        })
    }
}

/// Gives back what `alloca` took, unless other lanes may still use some of it.
pub(super) unsafe extern "C" fn stack_restore(warp: *mut Warp, mask: u64, base: u64, wide: u64) {
    // SAFETY: compiled code passes its warp.
    unsafe {
        run(warp, |warp| {
            let mut most = 0;
            for lane in lanes(mask as u32) {
                let top = value(&warp.values[0], wide != 0, lane);
                if top < base || top > warp.local_top {
                    fault(warp, 1 << lane, FaultKind::OutOfBounds { address: top, size: 0, write: false });
                }
                most = most.max(top);
            }
            if mask as u32 == !warp.exited {
                warp.local_top = most;
            }
        });
    }
}

/// Copies to local memory at `offset` from the copies that lie `stride` bytes apart.
pub(super) unsafe extern "C" fn copy_in(
    warp: *mut Warp,
    mask: u64,
    from: *const u8,
    offset: u64,
    size: u64,
    stride: u64,
) {
    // SAFETY: compiled code passes its warp, its own frame, and as many copies as there are lanes.
    unsafe {
        run(warp, |warp| {
            for lane in lanes(mask as u32) {
                let to = warp.local.add((lane as u64 * warp.local_stride + offset) as usize);
                std::ptr::copy_nonoverlapping(from.add(lane * stride as usize), to, size as usize);
            }
        });
    }
}

/// The other way.
pub(super) unsafe extern "C" fn copy_out(
    warp: *mut Warp,
    mask: u64,
    to: *mut u8,
    offset: u64,
    size: u64,
    stride: u64,
) {
    // SAFETY: as for `copy_in`.
    unsafe {
        run(warp, |warp| {
            for lane in lanes(mask as u32) {
                let from = warp.local.add((lane as u64 * warp.local_stride + offset) as usize);
                std::ptr::copy_nonoverlapping(from, to.add(lane * stride as usize), size as usize);
            }
        });
    }
}
