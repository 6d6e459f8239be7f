//! Repeats a statement with the program's library: the calls that flang makes of it on the host.

use super::FortranError;
use super::items::{Array, Begin, Integer, Item};
use super::library::{Cookie, function};
use gangway_system::fortran::{Kind, Number, RANKS, Setting};
use std::ffi::{c_char, c_int, c_void};

/// The status of the statement, and what it has written to variables.
pub(super) fn replay(items: &[Item<'_>]) -> Result<(i32, Vec<u8>), FortranError> {
    let Some((Item::Begin(begin), rest)) = items.split_first() else {
        return Err(FortranError::Malformed("it does not begin"));
    };
    // The library ends the process where a statement gets what it does not take.
    let is_of_flush = |item: &Item<'_>| matches!(item, Item::Handlers(_) | Item::Message(_));
    if begin.kind == Kind::Flush && !rest.iter().all(is_of_flush) {
        return Err(FortranError::Malformed("an item's place"));
    }
    // What is missing shows before the statement begins: one that does not end has its unit locked.
    let end = function!(c"_FortranAioEndIoStatement", fn(Cookie) -> c_int);
    let calls = rest.iter().map(call).collect::<Result<Vec<_>, _>>()?;
    let flush = match begin.kind {
        Kind::ExternalList | Kind::ExternalFormatted => Some((begin_flush()?, handlers()?)),
        _ => None,
    };
    let mut variable = vec![b' '; begin.length];
    let cookie = start(begin, &mut variable)?;
    let mut messages = Vec::new();
    for call in calls {
        if let Some(message) = call(cookie) {
            messages.extend(message);
        }
    }
    // SAFETY: the statement is under way.
    let status = unsafe { end(cookie) };
    variable.append(&mut messages);
    if let Some((flush, enable)) = flush {
        // What has been written stays, also if the kernel faults next.
        // SAFETY: a file's name that ends with a null byte; the statement ends.
        unsafe {
            let cookie = flush(begin.unit, begin.file.as_ptr(), begin.line);
            // Its errors are nobody's: the statement's own have been told.
            enable(cookie, true, true, false, false, false);
            end(cookie);
        }
    }
    Ok((status, variable))
}

type BeginUnit = unsafe extern "C" fn(c_int, *const c_char, c_int) -> Cookie;

fn begin_flush() -> Result<BeginUnit, FortranError> {
    Ok(function!(c"_FortranAioBeginFlush", fn(c_int, *const c_char, c_int) -> Cookie))
}

type Enable = unsafe extern "C" fn(Cookie, bool, bool, bool, bool, bool);

fn handlers() -> Result<Enable, FortranError> {
    Ok(function!(c"_FortranAioEnableHandlers", fn(Cookie, bool, bool, bool, bool, bool)))
}

fn start(begin: &Begin<'_>, variable: &mut [u8]) -> Result<Cookie, FortranError> {
    let (file, line, unit) = (begin.file.as_ptr(), begin.line, begin.unit);
    let (format, length) = (begin.format.as_ptr().cast::<c_char>(), begin.format.len());
    let to = variable.as_mut_ptr().cast::<c_char>();
    let none = std::ptr::null::<c_void>();
    // SAFETY, of all calls: the texts have the lengths that are told, and outlive the statement; there
    // is no memory for the library to work in, so it takes its own.
    Ok(match begin.kind {
        Kind::ExternalFormatted => {
            let begin = function!(
                c"_FortranAioBeginExternalFormattedOutput",
                fn(*const c_char, usize, *const c_void, c_int, *const c_char, c_int) -> Cookie
            );
            // SAFETY: as above.
            unsafe { begin(format, length, none, unit, file, line) }
        }
        Kind::InternalList => {
            let begin = function!(
                c"_FortranAioBeginInternalListOutput",
                fn(*mut c_char, usize, *const c_void, usize, *const c_char, c_int) -> Cookie
            );
            // SAFETY: as above.
            unsafe { begin(to, variable.len(), none, 0, file, line) }
        }
        Kind::InternalFormatted => {
            let begin = function!(
                c"_FortranAioBeginInternalFormattedOutput",
                fn(
                    *mut c_char,
                    usize,
                    *const c_char,
                    usize,
                    *const c_void,
                    *const c_void,
                    usize,
                    *const c_char,
                    c_int,
                ) -> Cookie
            );
            // SAFETY: as above.
            unsafe { begin(to, variable.len(), format, length, none, none, 0, file, line) }
        }
        Kind::Flush => {
            let begin = begin_flush()?;
            // SAFETY: as above.
            unsafe { begin(unit, file, line) }
        }
        _ => {
            let begin =
                function!(c"_FortranAioBeginExternalListOutput", fn(c_int, *const c_char, c_int) -> Cookie);
            // SAFETY: as above.
            unsafe { begin(unit, file, line) }
        }
    })
}

/// What is left to do for an item, when its function has been found. The answer is the
/// text of a variable that the statement writes.
type Call<'i> = Box<dyn FnOnce(Cookie) -> Option<Vec<u8>> + 'i>;

/// A call of a function of the library that takes the cookie and these values.
macro_rules! call {
    ($name:literal, $($value:expr => $type:ty),*) => {{
        let function = function!($name, fn(Cookie, $($type),*) -> bool);
        Box::new(move |cookie| {
            // SAFETY: the statement is under way; what is passed is what the function takes.
            unsafe { function(cookie, $($value),*) };
            None
        })
    }};
}

fn call<'i>(item: &'i Item<'_>) -> Result<Call<'i>, FortranError> {
    Ok(match *item {
        Item::Begin(_) => return Err(FortranError::Malformed("an item's place")),
        Item::Integer(Integer::One(value)) => call!(c"_FortranAioOutputInteger8", value => i8),
        Item::Integer(Integer::Two(value)) => call!(c"_FortranAioOutputInteger16", value => i16),
        Item::Integer(Integer::Four(value)) => call!(c"_FortranAioOutputInteger32", value => i32),
        Item::Integer(Integer::Eight(value)) => call!(c"_FortranAioOutputInteger64", value => i64),
        Item::Integer(Integer::Sixteen(value)) => call!(c"_FortranAioOutputInteger128", value => i128),
        Item::Real4(value) => call!(c"_FortranAioOutputReal32", value => f32),
        Item::Real8(value) => call!(c"_FortranAioOutputReal64", value => f64),
        Item::Complex4(real, imaginary) => {
            call!(c"_FortranAioOutputComplex32", real => f32, imaginary => f32)
        }
        Item::Complex8(real, imaginary) => {
            call!(c"_FortranAioOutputComplex64", real => f64, imaginary => f64)
        }
        Item::Logical(value) => call!(c"_FortranAioOutputLogical", value => bool),
        Item::Text(text) => call!(c"_FortranAioOutputAscii", text.as_ptr() => *const u8, text.len() => usize),
        Item::Array(ref array) => {
            let descriptor = Descriptor::of(array);
            call!(c"_FortranAioOutputDescriptor", &raw const descriptor => *const Descriptor)
        }
        Item::Setting(setting, text) => {
            let (start, length) = (text.as_ptr(), text.len());
            match setting {
                Setting::Advance => call!(c"_FortranAioSetAdvance", start => *const u8, length => usize),
                Setting::Decimal => call!(c"_FortranAioSetDecimal", start => *const u8, length => usize),
                Setting::Delimiter => call!(c"_FortranAioSetDelim", start => *const u8, length => usize),
                Setting::Round => call!(c"_FortranAioSetRound", start => *const u8, length => usize),
                Setting::Sign => call!(c"_FortranAioSetSign", start => *const u8, length => usize),
            }
        }
        Item::Number(Number::Record, value) => call!(c"_FortranAioSetRec", value => i64),
        Item::Number(Number::Position, value) => call!(c"_FortranAioSetPos", value => i64),
        Item::Handlers([status, error, end, end_of_record, message]) => {
            let enable = handlers()?;
            Box::new(move |cookie| {
                // SAFETY: the statement is under way.
                unsafe { enable(cookie, status, error, end, end_of_record, message) };
                None
            })
        }
        Item::Message(text) => {
            let get = function!(c"_FortranAioGetIoMsg", fn(Cookie, *mut u8, usize));
            Box::new(move |cookie| {
                let mut text = text.to_vec();
                // SAFETY: the statement is under way; a text with its length.
                unsafe { get(cookie, text.as_mut_ptr(), text.len()) };
                Some(text)
            })
        }
    })
}

/// flang's descriptor of an array (`ISO_Fortran_binding.h`).
#[repr(C)]
struct Descriptor {
    base: *const u8,
    element: usize,
    version: i32,
    rank: u8,
    kind: i8,
    attribute: i8,
    extra: i8,
    dimensions: [[i64; 3]; RANKS],
}

/// `CFI_VERSION` of flang-22.
const VERSION: i32 = 20_240_719;

const _: () = assert!(std::mem::offset_of!(Descriptor, dimensions) == 24);

impl Descriptor {
    fn of(array: &Array<'_>) -> Self {
        let mut dimensions = [[1, 0, 0]; RANKS];
        let mut stride = array.element as i64;
        for (dimension, &extent) in dimensions.iter_mut().zip(&array.extents) {
            *dimension = [1, extent, stride];
            stride = stride.wrapping_mul(extent);
        }
        Self {
            base: array.data.as_ptr(),
            element: array.element,
            version: VERSION,
            rank: array.extents.len() as u8,
            kind: array.kind,
            attribute: 0,
            extra: 0,
            dimensions,
        }
    }
}
