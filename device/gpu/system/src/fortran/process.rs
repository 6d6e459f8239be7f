//! How Fortran ends a program. Nothing here returns.

use crate::block::{ask, ask_with};
use crate::{device, string};
use core::ffi::{c_char, c_int};
use gangway_system::Operation;
use gangway_system::fortran::end;

fn flags(is_error: bool, is_quiet: bool) -> u64 {
    (if is_error { end::IS_ERROR } else { 0 }) | (if is_quiet { end::IS_QUIET } else { 0 })
}

/// `stop`, with a number.
#[unsafe(no_mangle)]
pub extern "C" fn _FortranAStopStatement(code: c_int, is_error: bool, is_quiet: bool) -> ! {
    ask(Operation::FortranEnd, i64::from(code) as u64, end::STOP | flags(is_error, is_quiet));
    device::trap()
}

/// `stop`, with a text.
///
/// # Safety
/// There are so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _FortranAStopStatementText(
    start: *const c_char,
    length: usize,
    is_error: bool,
    is_quiet: bool,
) -> ! {
    // SAFETY: as the caller says.
    let text = unsafe { super::text(start, length) };
    let how = end::STOP_TEXT | flags(is_error, is_quiet);
    ask_with(Operation::FortranEnd, 0, how, length, |block| block.copy_from_slice(text), |_, _| ());
    device::trap()
}

/// `call exit`.
#[unsafe(no_mangle)]
pub extern "C" fn _FortranAExit(code: c_int) -> ! {
    ask(Operation::FortranEnd, i64::from(code) as u64, end::EXIT);
    device::trap()
}

/// `call abort`.
#[unsafe(no_mangle)]
pub extern "C" fn _FortranAAbort() -> ! {
    ask(Operation::FortranEnd, 0, end::ABORT);
    device::trap()
}

/// An error that the compiler's own checks have found.
///
/// # Safety
/// Both texts end with a null byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _FortranAReportFatalUserError(
    message: *const c_char,
    file: *const c_char,
    line: c_int,
) -> ! {
    // SAFETY: as the caller says.
    let (message, file) = unsafe { (string::bytes(message), string::bytes(file)) };
    let fill = |block: &mut [u8]| {
        block[..message.len()].copy_from_slice(message);
        block[message.len()] = 0;
        block[message.len() + 1..].copy_from_slice(file);
    };
    let length = message.len() + 1 + file.len();
    ask_with(Operation::FortranEnd, i64::from(line) as u64, end::ERROR, length, fill, |_, _| ());
    device::trap()
}
