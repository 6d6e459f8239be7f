//! The functions that devices can call, by number.

#[cfg(not(loom))]
use super::named;
use gangway_backend::HostCallOutcome;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

type Function = Arc<dyn Fn(&mut HostCall<'_>) + Send + Sync>;

/// Who is told of calls of functions that are not there: the device, and the number.
pub type OnUnknown = fn(device: i32, function: u64);

static ON_UNKNOWN: OnceLock<OnUnknown> = OnceLock::new();

static FUNCTIONS: RwLock<BTreeMap<u64, Function>> = RwLock::new(BTreeMap::new());

/// One call, as the function sees it.
#[derive(Debug)]
pub struct HostCall<'b> {
    /// Number of the device that calls.
    pub device: i32,
    /// What the caller has passed, and what it gets.
    pub block: &'b mut [u8],
}

impl HostCall<'_> {
    /// The block as words. Bytes before the first and behind the last whole one are left out.
    pub fn words(&mut self) -> &mut [u64] {
        // SAFETY: any bytes are a number.
        unsafe { self.block.align_to_mut().1 }
    }
}

/// Has devices find a function under a number. It may run on any thread, and on several at
/// once. False: the number is taken.
pub fn register(number: u64, function: impl Fn(&mut HostCall<'_>) + Send + Sync + 'static) -> bool {
    let mut functions = FUNCTIONS.write().unwrap_or_else(PoisonError::into_inner);
    if functions.contains_key(&number) {
        return false;
    }
    functions.insert(number, Arc::new(function));
    true
}

/// Takes a function away; calls of it that are under way go on. False: there is none.
pub fn unregister(number: u64) -> bool {
    let removed = FUNCTIONS.write().unwrap_or_else(PoisonError::into_inner).remove(&number);
    // The lock is free again when the function's own things are dropped.
    removed.is_some()
}

/// Has somebody told of calls of functions that are not there; the first one stays.
pub fn on_unknown(tell: OnUnknown) {
    let _ = ON_UNKNOWN.set(tell);
}

/// Runs a function for a device.
pub(super) fn run(device: i32, number: u64, block: &mut [u8]) -> HostCallOutcome {
    let found = FUNCTIONS.read().unwrap_or_else(PoisonError::into_inner).get(&number).cloned();
    let Some(function) = found else {
        if let Some(tell) = ON_UNKNOWN.get() {
            tell(device, number);
        }
        return HostCallOutcome::NoSuchFunction;
    };
    let mut call = HostCall { device, block };
    // A panic must not reach the device's driver, nor end a worker.
    match catch_unwind(AssertUnwindSafe(|| function(&mut call))) {
        Ok(()) => HostCallOutcome::Answered,
        Err(_) => HostCallOutcome::Failed,
    }
}

/// The locks of the functions, for a fork.
#[cfg(not(loom))]
pub(crate) struct FunctionsLock {
    _names: std::sync::MutexGuard<'static, named::Names>,
    _functions: std::sync::RwLockReadGuard<'static, BTreeMap<u64, Function>>,
}

/// Takes the locks, for a fork: nobody changes the functions meanwhile. Who registers a name takes
/// them in this order.
#[cfg(not(loom))]
pub(crate) fn hold() -> FunctionsLock {
    FunctionsLock {
        _names: named::registered(),
        _functions: FUNCTIONS.read().unwrap_or_else(PoisonError::into_inner),
    }
}
