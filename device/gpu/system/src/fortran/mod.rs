//! What flang-22 calls in device code for output statements and `stop` (`flang/Runtime/io-api.h`,
//! `stop.h`). The host repeats a statement when it is complete, so the functions that hand over its
//! items always answer that they have been written; the status of the whole comes at its end.
//!
//! What is not here (input, files, `namelist`, types of their own) the linker names.

mod array;
mod process;
mod statement;

use crate::string;
use core::ffi::{c_char, c_int, c_void};
use gangway_system::fortran::{Kind, Number, Setting};
use statement::{Origin, Statement};

/// What flang's functions hand from one to the next.
type Cookie = *mut Statement;

/// A text of Fortran's.
///
/// # Safety
/// There are so many bytes.
unsafe fn text<'t>(start: *const c_char, length: usize) -> &'t [u8] {
    // SAFETY: as the caller says.
    if length == 0 { &[] } else { unsafe { core::slice::from_raw_parts(start.cast(), length) } }
}

/// # Safety
/// The file is null or a text that ends with a null byte.
unsafe fn origin<'t>(file: *const c_char, line: c_int) -> Origin<'t> {
    // SAFETY: as the caller says.
    let file = if file.is_null() { &[][..] } else { unsafe { string::bytes(file) } };
    Origin { file, line }
}

/// # Safety
/// As flang calls it; this holds for all functions here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _FortranAioBeginExternalListOutput(
    unit: c_int,
    file: *const c_char,
    line: c_int,
) -> Cookie {
    // SAFETY: as the caller says.
    unsafe { Statement::begin(Kind::ExternalList, i64::from(unit) as u64, &[], origin(file, line)) }
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _FortranAioBeginExternalFormattedOutput(
    format: *const c_char,
    length: usize,
    descriptor: *const c_void,
    unit: c_int,
    file: *const c_char,
    line: c_int,
) -> Cookie {
    if !descriptor.is_null() {
        statement::refuse(b"a format that is an array");
    }
    // SAFETY: as the caller says.
    unsafe {
        let format = text(format, length);
        Statement::begin(Kind::ExternalFormatted, i64::from(unit) as u64, format, origin(file, line))
    }
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _FortranAioBeginInternalListOutput(
    variable: *mut c_char,
    length: usize,
    _scratch: *mut *mut c_void,
    _scratch_bytes: usize,
    file: *const c_char,
    line: c_int,
) -> Cookie {
    // SAFETY: as the caller says.
    unsafe {
        let cookie = Statement::begin(Kind::InternalList, length as u64, &[], origin(file, line));
        (*cookie).writes(variable.cast(), length);
        cookie
    }
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _FortranAioBeginInternalFormattedOutput(
    variable: *mut c_char,
    length: usize,
    format: *const c_char,
    format_length: usize,
    descriptor: *const c_void,
    _scratch: *mut *mut c_void,
    _scratch_bytes: usize,
    file: *const c_char,
    line: c_int,
) -> Cookie {
    if !descriptor.is_null() {
        statement::refuse(b"a format that is an array");
    }
    // SAFETY: as the caller says.
    unsafe {
        let format = text(format, format_length);
        let cookie = Statement::begin(Kind::InternalFormatted, length as u64, format, origin(file, line));
        (*cookie).writes(variable.cast(), length);
        cookie
    }
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _FortranAioBeginFlush(unit: c_int, file: *const c_char, line: c_int) -> Cookie {
    // SAFETY: as the caller says.
    unsafe { Statement::begin(Kind::Flush, i64::from(unit) as u64, &[], origin(file, line)) }
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _FortranAioEndIoStatement(cookie: Cookie) -> c_int {
    // SAFETY: as the caller says.
    unsafe { Statement::end(cookie) }
}

macro_rules! items {
    ($($name:ident($($argument:ident: $type:ty),*) $kind:ident;)*) => {$(
        /// # Safety
        /// As above.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(cookie: Cookie, $($argument: $type),*) -> bool {
            let mut bytes = [0; 0 $(+ size_of::<$type>())*];
            let mut at = 0;
            $(
                bytes[at..at + size_of_val(&$argument)].copy_from_slice(&$argument.to_ne_bytes());
                at += size_of_val(&$argument);
            )*
            let _ = at;
            // SAFETY: as the caller says.
            unsafe { (*cookie).item(Kind::$kind, &[], &bytes) };
            true
        }
    )*};
}

items! {
    _FortranAioOutputInteger8(value: i8) Integer;
    _FortranAioOutputInteger16(value: i16) Integer;
    _FortranAioOutputInteger32(value: i32) Integer;
    _FortranAioOutputInteger64(value: i64) Integer;
    _FortranAioOutputInteger128(value: i128) Integer;
    _FortranAioOutputReal32(value: f32) Real;
    _FortranAioOutputReal64(value: f64) Real;
    _FortranAioOutputComplex32(real: f32, imaginary: f32) Complex;
    _FortranAioOutputComplex64(real: f64, imaginary: f64) Complex;
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _FortranAioOutputLogical(cookie: Cookie, value: bool) -> bool {
    // SAFETY: as the caller says.
    unsafe { (*cookie).item(Kind::Logical, &[], &[u8::from(value)]) };
    true
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _FortranAioOutputAscii(cookie: Cookie, start: *const c_char, length: usize) -> bool {
    // SAFETY: as the caller says.
    unsafe { (*cookie).item(Kind::Text, &[], text(start, length)) };
    true
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _FortranAioOutputDescriptor(
    cookie: Cookie,
    descriptor: *const array::Descriptor,
) -> bool {
    // SAFETY: as the caller says.
    unsafe { array::write(&mut *cookie, descriptor) };
    true
}

macro_rules! settings {
    ($($name:ident $setting:ident;)*) => {$(
        /// # Safety
        /// As above.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(cookie: Cookie, start: *const c_char, length: usize) -> bool {
            // SAFETY: as the caller says.
            unsafe { (*cookie).item(Kind::Setting, &[Setting::$setting as u64], text(start, length)) };
            true
        }
    )*};
}

settings! {
    _FortranAioSetAdvance Advance;
    _FortranAioSetDecimal Decimal;
    _FortranAioSetDelim Delimiter;
    _FortranAioSetRound Round;
    _FortranAioSetSign Sign;
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _FortranAioSetRec(cookie: Cookie, record: i64) -> bool {
    // SAFETY: as the caller says.
    unsafe { (*cookie).item(Kind::Number, &[Number::Record as u64, record.cast_unsigned()], &[]) };
    true
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _FortranAioSetPos(cookie: Cookie, position: i64) -> bool {
    // SAFETY: as the caller says.
    unsafe { (*cookie).item(Kind::Number, &[Number::Position as u64, position.cast_unsigned()], &[]) };
    true
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _FortranAioEnableHandlers(
    cookie: Cookie,
    status: bool,
    error: bool,
    end: bool,
    end_of_record: bool,
    message: bool,
) {
    let handlers = [status, error, end, end_of_record, message].map(u8::from);
    // SAFETY: as the caller says.
    unsafe { (*cookie).item(Kind::Handlers, &[], &handlers) };
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _FortranAioGetIoMsg(cookie: Cookie, variable: *mut c_char, length: usize) {
    // SAFETY: as the caller says.
    unsafe {
        (*cookie).item(Kind::Message, &[], text(variable, length));
        (*cookie).writes(variable.cast(), length);
    }
}
