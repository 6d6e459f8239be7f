//! Asynchronous queues (OpenACC 3.3 sections 2.16, 3.2.10 to 3.2.17).
//!
//! A queue is made when something is first put into it, one for each number and device, and
//! belongs to all threads. Queues are independent of each other. What is in none comes behind
//! what is in the queues, and what comes later behind that, as libgomp's queues are blocking
//! streams of CUDA's and the rest goes to the null stream: programs rely on that order, though the
//! specification does not promise it (section 2.16.1: without `async` the thread waits for its own
//! construct).

use crate::device;
use crate::device_type::{NOVAL, SYNC};
use crate::failure::{done, mistake};
use crate::thread::{self, Place};
use gangway_frontend::guard::guard;
use gangway_frontend::host::Host;
use gangway_frontend::libraries;
use gangway_runtime::Device;
use gangway_runtime::queue::Queue;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// By device and key ([`key`]).
static QUEUES: Mutex<BTreeMap<(i32, i32), Arc<Queue>>> = Mutex::new(BTreeMap::new());

fn queues() -> MutexGuard<'static, BTreeMap<(i32, i32), Arc<Queue>>> {
    QUEUES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lock of this module, for a fork.
pub fn hold() -> impl Sized + 'static {
    queues()
}

/// What a queue is found by; `None` if the caller is to wait. The default queue is one of its
/// own.
fn key(asynchronous: i32) -> Option<i32> {
    match asynchronous {
        SYNC => None,
        NOVAL => Some(-1),
        number if number >= 0 => Some(number),
        wrong => mistake(format_args!(
            "invalid async-argument: {wrong}\n  \
             help: it is acc_async_sync ({SYNC}), acc_async_noval ({NOVAL}), or 0 and more"
        )),
    }
}

/// Whether an async argument means anything.
#[must_use]
pub fn is_valid(asynchronous: i32) -> bool {
    asynchronous >= SYNC
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

/// All queues of a device.
fn all(device: &'static Device) -> Vec<Arc<Queue>> {
    let number = device.number();
    let range = (Bound::Included((number, i32::MIN)), Bound::Included((number, i32::MAX)));
    queues().range(range).map(|(_, queue)| Arc::clone(queue)).collect()
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

/// The thread's device; the routine needs one that has been used before.
fn active() -> Place {
    let Some(current) = thread::current().or_else(device::if_started) else {
        mistake(format_args!("no device active\n  help: call acc_init, or wait after the first construct"))
    };
    current.place
}

/// Whether all that is in a queue is done.
pub extern "C" fn acc_async_test(asynchronous: i32) -> i32 {
    guard(1, || {
        let Place::Device(device) = active() else {
            let _ = key(asynchronous);
            return 1;
        };
        i32::from(existing(device, asynchronous).is_none_or(|queue| done(queue.test())))
    })
}

/// Whether all that is in any queue is done.
pub extern "C" fn acc_async_test_all() -> i32 {
    guard(1, || match active() {
        Place::Host => 1,
        Place::Device(device) => i32::from(all(device).iter().all(|queue| done(queue.test()))),
    })
}

/// Waits for all that is in a queue.
pub extern "C" fn acc_wait(asynchronous: i32) {
    guard((), || match active() {
        Place::Host => _ = key(asynchronous),
        Place::Device(device) => wait(device, asynchronous),
    });
}

fn wait(device: &'static Device, asynchronous: i32) {
    if let Some(queue) = existing(device, asynchronous) {
        done(queue.synchronize());
    }
}

/// Waits for all that is in any queue.
pub extern "C" fn acc_wait_all() {
    guard((), || {
        if let Some(current) = thread::current().or_else(device::if_started)
            && let Place::Device(device) = current.place
        {
            wait_all(device);
        }
    });
}

fn wait_all(device: &'static Device) {
    all(device).iter().for_each(|queue| done(queue.synchronize()));
}

/// Has one queue wait for another.
pub extern "C" fn acc_wait_async(first: i32, second: i32) {
    guard((), || match active() {
        Place::Host => _ = (key(first), key(second)),
        Place::Device(device) => order(device, first, second),
    });
}

fn order(device: &'static Device, first: i32, second: i32) {
    let Some(earlier) = existing(device, first) else { return };
    match get(device, second) {
        Some(later) if Arc::ptr_eq(&earlier, &later) => {}
        Some(later) => done(later.wait_for(&earlier)),
        None => done(earlier.synchronize()),
    }
}

/// Has a queue wait for all others.
pub extern "C" fn acc_wait_all_async(asynchronous: i32) {
    guard((), || match active() {
        Place::Host => _ = key(asynchronous),
        Place::Device(device) => order_all(device, asynchronous),
    });
}

fn order_all(device: &'static Device, asynchronous: i32) {
    let Some(later) = get(device, asynchronous) else { return wait_all(device) };
    for earlier in all(device).iter().filter(|earlier| !Arc::ptr_eq(earlier, &later)) {
        done(later.wait_for(earlier));
    }
}

/// The `wait` clause of a construct in a queue: what is issued next comes behind what is in the
/// queues that the clause lists. A list without a number is for all of them.
pub fn wait_clause(device: &'static Device, asynchronous: i32, numbers: impl Iterator<Item = i32>) {
    for number in numbers {
        if number == NOVAL {
            return wait_directive(device, asynchronous);
        }
        match asynchronous {
            SYNC => wait(device, number),
            _ if number == asynchronous => {}
            _ => order(device, number, asynchronous),
        }
    }
}

/// The `wait` directive without a list: for all queues.
pub fn wait_directive(device: &'static Device, asynchronous: i32) {
    if asynchronous == SYNC { wait_all(device) } else { order_all(device, asynchronous) }
}

/// The `wait` directive, by the thread's device, which is started if it has to be.
pub fn wait_for<H: Host>(asynchronous: i32, numbers: Option<&[i32]>) {
    let current = device::current::<H>();
    let _scope = device::scope(&current, asynchronous);
    let Place::Device(device) = current.place else { return };
    match numbers {
        Some(numbers) => wait_clause(device, asynchronous, numbers.iter().copied()),
        None => wait_directive(device, asynchronous),
    }
}

/// Older names, which mean the same.
pub use {acc_wait as acc_async_wait, acc_wait_all as acc_async_wait_all};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_different_queues() {
        assert_eq!((key(SYNC), key(NOVAL), key(0), key(7)), (None, Some(-1), Some(0), Some(7)));
        assert!(is_valid(SYNC) && is_valid(NOVAL) && is_valid(0) && !is_valid(-3));
    }
}
