//! The program's own Fortran library. It is static, so its functions are found only where the program
//! exports them, as `gangway fc` has it do.

use super::FortranError;
use std::convert::Infallible;
use std::ffi::{CStr, c_char, c_int, c_void};

/// What the library hands from one function to the next.
pub(super) type Cookie = *mut c_void;

/// The address of a function.
pub(super) fn find(name: &'static CStr) -> Result<*mut c_void, FortranError> {
    // SAFETY: a name that ends with a null byte.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if found.is_null() {
        return Err(FortranError::NoFunction(name.to_str().unwrap_or("a function")));
    }
    Ok(found)
}

/// A function of the library, whose name decides on its type.
macro_rules! function {
    ($name:literal, fn($($argument:ty),* $(,)?) $(-> $result:ty)?) => {{
        let found = $crate::system::fortran::library::find($name)?;
        // SAFETY: flang's headers say that this is the function's type.
        unsafe {
            std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(found)
        }
    }};
}
pub(super) use function;

/// Has `stop` report no floating-point exceptions: those of this thread are of the runtime's arithmetic,
/// and a device has none.
fn forget_exceptions() {
    // SAFETY: a name that ends with a null byte.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"feclearexcept".as_ptr()) };
    if !found.is_null() {
        // SAFETY: `fenv.h` says that this is the function's type.
        let clear =
            unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int) -> c_int>(found) };
        // SAFETY: all bits that there may be.
        unsafe { clear(0x3f) };
    }
}

pub(super) fn stop(code: c_int, is_error: bool, is_quiet: bool) -> Result<Infallible, FortranError> {
    let stop = function!(c"_FortranAStopStatement", fn(c_int, bool, bool) -> !);
    forget_exceptions();
    // SAFETY: it takes any values.
    unsafe { stop(code, is_error, is_quiet) }
}

pub(super) fn stop_text(text: &[u8], is_error: bool, is_quiet: bool) -> Result<Infallible, FortranError> {
    let stop = function!(c"_FortranAStopStatementText", fn(*const c_char, usize, bool, bool) -> !);
    forget_exceptions();
    // SAFETY: a text with its length.
    unsafe { stop(text.as_ptr().cast(), text.len(), is_error, is_quiet) }
}

pub(super) fn exit(status: c_int) -> Result<Infallible, FortranError> {
    let exit = function!(c"_FortranAExit", fn(c_int) -> !);
    // SAFETY: it takes any value.
    unsafe { exit(status) }
}

pub(super) fn abort() -> Result<Infallible, FortranError> {
    let abort = function!(c"_FortranAAbort", fn() -> !);
    // SAFETY: it takes nothing.
    unsafe { abort() }
}

pub(super) fn error(message: &CStr, file: &CStr, line: c_int) -> Result<Infallible, FortranError> {
    let error = function!(c"_FortranAReportFatalUserError", fn(*const c_char, *const c_char, c_int) -> !);
    // SAFETY: both texts end with a null byte. The message is a format, so it stands for itself.
    unsafe { error(message.as_ptr(), file.as_ptr(), line) }
}
