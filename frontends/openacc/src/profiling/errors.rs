//! Errors as events (section 5.2.2): a tool or the program itself may put things in order before the
//! program ends.

use super::abi::{ErrorCode, ErrorInfo, Event};
use super::registry;
use super::scope::{Told, with_outermost};
use std::cell::Cell;
use std::ffi::CString;

thread_local! {
    /// Callbacks are being told of an error.
    static TELLING: Cell<bool> = const { Cell::new(false) };
}

/// Tells of an error that ends the program: of the construct or routine that the thread is in, if it is in one. What
/// goes wrong in a callback meanwhile is not told again.
#[cold]
pub fn tell_error(code: ErrorCode, message: &str, runtime_information: usize) {
    if !registry::is_enabled() || TELLING.replace(true) {
        return;
    }
    let mut told = Told::new();
    with_outermost(|outermost| {
        told.information = outermost.information;
        told.api = outermost.api;
        told.construct = outermost.construct;
    });
    told.information.event_type = Event::Error as i32;
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    let mut about = ErrorInfo {
        event_type: Event::Error as i32,
        valid_bytes: size_of::<ErrorInfo>() as i32,
        parent: told.construct as i32,
        implicit: 0,
        tool_info: std::ptr::null_mut(),
        code: code as i32,
        message: message.as_ptr(),
        runtime_information,
    };
    // SAFETY: callbacks for errors are given this.
    unsafe { registry::call(&mut told.information, (&raw mut about).cast(), &mut told.api) };
    TELLING.set(false);
}
