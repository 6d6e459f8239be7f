//! Memory that a function of the host frees while a device waits for it.
//!
//! A driver may wait for everything on a device before it frees memory there, as CUDA's does, and a
//! kernel that has called the host ends only after the call. So such memory is freed by the
//! next allocation or release of a thread that serves no call. [`crate::memory`] asks.

use crate::device::Device;
use gangway_backend::{AllocationKind, DevicePtr};
use gangway_host_calls::calling_device;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One allocation.
#[derive(Clone, Copy)]
pub(crate) struct Late {
    pub device: &'static Device,
    pub pointer: DevicePtr,
    pub kind: AllocationKind,
}

static WAITING: Mutex<Vec<Late>> = Mutex::new(Vec::new());
/// Saves the lock where there is nothing, which is nearly always.
static ANY: AtomicBool = AtomicBool::new(false);

fn waiting() -> MutexGuard<'static, Vec<Late>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lock of them, for a fork. The child frees what its devices still have.
pub(crate) struct LateLock(#[expect(dead_code, reason = "held, not read")] MutexGuard<'static, Vec<Late>>);

/// Takes the lock, for a fork.
pub(crate) fn hold() -> LateLock {
    LateLock(waiting())
}

/// Keeps an allocation for later, if the calling thread serves a call of its device. False: it may be
/// freed at once.
pub(crate) fn keep(late: Late) -> bool {
    if calling_device() != Some(late.device.number()) {
        return false;
    }
    waiting().push(late);
    ANY.store(true, Ordering::Release);
    true
}

/// What can be freed now: everything, for a thread that serves no call.
pub(crate) fn take() -> Vec<Late> {
    if !ANY.load(Ordering::Acquire) || calling_device().is_some() {
        return Vec::new();
    }
    ANY.store(false, Ordering::Relaxed);
    std::mem::take(&mut waiting())
}
