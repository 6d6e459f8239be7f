//! The functions with which libstdc++'s headers throw. A GPU throws nothing, so each ends the program
//! as an exception that nobody catches: with the words of libstdc++'s `terminate`, and `abort`.
//!
//! Clang compiles device code without exceptions. So what the headers throw themselves, such as
//! `std::optional::value`, calls `abort` there, and a `throw` of the program's is a trap with a warning.

use crate::process;
use crate::stdio::{self, fprintf, standard_error, vsnprintf};
use core::ffi::{CStr, VaList, c_char, c_int};

/// Bytes that a text has which a format gives; libstdc++ cuts off the rest as well.
const LONGEST: usize = 512;

/// # Safety
/// The text ends with a null byte.
#[cold]
#[inline(never)]
unsafe fn end(class: &CStr, what: *const c_char) -> ! {
    process::begin_to_end();
    // SAFETY: the format takes two texts.
    unsafe {
        fprintf(
            standard_error(),
            c"terminate called after throwing an instance of '%s'\n  what():  %s\n".as_ptr(),
            class.as_ptr(),
            what,
        );
    }
    process::fault()
}

/// The functions whose exceptions say what the caller says.
macro_rules! throw_text {
    ($($symbol:literal, $name:ident: $class:literal;)*) => {
        $(
            /// # Safety
            /// The text ends with a null byte.
            #[unsafe(export_name = $symbol)]
            pub unsafe extern "C" fn $name(what: *const c_char) -> ! {
                // SAFETY: as the caller says.
                unsafe { end($class, what) }
            }
        )*
    };
}

throw_text! {
    "_ZSt19__throw_logic_errorPKc", throw_logic_error: c"std::logic_error";
    "_ZSt20__throw_domain_errorPKc", throw_domain_error: c"std::domain_error";
    "_ZSt24__throw_invalid_argumentPKc", throw_invalid_argument: c"std::invalid_argument";
    "_ZSt20__throw_length_errorPKc", throw_length_error: c"std::length_error";
    "_ZSt20__throw_out_of_rangePKc", throw_out_of_range: c"std::out_of_range";
    "_ZSt21__throw_runtime_errorPKc", throw_runtime_error: c"std::runtime_error";
    "_ZSt19__throw_range_errorPKc", throw_range_error: c"std::range_error";
    "_ZSt22__throw_overflow_errorPKc", throw_overflow_error: c"std::overflow_error";
    "_ZSt23__throw_underflow_errorPKc", throw_underflow_error: c"std::underflow_error";
}

/// The functions whose exceptions always say the same.
macro_rules! throw_always {
    ($($symbol:literal, $name:ident: $class:literal, $what:literal;)*) => {
        $(
            #[unsafe(export_name = $symbol)]
            pub extern "C" fn $name() -> ! {
                // SAFETY: a text that ends with a null byte.
                unsafe { end($class, $what.as_ptr()) }
            }
        )*
    };
}

throw_always! {
    "_ZSt21__throw_bad_exceptionv", throw_bad_exception: c"std::bad_exception", c"std::bad_exception";
    "_ZSt17__throw_bad_allocv", throw_bad_alloc: c"std::bad_alloc", c"std::bad_alloc";
    "_ZSt28__throw_bad_array_new_lengthv", throw_bad_array_new_length:
        c"std::bad_array_new_length", c"std::bad_array_new_length";
    "_ZSt16__throw_bad_castv", throw_bad_cast: c"std::bad_cast", c"std::bad_cast";
    "_ZSt18__throw_bad_typeidv", throw_bad_typeid: c"std::bad_typeid", c"std::bad_typeid";
    "_ZSt25__throw_bad_function_callv", throw_bad_function_call:
        c"std::bad_function_call", c"bad_function_call";
}

/// An index or position that is out of range, with its value.
///
/// # Safety
/// The format ends with a null byte, and the arguments are what it takes.
#[unsafe(export_name = "_ZSt24__throw_out_of_range_fmtPKcz")]
pub unsafe extern "C" fn throw_out_of_range_fmt(format: *const c_char, arguments: ...) -> ! {
    // SAFETY: as the caller says.
    unsafe { end_with_format(format, &arguments) }
}

/// # Safety
/// As for [`throw_out_of_range_fmt`].
#[cold]
#[inline(never)]
unsafe fn end_with_format(format: *const c_char, arguments: &VaList<'_>) -> ! {
    let mut text = [0; LONGEST];
    // SAFETY: as the caller says; the text has that many bytes.
    let length = unsafe { vsnprintf(text.as_mut_ptr(), LONGEST, format, stdio::place(arguments).cast()) };
    // Where nobody serves host calls, the format has to do.
    let what = if length < 0 { format } else { text.as_ptr() };
    // SAFETY: both end with a null byte.
    unsafe { end(c"std::out_of_range", what) }
}

/// What `_GLIBCXX_ASSERTIONS` checks does not hold.
///
/// # Safety
/// The texts end with a null byte.
#[unsafe(export_name = "_ZSt21__glibcxx_assert_failPKciS0_S0_")]
pub unsafe extern "C" fn glibcxx_assert_fail(
    file: *const c_char,
    line: c_int,
    function: *const c_char,
    condition: *const c_char,
) -> ! {
    process::begin_to_end();
    // SAFETY: the format takes these.
    unsafe {
        fprintf(
            standard_error(),
            c"%s:%d: %s: Assertion '%s' failed.\n".as_ptr(),
            file,
            line,
            function,
            condition,
        );
    }
    process::fault()
}
