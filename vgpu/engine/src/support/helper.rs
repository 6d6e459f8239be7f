//! What every helper does: it runs under a guard against panics, ends the launch where the program
//! is wrong, and takes fuel for what warps spin with.

use std::panic::{AssertUnwindSafe, catch_unwind};

use gangway_interpreter::FaultKind;

use crate::abi::Warp;

/// What a load or an exchange that others may be waited for with takes from the fuel: loops that
/// spin are to give way soon.
const SPIN: i64 = 64;

/// Such a load or exchange is done.
pub(super) fn spin(warp: &mut Warp) {
    warp.fuel -= SPIN;
    warp.spins = warp.spins.saturating_add(1);
}

/// Runs a helper's work; a panic, which would be a mistake of ours, ends the launch and not the
/// process.
///
/// # Safety
///
/// `warp` is the running warp, and nothing else uses it meanwhile.
pub(super) unsafe fn run<R>(warp: *mut Warp, work: impl FnOnce(&mut Warp) -> R) -> R {
    // SAFETY: the warp is ours alone, by the caller.
    let result = catch_unwind(AssertUnwindSafe(|| work(unsafe { &mut *warp })));
    result.unwrap_or_else(|_| {
        // SAFETY: as above.
        let warp = unsafe { &mut *warp };
        fault(warp, !warp.exited, FaultKind::Unsupported("a helper of the engine failed".to_owned()))
    })
}

/// Ends the launch because of what lanes did.
pub(super) fn fault(warp: &mut Warp, lanes: u32, kind: FaultKind) -> ! {
    // SAFETY: helpers are called by running warps only.
    let host = unsafe { warp.host() };
    host.fault(warp, lanes, kind)
}
