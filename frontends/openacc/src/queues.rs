//! Asynchronous queues (OpenACC 3.3 sections 2.16, 3.2.9 to 3.2.14).
//!
//! A queue is made when something is first put into it, one for each number and device, and
//! belongs to all threads. Queues are independent of each other. What is in none comes behind
//! what is in the queues, and what comes later behind that, as libgomp's queues are blocking
//! streams of CUDA's and the rest goes to the null stream: programs rely on that order, though the
//! specification does not promise it (section 2.16.1: without `async` the thread waits for its own
//! construct).
//!
//! Which queue an async argument means is said here, what routines and directives wait for in
//! [`waits`](crate::waits).

use crate::device_type::{INITIAL, NOVAL, SYNC};
use crate::failure::{done, mistake};
use crate::profiling::ErrorCode;
use gangway_frontend::guard::guard;
use gangway_frontend::libraries;
use gangway_runtime::Device;
use gangway_runtime::queue::Queue;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// By device and key ([`key`]).
static QUEUES: Mutex<BTreeMap<(i32, i32), Arc<Queue>>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// The thread's default queue (acc-default-async-var), as an async argument but [`NOVAL`].
    static DEFAULT: Cell<i32> = const { Cell::new(INITIAL) };
}

fn queues() -> MutexGuard<'static, BTreeMap<(i32, i32), Arc<Queue>>> {
    QUEUES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lock of this module, for a fork.
pub fn hold() -> impl Sized + 'static {
    queues()
}

/// What an async argument means for this thread now: with the thread's default queue in place of none. Where a
/// construct ends later, it is asked once. A number that means nothing ends the program.
#[inline]
#[must_use]
pub fn resolved(asynchronous: i32) -> i32 {
    match asynchronous {
        NOVAL => DEFAULT.get(),
        known if is_valid(known) => known,
        wrong => invalid(wrong),
    }
}

#[cold]
fn invalid(asynchronous: i32) -> ! {
    mistake(
        ErrorCode::InvalidAsync,
        format_args!(
            "invalid async-argument: {asynchronous}\n  \
             help: it is acc_async_sync ({SYNC}), acc_async_noval ({NOVAL}), or 0 and more"
        ),
    )
}

/// The key of the initial default queue, which has no number.
const NO_NUMBER: i32 = -1;

/// What a queue is found by; `None` if the caller is to wait. The initial default queue is one of its
/// own.
pub(crate) fn key(asynchronous: i32) -> Option<i32> {
    match resolved(asynchronous) {
        SYNC => None,
        INITIAL => Some(NO_NUMBER),
        number => Some(number),
    }
}

/// Whether an async argument means anything.
#[must_use]
pub const fn is_valid(asynchronous: i32) -> bool {
    asynchronous >= INITIAL
}

/// The queue of an async argument; `None` if the caller is to wait.
#[must_use]
pub fn get(device: &'static Device, asynchronous: i32) -> Option<Arc<Queue>> {
    let key = (device.number(), key(asynchronous)?);
    if let Some(queue) = queues().get(&key) {
        return Some(Arc::clone(queue));
    }
    // Without the lock: that calls the driver. The slower of two threads drops its queue.
    let new = Arc::new(done(Queue::create_blocking(device)));
    Some(Arc::clone(queues().entry(key).or_insert(new)))
}

/// As [`get`], if there is one already.
#[must_use]
pub fn existing(device: &'static Device, asynchronous: i32) -> Option<Arc<Queue>> {
    let key = (device.number(), key(asynchronous)?);
    queues().get(&key).map(Arc::clone)
}

/// Puts another queue in place of one.
pub(crate) fn replace(device: &'static Device, asynchronous: i32, queue: Queue) {
    let Some(key) = key(asynchronous) else { return };
    let old = queues().insert((device.number(), key), Arc::new(queue));
    if let Some(old) = old {
        done(old.synchronize());
    }
}

/// All queues of a device, with their async arguments.
pub(crate) fn all(device: &'static Device) -> Vec<(i32, Arc<Queue>)> {
    let number = device.number();
    let range = (Bound::Included((number, i32::MIN)), Bound::Included((number, i32::MAX)));
    let argument = |key: i32| if key == NO_NUMBER { INITIAL } else { key };
    queues().range(range).map(|((_, key), queue)| (argument(*key), Arc::clone(queue))).collect()
}

/// Waits for a device's queues and removes them.
pub(crate) fn remove_all(device: &'static Device) {
    let removed: Vec<Arc<Queue>> = {
        let mut queues = queues();
        let keys: Vec<_> = queues.keys().filter(|(number, _)| *number == device.number()).copied().collect();
        keys.iter().filter_map(|key| queues.remove(key)).collect()
    };
    for queue in removed {
        done(queue.synchronize());
    }
}

/// Waits for the queues of all devices: a library with device code goes, or the program ends. A
/// failure that nobody has waited for ends the program, as libgomp's, which waits for its devices
/// there.
pub fn settle() {
    if libraries::is_failing() {
        return;
    }
    let all: Vec<Arc<Queue>> = queues().values().map(Arc::clone).collect();
    // In a forked child the queues are the parent's.
    for queue in all.iter().filter(|queue| queue.device().is_open()) {
        done(queue.synchronize());
    }
}

/// The thread's default queue: where constructs go whose `async` clause has no argument. At first it is
/// `acc_async_default`, which is the queue of no number.
pub extern "C" fn acc_get_default_async() -> i32 {
    DEFAULT.get()
}

/// Sets the thread's default queue. `acc_async_default` is what it was at first, with `acc_async_sync` constructs
/// are waited for, and `acc_async_noval` changes nothing (section 2.14.3).
pub extern "C" fn acc_set_default_async(asynchronous: i32) {
    guard((), || {
        if asynchronous != NOVAL {
            let _ = key(asynchronous);
            DEFAULT.set(asynchronous);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_different_queues() {
        assert_eq!((key(SYNC), key(NOVAL), key(0), key(7)), (None, Some(-1), Some(0), Some(7)));
        assert_eq!(key(INITIAL), Some(-1));
        assert!(is_valid(SYNC) && is_valid(NOVAL) && is_valid(INITIAL) && is_valid(0) && !is_valid(-4));
    }

    #[test]
    fn a_thread_has_its_own_default_queue() {
        let others = || std::thread::spawn(|| acc_get_default_async()).join().unwrap();
        assert_eq!(acc_get_default_async(), INITIAL);
        acc_set_default_async(5);
        assert_eq!((acc_get_default_async(), others()), (5, INITIAL));
        assert_eq!((resolved(NOVAL), resolved(SYNC), resolved(3)), (5, SYNC, 3));
        assert_eq!((key(NOVAL), key(INITIAL)), (Some(5), Some(-1)));
        acc_set_default_async(NOVAL);
        assert_eq!(acc_get_default_async(), 5);
        acc_set_default_async(SYNC);
        assert_eq!((acc_get_default_async(), key(NOVAL)), (SYNC, None));
        acc_set_default_async(INITIAL);
        assert_eq!((acc_get_default_async(), key(NOVAL)), (INITIAL, Some(-1)));
    }
}
