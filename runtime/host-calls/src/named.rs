//! The functions that programs have devices call, by name.
//!
//! A function's number is made of its name alone. So device code knows it without being told,
//! whichever compiler it comes from and whichever library has the function.

use crate::functions;
use gangway_backend::HostCallOutcome;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A function of a program's: it gets a block in memory of the host, and its size. An exception that
/// leaves it does not leave the process ([`on_left`]).
pub type Function = unsafe extern "C-unwind" fn(block: *mut c_void, size: usize);

/// Who ends the process when a function of this name is left otherwise than by its return.
pub type OnLeft = fn(name: &str) -> !;

static ON_LEFT: OnceLock<OnLeft> = OnceLock::new();

/// Has somebody told of functions that an exception leaves, or the end of their thread: their
/// callers would wait for ever, and nobody may unwind through this library. The first one stays.
pub fn on_left(tell: OnLeft) {
    let _ = ON_LEFT.set(tell);
}

/// A function that runs. Forgotten when it returns.
struct Inside<'n>(&'n str);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        if let Some(tell) = ON_LEFT.get() {
            tell(self.0);
        }
        std::process::abort();
    }
}

/// One of them.
pub(crate) struct Registered {
    name: String,
    function: usize,
    /// How often it has been registered: a name may stand in several files of a program.
    count: usize,
}

/// Functions by number.
pub(crate) type Names = BTreeMap<u64, Registered>;

static NAMES: Mutex<Names> = Mutex::new(BTreeMap::new());

thread_local! {
    /// The device whose call this thread serves.
    static DEVICE: Cell<Option<i32>> = const { Cell::new(None) };
}

/// Why a function cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clash {
    /// Another function has this name.
    SameName,
    /// A function of this name has the same number.
    SameNumber(String),
}

/// The number of a function: the FNV-1a hash of its name, in 64 bits. `gangway/host_call.h` has the
/// same function.
#[must_use]
pub fn number(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The names of all functions, for messages.
#[must_use]
pub fn names() -> Vec<String> {
    registered().values().map(|function| function.name.clone()).collect()
}

/// Takes the lock of the names, also for a fork: a program may be loading a library meanwhile.
pub(crate) fn registered() -> MutexGuard<'static, Names> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets devices call a function by its name.
///
/// # Errors
/// The name, or its number, belongs to another function.
///
/// # Safety
/// Until the function is unregistered, it can be called with any block, on any thread.
pub unsafe fn register_named(name: &str, function: Function) -> Result<(), Clash> {
    let (number, address) = (number(name), (function as *const ()).addr());
    let mut names = registered();
    if let Some(registered) = names.get_mut(&number) {
        if registered.name != name {
            return Err(Clash::SameNumber(registered.name.clone()));
        }
        if registered.function != address {
            return Err(Clash::SameName);
        }
        registered.count += 1;
        return Ok(());
    }
    let own_name = name.to_owned();
    let run = move |call: &mut functions::HostCall<'_>| {
        called_by(call.device, || {
            let inside = Inside(&own_name);
            // SAFETY: the caller's promise; the block is the call's alone.
            unsafe { function(call.block.as_mut_ptr().cast(), call.block.len()) };
            std::mem::forget(inside);
        });
    };
    if !functions::register_as(number, name, run) {
        return Err(Clash::SameNumber(format!("number {number}")));
    }
    names.insert(number, Registered { name: name.to_owned(), function: address, count: 1 });
    Ok(())
}

/// What has become of a function that is to be taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// It is not there.
    Unknown,
    /// It runs no longer, or has been registered several times and stays.
    Done,
    /// Calls of it are under way, though they have been waited for ([`functions::Removed::wait`]).
    Running,
}

/// Takes a function away, once for each time that it has been registered, and waits for its calls.
pub fn unregister_named(name: &str, function: Function) -> Removal {
    let number = number(name);
    let mut names = registered();
    let Some(registered) = names.get_mut(&number) else { return Removal::Unknown };
    if registered.name != name || registered.function != (function as *const ()).addr() {
        return Removal::Unknown;
    }
    registered.count -= 1;
    if registered.count > 0 {
        return Removal::Done;
    }
    names.remove(&number);
    let removed = functions::remove(number);
    drop(names);
    if removed.is_none_or(functions::Removed::wait) { Removal::Done } else { Removal::Running }
}

/// Runs what code on a device has called.
pub(crate) fn called_by(device: i32, run: impl FnOnce()) {
    let before = DEVICE.replace(Some(device));
    run();
    DEVICE.set(before);
}

/// The device whose call the calling thread serves: in a function that the host has called, `host`.
#[must_use]
pub fn calling_device() -> Option<i32> {
    DEVICE.get()
}

/// Runs a function for code on the host, whose device number is `host`.
pub fn call_by_host(host: i32, number: u64, block: &mut [u8]) -> HostCallOutcome {
    functions::run(host, number, block, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C-unwind" fn one(_: *mut c_void, _: usize) {}

    unsafe extern "C-unwind" fn device(block: *mut c_void, size: usize) {
        assert_eq!(size, 4);
        // SAFETY: the test passes a number.
        unsafe { block.cast::<i32>().write(calling_device().unwrap()) };
    }

    #[test]
    fn a_number_is_made_of_the_name() {
        // Test values of FNV-1a.
        assert_eq!(
            [number(""), number("a"), number("foobar")],
            [0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c, 0x8594_4171_f739_67e8]
        );
    }

    #[test]
    fn a_name_has_one_function() {
        // SAFETY: both take any block, within this test.
        unsafe {
            assert_eq!(register_named("twice", one), Ok(()));
            assert_eq!(register_named("twice", one), Ok(()));
            assert_eq!(register_named("twice", device), Err(Clash::SameName));
        }
        assert_eq!(unregister_named("twice", device), Removal::Unknown);
        assert_eq!(unregister_named("twice", one), Removal::Done);
        assert_eq!(call_by_host(3, number("twice"), &mut []), HostCallOutcome::Answered);
        assert_eq!(unregister_named("twice", one), Removal::Done);
        assert_eq!(unregister_named("twice", one), Removal::Unknown);
        assert_eq!(call_by_host(3, number("twice"), &mut []), HostCallOutcome::NoSuchFunction);
    }

    #[test]
    fn a_function_knows_who_calls() {
        // SAFETY: it is called with what it takes.
        unsafe { register_named("device", device) }.unwrap();
        let mut block = [0; 4];
        assert_eq!(call_by_host(7, number("device"), &mut block), HostCallOutcome::Answered);
        assert_eq!((i32::from_ne_bytes(block), calling_device()), (7, None));
    }
}
