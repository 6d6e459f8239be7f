//! Calls and branches whose target is only known when they are made, and how lanes end.

use std::ffi::c_void;

use gangway_device_memory::{FUNCTION_STEP, FUNCTIONS};
use gangway_interpreter::{FaultKind, bad_prototype};

use super::helper::{fault, run};
use super::lanes::{lanes, narrow};
use crate::abi::{Flavour, Warp};

pub(super) unsafe extern "C" fn trap(warp: *mut Warp, mask: u64) {
    // SAFETY: compiled code passes its warp.
    unsafe { run(warp, |warp| fault(warp, mask as u32, FaultKind::Trap)) }
}

pub(super) unsafe extern "C" fn stack_overflow(warp: *mut Warp, mask: u64) {
    // SAFETY: compiled code passes its warp.
    unsafe { run(warp, |warp| fault(warp, mask as u32, FaultKind::StackOverflow)) }
}

/// That all lanes' indices in `values[0]` are below `count`.
pub(super) unsafe extern "C" fn check_targets(warp: *mut Warp, mask: u64, count: u64) {
    // SAFETY: compiled code passes its warp.
    unsafe {
        run(warp, |warp| {
            for lane in lanes(mask as u32) {
                let index = u64::from(narrow(&warp.values[0])[lane]);
                if index >= count {
                    fault(warp, 1 << lane, FaultKind::BadTarget(index));
                }
            }
        });
    }
}

/// Those lanes of `mask` whose index in `values[0]` is `wanted`.
pub(super) unsafe extern "C" fn lanes_equal(warp: *mut Warp, mask: u64, wanted: u64) -> u64 {
    // SAFETY: compiled code passes its warp.
    unsafe {
        run(warp, |warp| {
            let indices = narrow(&warp.values[0]);
            let equal = lanes(mask as u32).filter(|&lane| u64::from(indices[lane]) == wanted);
            equal.fold(0, |mask, lane| mask | 1 << lane)
        })
    }
}

/// The code of a function, which is compiled now when it is not yet.
pub(super) unsafe extern "C" fn code(
    warp: *mut Warp,
    function: u64,
    flavour: u64,
    mask: u64,
) -> *const c_void {
    let flavour = if flavour == Flavour::Converged as u64 { Flavour::Converged } else { Flavour::Masked };
    // SAFETY: compiled code passes its warp.
    unsafe { run(warp, |warp| warp.host().code(warp, function as u32, flavour, mask as u32)) }
}

/// The code of the function that the first lane of `mask` names in `targets`. `signature` says what
/// it must take and return. In `results` are the lanes that name the same one; and its number plus
/// one if those are not all and may wait in it, so that it needs a frame of its own.
pub(super) unsafe extern "C" fn target(
    warp: *mut Warp,
    mask: u64,
    targets: *const [u64; 32],
    signature: u64,
) -> *const c_void {
    // SAFETY: compiled code passes its warp and its own frame.
    unsafe {
        run(warp, |warp| {
            let (mask, targets) = (mask as u32, &*targets);
            let address = targets[mask.trailing_zeros() as usize & 31];
            let same = lanes(mask).filter(|&lane| targets[lane] == address);
            let same = same.fold(0u32, |mask, lane| mask | 1 << lane);
            let host = warp.host();
            let index = address.wrapping_sub(FUNCTIONS) / FUNCTION_STEP;
            let known = address >= FUNCTIONS && address.is_multiple_of(FUNCTION_STEP);
            let own = host.signature(index as usize).filter(|_| known);
            if own != Some(signature) {
                let kind = match own {
                    Some(_) => bad_prototype(&host.module().functions[index as usize]),
                    None => FaultKind::BadTarget(address),
                };
                fault(warp, same, kind);
            }
            let flavour = if same == u32::MAX { Flavour::Converged } else { Flavour::Masked };
            let code = host.code(warp, index as u32, flavour, same);
            let waits = flavour == Flavour::Masked && host.waits(index as u32);
            (warp.results[0][0], warp.results[1][0]) = (same.into(), if waits { index + 1 } else { 0 });
            code
        })
    }
}
