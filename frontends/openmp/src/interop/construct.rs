//! What the `interop` and `dispatch` constructs do with objects. The dependences of a
//! construct are the front end's business: it has waited for them.

use super::object::{Completion, Interop, Kind, find_implicit};
use crate::devices::{self, DEFAULT_DEVICE};
use gangway_frontend::devices::ready;
use gangway_frontend::host::{Host, Offload};
use gangway_frontend::message;
use gangway_frontend::policy::offload;
use gangway_frontend::words::Told;
use gangway_runtime::events::Site;
use gangway_runtime::queue::foreign_runtime;
use gangway_runtime::{Device, Error};
use std::ffi::c_void;

/// What an object is wanted for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// The interop type.
    pub kind: Kind,
    /// Whether it owns a stream.
    pub stream: bool,
    /// The thread, if it is of a `dispatch` construct: the object is the runtime's then.
    pub owner: Option<i32>,
}

/// Makes (or, for `dispatch`, finds) an object; null is `omp_interop_none`. `preferences`
/// are the foreign runtimes of `prefer_type` with the attributes that go with each.
pub fn get<H: Host>(
    number: i64,
    wanted: Wanted,
    mut preferences: impl Iterator<Item = (i32, i64)>,
) -> *mut Interop {
    if offload() == Offload::Disabled {
        return std::ptr::null_mut();
    }
    let Some(device) = device::<H>(number) else { return std::ptr::null_mut() };
    let foreign = match foreign_runtime(device) {
        Ok(Some(foreign)) => foreign,
        Ok(None) => return std::ptr::null_mut(),
        Err(error) => return refused::<H>(&error),
    };
    // A preference for what the back end has may carry attributes, a preference for another
    // foreign runtime cannot be fulfilled and is only that.
    let (foreign, attributes) = preferences
        .find_map(|(runtime, attributes)| Some((H::preferred(foreign, runtime)?, attributes)))
        .unwrap_or((foreign, 0));
    let Wanted { kind, stream, owner } = wanted;
    if let Some(owner) = owner
        && let Some(found) = find_implicit(owner, device, kind, &foreign, attributes)
    {
        return found;
    }
    match Interop::create(device, foreign, kind, stream, attributes, owner) {
        Ok(interop) => interop,
        Err(error) => refused::<H>(&error),
    }
}

/// An object that cannot be made is none: the interface has no other way to say
/// so, but people may ask why.
fn refused<H: Host>(error: &Error) -> *mut Interop {
    message::debug(format_args!("no interoperability object: {}", Told(error, H::WORDS)));
    std::ptr::null_mut()
}

/// The device of a number, unless it is the host or nothing.
fn device<H: Host>(number: i64) -> Option<&'static Device> {
    let number = if number == DEFAULT_DEVICE { H::default_device() } else { number };
    // Asked as a routine asks: a program without regions has devices, too.
    if number == i64::from(devices::omp_get_initial_device::<H>()) {
        return None;
    }
    match ready(number, &Site::NONE) {
        Ok(device) => Some(device),
        Err(error) => {
            refused::<H>(&error);
            None
        }
    }
}

/// The `use` clause: what the program has put into the object's stream is done when this
/// returns, or, without `wait`, before what comes later in the stream. Answers whether
/// there is an object.
///
/// # Safety
/// `interop` is `omp_interop_none` or an object.
#[must_use]
pub unsafe fn use_object(interop: *const Interop, wait: bool) -> bool {
    // SAFETY: the caller's promise.
    let Some(interop) = (unsafe { object(interop) }) else { return false };
    // A stream is in order: what comes later waits for what is there.
    if wait {
        interop.synchronize();
    }
    true
}

/// The `destroy` clause: waits for the object's stream and ends the object. An
/// object of a `dispatch` construct is the runtime's and stays. Answers whether there is
/// an object.
///
/// # Safety
/// `interop` is `omp_interop_none` or an object, and is not used again.
#[must_use]
pub unsafe fn destroy(interop: *mut Interop) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let exists = object(interop).is_some();
        if exists {
            Interop::release(interop);
        }
        exists
    }
}

/// Registers a function to be called when the object's stream has been waited for. Answers
/// whether there is an object.
///
/// # Safety
/// `interop` is `omp_interop_none` or an object; the function may be called with
/// `data` until the object is destroyed.
#[must_use]
pub unsafe fn add_completion(interop: *const Interop, function: Completion, data: *mut c_void) -> bool {
    // SAFETY: the caller's promise.
    let interop = unsafe { object(interop) };
    interop.map(|interop| interop.add_completion(function, data)).is_some()
}

/// There are no objects where offloading is disabled.
///
/// # Safety
/// `interop` is `omp_interop_none` or an object.
unsafe fn object<'a>(interop: *const Interop) -> Option<&'a Interop> {
    // SAFETY: the caller's promise.
    unsafe { interop.as_ref() }.filter(|_| offload() != Offload::Disabled)
}
