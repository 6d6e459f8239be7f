//! What a thread knows: its device, whether it is bound to the host, and the structured data
//! that it is in.

use crate::device_type::DeviceType;
use gangway_runtime::Device;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where a thread's constructs run.
#[derive(Clone, Copy)]
pub enum Place {
    /// On the host, which shares its memory.
    Host,
    /// On a device.
    Device(&'static Device),
}

impl Place {
    /// The device; none where the host's own memory is used.
    #[must_use]
    pub const fn device(self) -> Option<&'static Device> {
        match self {
            Self::Host => None,
            Self::Device(device) => Some(device),
        }
    }
}

/// The device that a thread uses.
#[derive(Clone, Copy)]
pub struct Current {
    /// Its type.
    pub device_type: DeviceType,
    /// Its number among those of its type.
    pub number: i32,
    /// Where that is.
    pub place: Place,
}

/// Counts shutdowns: threads forget their devices that have been shut down.
static SHUTDOWNS: AtomicU64 = AtomicU64::new(0);
/// The last shutdown of each device.
static LAST: Mutex<BTreeMap<(DeviceType, i32), u64>> = Mutex::new(BTreeMap::new());

fn last() -> MutexGuard<'static, BTreeMap<(DeviceType, i32), u64>> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lock of this module, for a fork.
pub fn hold() -> impl Sized + 'static {
    last()
}

thread_local! {
    /// The device, and the number of shutdowns before.
    static CURRENT: Cell<Option<(Current, u64)>> = const { Cell::new(None) };
    /// Constructs under way whose `if` clause has bound them to the host.
    static BOUND: Cell<usize> = const { Cell::new(0) };
    /// `data` constructs that the thread is in.
    static STRUCTURED: Cell<usize> = const { Cell::new(0) };
}

/// The device that the thread uses, if it has one; the host while it is bound to that.
#[inline]
#[must_use]
pub fn current() -> Option<Current> {
    let own = own()?;
    if BOUND.get() == 0 {
        return Some(own);
    }
    Some(Current { device_type: DeviceType::Host, number: 0, place: Place::Host })
}

/// As [`current`], whatever the thread is bound to.
#[inline]
#[must_use]
pub fn own() -> Option<Current> {
    let (current, known) = CURRENT.get()?;
    let shutdowns = SHUTDOWNS.load(Ordering::Acquire);
    if known == shutdowns { Some(current) } else { own_after_shutdowns(current, known, shutdowns) }
}

/// There have been shutdowns since the thread got its device.
#[cold]
fn own_after_shutdowns(current: Current, known: u64, shutdowns: u64) -> Option<Current> {
    let ended = last().get(&(current.device_type, current.number)).copied().unwrap_or(0);
    let kept = (ended <= known).then_some((current, shutdowns));
    CURRENT.set(kept);
    kept.map(|(current, _)| current)
}

/// Gives the thread a device, or takes it away.
pub fn set(current: Option<Current>) {
    CURRENT.set(current.map(|current| (current, SHUTDOWNS.load(Ordering::Acquire))));
}

/// Takes a device away from all threads that use it.
pub fn forget(device_type: DeviceType, number: i32) {
    let mut last = last();
    let shutdown = SHUTDOWNS.load(Ordering::Acquire) + 1;
    last.insert((device_type, number), shutdown);
    SHUTDOWNS.store(shutdown, Ordering::Release);
}

/// Runs `work`, whose constructs and routines are all for the host.
pub fn bound_to_host<R>(work: impl FnOnce() -> R) -> R {
    struct Unbind;
    impl Drop for Unbind {
        fn drop(&mut self) {
            unbind_from_host();
        }
    }
    bind_to_host();
    let _unbind = Unbind;
    work()
}

/// Has the thread's constructs and routines be for the host, until [`unbind_from_host`].
pub fn bind_to_host() {
    BOUND.set(BOUND.get() + 1);
}

/// The end of [`bind_to_host`].
pub fn unbind_from_host() {
    BOUND.set(BOUND.get().saturating_sub(1));
}

/// Whether the thread is bound to the host.
#[must_use]
pub fn is_bound_to_host() -> bool {
    BOUND.get() != 0
}

/// A `data` construct begins.
pub fn begin_structured() {
    STRUCTURED.set(STRUCTURED.get() + 1);
}

/// One ends.
pub fn end_structured() {
    STRUCTURED.set(STRUCTURED.get().saturating_sub(1));
}

/// Whether the thread is in a `data` construct.
#[must_use]
pub fn is_in_structured() -> bool {
    STRUCTURED.get() != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, as shutdowns are the process's.
    #[test]
    fn a_thread_has_its_own_device_until_a_shutdown() {
        let host = Current { device_type: DeviceType::Host, number: 3, place: Place::Host };
        assert!(current().is_none());
        set(Some(host));
        assert_eq!(current().map(|current| current.number), Some(3));
        std::thread::spawn(|| assert!(current().is_none())).join().unwrap();
        bound_to_host(|| {
            assert_eq!(current().map(|current| current.number), Some(0));
            assert_eq!(own().map(|current| current.number), Some(3));
            bound_to_host(|| assert!(is_bound_to_host()));
            assert!(is_bound_to_host());
        });
        assert!(!is_bound_to_host());
        forget(DeviceType::Host, 0);
        forget(DeviceType::Nvidia, 3);
        assert_eq!(current().map(|current| current.number), Some(3));
        forget(DeviceType::Host, 3);
        assert!(current().is_none());
        set(Some(host));
        assert!(current().is_some() && host.place.device().is_none());
        set(None);
        assert!(current().is_none());
    }
}
