//! What waits for queues: the thread, or other queues (OpenACC 3.3 sections 2.16.2, 2.16.3, 3.2.9 to 3.2.12).
//!
//! A routine without a device number is about the thread's device. One with a number is about a device of the
//! thread's type; a queue that is to wait is always the thread's device's.

use crate::device::{self, place_of};
use crate::device_type::{NOVAL, SYNC};
use crate::failure::{done, mistake};
use crate::profiling::{Construct, ErrorCode, Scope, waiting};
use crate::queues::{all, existing, get, key, resolved};
use crate::thread;
use gangway_frontend::guard::guard;
use gangway_frontend::host::{Host, OPENACC_3_3};
use gangway_runtime::Device;
use gangway_runtime::queue::Queue;
use std::sync::Arc;
use std::time::Duration;

/// The thread's device; none on the host, or where no device has been used yet, which libgomp takes for a mistake.
fn active<H: Host>() -> Option<&'static Device> {
    match thread::current().or_else(device::if_started) {
        Some(current) => current.place.device(),
        None if H::OPENACC >= OPENACC_3_3 => None,
        None => mistake(
            ErrorCode::DeviceUnavailable,
            format_args!("no device active\n  help: call acc_init, or wait after the first construct"),
        ),
    }
}

/// The device of a number among those of the thread's type; none is the host.
fn numbered<H: Host>(number: i32) -> Option<&'static Device> {
    place_of(device::current::<H>().device_type, number).device()
}

/// The scope of a routine that waits, on the thread's device.
fn scope(asynchronous: i32) -> Option<Scope> {
    thread::current().map(|current| device::scope(&current, asynchronous))
}

/// As [`scope`], on a device by its number.
fn scope_on<H: Host>(number: i32, asynchronous: i32) -> Scope {
    Scope::begin((device::current::<H>().device_type as i32, number), asynchronous)
}

/// Has the thread wait for a queue.
fn synchronize(asynchronous: i32, queue: &Queue) {
    waiting(asynchronous, || done(queue.synchronize()));
}

fn is_done(device: Option<&'static Device>, asynchronous: i32) -> bool {
    let Some(device) = device else {
        let _ = key(asynchronous);
        return true;
    };
    existing(device, asynchronous).is_none_or(|queue| done(queue.test()))
}

fn all_are_done(device: Option<&'static Device>) -> bool {
    device.is_none_or(|device| all(device).iter().all(|(_, queue)| done(queue.test())))
}

fn wait(device: Option<&'static Device>, asynchronous: i32) {
    let Some(device) = device else {
        let _ = key(asynchronous);
        return;
    };
    if let Some(queue) = existing(device, asynchronous) {
        synchronize(resolved(asynchronous), &queue);
    }
}

fn wait_all(device: Option<&'static Device>) {
    let queues = device.map(all).unwrap_or_default();
    queues.iter().for_each(|(asynchronous, queue)| synchronize(*asynchronous, queue));
}

/// Has a queue of a device wait for one that may be another device's.
fn order(earlier: (Option<&'static Device>, i32), later: (Option<&'static Device>, i32)) {
    let (_, _) = (key(earlier.1), key(later.1));
    let Some(queue) = earlier.0.and_then(|device| existing(device, earlier.1)) else { return };
    match later.0.and_then(|device| get(device, later.1)) {
        Some(later) if Arc::ptr_eq(&queue, &later) => {}
        Some(later) => done(later.wait_for(&queue)),
        None => synchronize(resolved(earlier.1), &queue),
    }
}

/// Has a queue of a device wait for all queues of one that may be another.
fn order_all(earlier: Option<&'static Device>, later: (Option<&'static Device>, i32)) {
    let _ = key(later.1);
    let Some(earlier) = earlier else { return };
    let Some(later) = later.0.and_then(|device| get(device, later.1)) else { return wait_all(Some(earlier)) };
    for (_, queue) in all(earlier).iter().filter(|(_, queue)| !Arc::ptr_eq(queue, &later)) {
        done(later.wait_for(queue));
    }
}

/// Waits until one of several queues is done, and answers which; `None` if there is none.
fn wait_any(device: Option<&'static Device>, queues: &[i32]) -> Option<usize> {
    const FIRST: Duration = Duration::from_micros(10);
    const LONGEST: Duration = Duration::from_millis(1);
    let mut candidates = Vec::new();
    for (index, asynchronous) in queues.iter().enumerate() {
        if key(*asynchronous).is_some() {
            candidates.push((index, *asynchronous));
        }
    }
    let mut pause = FIRST;
    while !candidates.is_empty() {
        if let Some((index, _)) = candidates.iter().find(|(_, asynchronous)| is_done(device, *asynchronous)) {
            return Some(*index);
        }
        if let [(index, asynchronous)] = candidates[..] {
            wait(device, asynchronous);
            return Some(index);
        }
        // Drivers tell of one queue, not of the first of several.
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST);
    }
    None
}

/// # Safety
/// `queues` has `count` numbers.
unsafe fn wait_any_of(name: &str, device: Option<&'static Device>, count: i32, queues: *const i32) -> i32 {
    let Ok(length) = usize::try_from(count) else {
        mistake(ErrorCode::InvalidArgument, format_args!("{name}: there cannot be {count} queues"));
    };
    if length == 0 {
        return -1;
    }
    if queues.is_null() {
        mistake(
            ErrorCode::InvalidNullPointer,
            format_args!("{name}: the array of {count} queues is a null pointer"),
        );
    }
    // SAFETY: the caller's promise.
    let queues = unsafe { std::slice::from_raw_parts(queues, length) };
    wait_any(device, queues).and_then(|index| i32::try_from(index).ok()).unwrap_or(-1)
}

/// Whether all that is in a queue is done.
pub extern "C" fn acc_async_test<H: Host>(asynchronous: i32) -> i32 {
    guard(1, || is_done(active::<H>(), asynchronous).into())
}

/// As [`acc_async_test`], of a queue of the device of a number.
pub extern "C" fn acc_async_test_device<H: Host>(asynchronous: i32, number: i32) -> i32 {
    guard(1, || is_done(numbered::<H>(number), asynchronous).into())
}

/// Whether all that is in any queue is done.
pub extern "C" fn acc_async_test_all<H: Host>() -> i32 {
    guard(1, || all_are_done(active::<H>()).into())
}

/// As [`acc_async_test_all`], of the queues of the device of a number.
pub extern "C" fn acc_async_test_all_device<H: Host>(number: i32) -> i32 {
    guard(1, || all_are_done(numbered::<H>(number)).into())
}

/// Waits for all that is in a queue.
pub extern "C" fn acc_wait<H: Host>(asynchronous: i32) {
    guard((), || {
        let device = active::<H>();
        let _scope = scope(asynchronous);
        wait(device, asynchronous);
    });
}

/// As [`acc_wait`], for a queue of the device of a number.
pub extern "C" fn acc_wait_device<H: Host>(asynchronous: i32, number: i32) {
    guard((), || {
        let device = numbered::<H>(number);
        let _scope = scope_on::<H>(number, asynchronous);
        wait(device, asynchronous);
    });
}

/// Waits for all that is in any queue.
pub extern "C" fn acc_wait_all() {
    guard((), || {
        let current = thread::current().or_else(device::if_started);
        let _scope = scope(SYNC);
        wait_all(current.and_then(|current| current.place.device()));
    });
}

/// As [`acc_wait_all`], for the queues of the device of a number.
pub extern "C" fn acc_wait_all_device<H: Host>(number: i32) {
    guard((), || {
        let device = numbered::<H>(number);
        let _scope = scope_on::<H>(number, SYNC);
        wait_all(device);
    });
}

/// Has the second queue wait for what is in the first one.
pub extern "C" fn acc_wait_async<H: Host>(first: i32, second: i32) {
    guard((), || {
        let device = active::<H>();
        let _scope = scope(second);
        order((device, first), (device, second));
    });
}

/// As [`acc_wait_async`], for a queue of the device of a number. The queue that waits is the thread's device's.
pub extern "C" fn acc_wait_device_async<H: Host>(first: i32, second: i32, number: i32) {
    guard((), || {
        let earlier = numbered::<H>(number);
        let _scope = scope_on::<H>(number, second);
        order((earlier, first), (device::current::<H>().place.device(), second));
    });
}

/// Has a queue wait for all others.
pub extern "C" fn acc_wait_all_async<H: Host>(asynchronous: i32) {
    guard((), || {
        let device = active::<H>();
        let _scope = scope(asynchronous);
        order_all(device, (device, asynchronous));
    });
}

/// As [`acc_wait_all_async`], for the queues of the device of a number. The queue that waits is the thread's
/// device's.
pub extern "C" fn acc_wait_all_device_async<H: Host>(asynchronous: i32, number: i32) {
    guard((), || {
        let earlier = numbered::<H>(number);
        let _scope = scope_on::<H>(number, asynchronous);
        order_all(earlier, (device::current::<H>().place.device(), asynchronous));
    });
}

/// Waits until all is done that is in one of several queues; answers its index. -1: there is none but
/// `acc_async_sync`.
///
/// # Safety
/// `queues` has `count` numbers.
pub unsafe extern "C" fn acc_wait_any<H: Host>(count: i32, queues: *const i32) -> i32 {
    guard(-1, || {
        let device = active::<H>();
        let _scope = scope(SYNC);
        // SAFETY: the caller's promise.
        unsafe { wait_any_of("acc_wait_any", device, count, queues) }
    })
}

/// As [`acc_wait_any`], of the queues of the device of a number.
///
/// # Safety
/// As there.
pub unsafe extern "C" fn acc_wait_any_device<H: Host>(count: i32, queues: *const i32, number: i32) -> i32 {
    guard(-1, || {
        let device = numbered::<H>(number);
        let _scope = scope_on::<H>(number, SYNC);
        // SAFETY: the caller's promise.
        unsafe { wait_any_of("acc_wait_any_device", device, count, queues) }
    })
}

/// The `wait` clause of a construct in a queue, as GCC gives it: what is issued next comes behind what is in the
/// queues that the clause lists. A list without a number is for all of them.
pub fn wait_clause(device: &'static Device, asynchronous: i32, numbers: impl Iterator<Item = i32>) {
    let device = Some(device);
    for number in numbers {
        if number == NOVAL {
            return wait_for_all(device, device, asynchronous);
        }
        wait_for_one((device, number), (device, asynchronous));
    }
}

fn wait_for_one(earlier: (Option<&'static Device>, i32), later: (Option<&'static Device>, i32)) {
    match resolved(later.1) {
        SYNC => wait(earlier.0, earlier.1),
        _ => order(earlier, later),
    }
}

fn wait_for_all(earlier: Option<&'static Device>, later: Option<&'static Device>, asynchronous: i32) {
    match resolved(asynchronous) {
        SYNC => wait_all(earlier),
        _ => order_all(earlier, (later, asynchronous)),
    }
}

/// A `wait` directive or clause.
#[derive(Debug, Clone, Copy)]
pub struct Wait<'w> {
    /// What waits: a queue, or the thread.
    pub asynchronous: i32,
    /// Whose queues are waited for, by number among those of the thread's type; the thread's own if there is none.
    pub device: Option<i32>,
    /// The queues; all if there is no list.
    pub queues: Option<&'w [i32]>,
    /// The directive, or the construct that has the clause.
    pub construct: Construct,
}

impl Wait<'_> {
    /// Waits, as the thread's device does, which is started if it has to be.
    pub fn run<H: Host>(self) {
        let current = device::current::<H>();
        let mut scope = device::scope(&current, self.asynchronous);
        scope.set_construct(self.construct);
        let own = current.place.device();
        let earlier = match self.device {
            Some(number) => numbered::<H>(number),
            None => own,
        };
        match self.queues {
            None => wait_for_all(earlier, own, self.asynchronous),
            Some(queues) => {
                for queue in queues {
                    wait_for_one((earlier, *queue), (own, self.asynchronous));
                }
            }
        }
    }
}

/// Older names, which mean the same.
pub use {acc_wait as acc_async_wait, acc_wait_all as acc_async_wait_all};
