//! The functions that devices can call, by number.

use gangway_backend::HostCallOutcome;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock};

type Function = Arc<dyn Fn(&mut HostCall<'_>) + Send + Sync>;

static FUNCTIONS: RwLock<BTreeMap<u64, Function>> = RwLock::new(BTreeMap::new());

/// One call, as the function sees it.
#[derive(Debug)]
pub struct HostCall<'w> {
    /// Number of the device that calls.
    pub device: i32,
    /// What the caller has passed, and what it gets.
    pub words: &'w mut [u64],
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

/// Runs a function for a device.
pub(super) fn run(device: i32, number: u64, words: &mut [u64]) -> HostCallOutcome {
    let found = FUNCTIONS.read().unwrap_or_else(PoisonError::into_inner).get(&number).cloned();
    let Some(function) = found else { return HostCallOutcome::NoSuchFunction };
    let mut call = HostCall { device, words };
    // A panic must not reach the device's driver, nor end a worker.
    match catch_unwind(AssertUnwindSafe(|| function(&mut call))) {
        Ok(()) => HostCallOutcome::Answered,
        Err(_) => HostCallOutcome::Failed,
    }
}

/// The lock of the functions, for a fork.
#[cfg(not(loom))]
pub(crate) struct FunctionsLock {
    _functions: std::sync::RwLockReadGuard<'static, BTreeMap<u64, Function>>,
}

/// Takes the lock, for a fork: nobody changes the functions meanwhile.
#[cfg(not(loom))]
pub(crate) fn hold() -> FunctionsLock {
    FunctionsLock { _functions: FUNCTIONS.read().unwrap_or_else(PoisonError::into_inner) }
}
