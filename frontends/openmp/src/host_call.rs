//! Functions of the host that device code calls: `gangway/host_call.h`.

use crate::devices::omp_get_initial_device;
use gangway_backend::HostCallOutcome;
use gangway_frontend::guard::guard;
use gangway_frontend::host::Host;
use gangway_frontend::libraries::is_ending;
use gangway_frontend::message::print_line;
use gangway_frontend::policy;
use gangway_frontend::repeats;
use gangway_runtime::host_calls::{self, Clash, Removal};
use std::ffi::{CStr, c_char, c_int, c_void};

/// `gangway_host_call` on the host: the function runs at once, on the caller's block.
///
/// # Safety
/// The block has so many bytes, and is what the function takes.
pub unsafe extern "C" fn gangway_host_call<H: Host>(function: u64, block: *mut c_void, size: usize) -> c_int {
    guard(HostCallOutcome::Failed, || {
        // SAFETY: the caller's promise.
        let Some(block) = (unsafe { gangway_backend::host_block(block, size) }) else {
            return HostCallOutcome::Malformed;
        };
        host_calls::on_unknown(tell_unknown);
        host_calls::call_by_host(omp_get_initial_device::<H>(), function, block)
    })
    .number()
    .cast_signed()
}

/// The number of the device whose call the calling thread serves; -1 outside of such a call.
pub extern "C" fn gangway_host_call_device() -> c_int {
    host_calls::calling_device().unwrap_or(-1)
}

/// Lets devices call a function by its name. 0, or -1 after a message if it cannot.
///
/// # Safety
/// The name ends with a null byte; the function takes any block until it is unregistered.
pub unsafe extern "C" fn gangway_register_host_function(
    name: *const c_char,
    function: Option<host_calls::Function>,
) -> c_int {
    guard(-1, || {
        // SAFETY: the caller's promise.
        let (Some(name), Some(function)) = (unsafe { text(name) }, function) else {
            print_line(format_args!(
                "gangway: a host function cannot be registered: expected a name and a function, got null"
            ));
            return -1;
        };
        host_calls::on_unknown(tell_unknown);
        host_calls::on_left(tell_left);
        // SAFETY: the caller's promise.
        let clash = match unsafe { host_calls::register_named(&name, function) } {
            Ok(()) => return 0,
            Err(clash) => clash,
        };
        match clash {
            Clash::SameName => print_line(format_args!(
                "gangway: two host functions are named `{name}`, and device code calls the first one; \
                 rename one of them"
            )),
            Clash::SameNumber(other) => print_line(format_args!(
                "gangway: the host function `{name}` has the same number as `{other}`, so device code \
                 cannot call it; rename one of them"
            )),
        }
        -1
    })
}

/// Takes a function away, and waits for its calls. 0, or -1 if it is not registered.
///
/// # Safety
/// The name ends with a null byte.
pub unsafe extern "C" fn gangway_unregister_host_function(
    name: *const c_char,
    function: Option<host_calls::Function>,
) -> c_int {
    guard(-1, || {
        // SAFETY: the caller's promise.
        let (Some(name), Some(function)) = (unsafe { text(name) }, function) else { return -1 };
        if is_ending() {
            // Its code stays, and other threads may be in regions that call it.
            return 0;
        }
        match host_calls::unregister_named(&name, function) {
            Removal::Unknown => return -1,
            Removal::Done => {}
            // Who is inside of a call knows that.
            Removal::Running if host_calls::calling_device().is_some() => {}
            Removal::Running => print_line(format_args!(
                "gangway: the host function `{name}` is taken away, and a call of it has not ended for two \
                 seconds; its library must not be unloaded"
            )),
        }
        0
    })
}

/// # Safety
/// As for [`gangway_register_host_function`].
unsafe fn text(name: *const c_char) -> Option<String> {
    // SAFETY: the caller's promise.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
}

/// A function has not returned to its caller.
fn tell_left(name: &str) -> ! {
    policy::mistake(format_args!(
        "the host function `{name}`, which device code has called, is left by an exception or by the end of \
         its thread, so that its caller has no answer; catch exceptions in the function"
    ))
}

/// Says, once for each number, that nobody has registered what code calls.
fn tell_unknown(device: i32, function: u64) {
    if !repeats::is_first_unknown(function) {
        return;
    }
    let names = host_calls::names();
    let known = match names.is_empty() {
        true => "none is".to_owned(),
        false => {
            let verb = if names.len() == 1 { " is" } else { " are" };
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ") + verb
        }
    };
    print_line(format_args!(
        "gangway: code on device {device} calls the host function number {function:#018x}, which is not \
         registered ({known}); GANGWAY_HOST_FUNCTION(name) registers it"
    ));
}
