//! `error at(execution)` (OpenMP 5.1, 2.5.4): a message with its place, and the end of the kernel if it
//! is fatal.

use crate::environment::Location;
use crate::target;
use core::ffi::{CStr, c_char, c_void};

/// `severity(fatal)`, as LLVM numbers it; a warning is 1.
const FATAL: i32 = 2;

/// What follows `%.*s` in a format: a part of a text that does not end with a null byte.
#[repr(C)]
struct Part {
    length: i32,
    start: *const u8,
}

/// What is printed of an `error` directive.
#[repr(C)]
struct Arguments {
    kind: *const c_char,
    file: Part,
    line: Part,
    column: Part,
    message: *const c_char,
}

/// The next field of a location's text, which a semicolon ends, and what is behind it.
///
/// # Safety
/// The text ends with a null byte.
unsafe fn field(text: *const u8) -> (Part, *const u8) {
    let mut end = text;
    // SAFETY: the text is read up to its last byte.
    unsafe {
        while *end != 0 && *end != b';' {
            end = end.add(1);
        }
        let next = if *end == 0 { end } else { end.add(1) };
        (Part { length: end.offset_from(text) as i32, start: text }, next)
    }
}

/// `error at(execution)`. On AMD's GPUs it is the member's that prints (`system/`).
///
/// # Safety
/// The location and the message are null or the compiler's.
#[cfg(not(target_arch = "amdgpu"))]
#[unsafe(no_mangle)]
#[cold]
#[inline(never)]
pub unsafe extern "C" fn __kmpc_error(location: *const Location, severity: i32, message: *const c_char) {
    // SAFETY: as the caller says.
    unsafe { tell(location, severity, message, |format, arguments| target::print(format, arguments)) }
}

/// What that member calls, with what prints.
///
/// # Safety
/// As above.
#[cfg(target_arch = "amdgpu")]
#[unsafe(no_mangle)]
#[cold]
#[inline(never)]
pub unsafe extern "C" fn __gangway_error(
    location: *const Location,
    severity: i32,
    message: *const c_char,
    print: unsafe extern "C" fn(*const c_char, *const c_void) -> i32,
) {
    // SAFETY: as the caller says.
    unsafe { tell(location, severity, message, |format, arguments| print(format, arguments)) }
}

/// # Safety
/// The location and the message are null or the compiler's.
#[inline(always)]
unsafe fn tell(
    location: *const Location,
    severity: i32,
    message: *const c_char,
    print: impl FnOnce(*const c_char, *const c_void) -> i32,
) {
    let text: *const u8 = if location.is_null() {
        c";unknown;unknown;0;0;;".as_ptr().cast()
    } else {
        // SAFETY: the compiler passes valid locations.
        unsafe { (*location).text }
    };
    // SAFETY: the text has the form `;file;function;line;column;;` and ends with a null byte.
    let (file, line, column) = unsafe {
        let (_, file_on) = field(text);
        let (file, function_on) = field(file_on);
        let (_, line_on) = field(function_on);
        let (line, column_on) = field(line_on);
        (file, line, field(column_on).0)
    };
    let kind: &CStr = if severity == FATAL { c"error" } else { c"warning" };
    let message = if message.is_null() { c"error directive without a message".as_ptr() } else { message };
    let arguments = Arguments { kind: kind.as_ptr(), file, line, column, message };
    // The format has these arguments.
    print(c"gangway: %s: %.*s:%.*s:%.*s: %s\n".as_ptr(), (&raw const arguments).cast());
    if severity == FATAL {
        target::trap();
    }
}
