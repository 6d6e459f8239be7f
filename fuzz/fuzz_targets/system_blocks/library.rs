//! What stands for flang's library: functions that check what they get, as the real one relies on it.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};

type Cookie = *mut c_void;

thread_local! {
    /// The statement under way, by a number that is its cookie, and its variable.
    static STATEMENT: Cell<Option<(usize, usize, usize)>> = const { Cell::new(None) };
    static LAST: Cell<usize> = const { Cell::new(0) };
}

/// Every statement that begins has to end.
pub fn check_that_none_is_under_way() {
    assert!(STATEMENT.get().is_none(), "a statement has not ended");
}

fn begin(file: *const c_char, variable: *mut c_char, length: usize) -> Cookie {
    assert!(STATEMENT.get().is_none(), "a statement begins inside of another one");
    // SAFETY: a text that ends with a null byte.
    let _ = unsafe { CStr::from_ptr(file) }.to_bytes().len();
    let number = LAST.get() + 1;
    LAST.set(number);
    STATEMENT.set(Some((number, variable.addr(), length)));
    // SAFETY: the variable has so many bytes.
    (0..length).step_by(512).for_each(|at| unsafe { variable.add(at).write(b'*' as c_char) });
    std::ptr::without_provenance_mut(number)
}

fn check(cookie: Cookie) {
    assert_eq!(STATEMENT.get().map(|(number, ..)| number), Some(cookie.addr()), "not the statement's cookie");
}

/// Reads all of a text.
fn read(start: *const c_char, length: usize) -> u64 {
    assert!(!start.is_null());
    // SAFETY: there are so many bytes.
    (0..length).map(|at| unsafe { start.add(at).read() } as u64).fold(0, u64::wrapping_add)
}

macro_rules! library {
    ($($name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? $body
        )*

        /// Nobody calls them by name.
        #[used]
        static EXPORTED: [Exported; [$(stringify!($name)),*].len()] = [$(Exported($name as *const ())),*];
    };
}

struct Exported(#[allow(dead_code)] *const ());

// SAFETY: addresses of functions.
unsafe impl Sync for Exported {}

library! {
    _FortranAioBeginExternalListOutput(unit: c_int, file: *const c_char, line: c_int) -> Cookie {
        let _ = (unit, line);
        begin(file, std::ptr::null_mut(), 0)
    }
    _FortranAioBeginExternalFormattedOutput(
        format: *const c_char, length: usize, descriptor: *const c_void, unit: c_int, file: *const c_char, line: c_int,
    ) -> Cookie {
        let _ = (unit, line, read(format, length));
        assert!(descriptor.is_null());
        begin(file, std::ptr::null_mut(), 0)
    }
    _FortranAioBeginInternalListOutput(
        variable: *mut c_char, length: usize, scratch: *const c_void, bytes: usize, file: *const c_char, line: c_int,
    ) -> Cookie {
        let _ = line;
        assert!(scratch.is_null() && bytes == 0);
        begin(file, variable, length)
    }
    _FortranAioBeginInternalFormattedOutput(
        variable: *mut c_char, length: usize, format: *const c_char, format_length: usize, descriptor: *const c_void,
        scratch: *const c_void, bytes: usize, file: *const c_char, line: c_int,
    ) -> Cookie {
        let _ = (line, read(format, format_length));
        assert!(descriptor.is_null() && scratch.is_null() && bytes == 0);
        begin(file, variable, length)
    }
    _FortranAioBeginFlush(unit: c_int, file: *const c_char, line: c_int) -> Cookie {
        let _ = (unit, line);
        begin(file, std::ptr::null_mut(), 0)
    }
    _FortranAioEndIoStatement(cookie: Cookie) -> c_int {
        check(cookie);
        STATEMENT.set(None);
        0
    }
    _FortranAioOutputInteger8(cookie: Cookie, _value: i8) -> bool { check(cookie); true }
    _FortranAioOutputInteger16(cookie: Cookie, _value: i16) -> bool { check(cookie); true }
    _FortranAioOutputInteger32(cookie: Cookie, _value: i32) -> bool { check(cookie); true }
    _FortranAioOutputInteger64(cookie: Cookie, _value: i64) -> bool { check(cookie); true }
    _FortranAioOutputInteger128(cookie: Cookie, _value: i128) -> bool { check(cookie); true }
    _FortranAioOutputReal32(cookie: Cookie, _value: f32) -> bool { check(cookie); true }
    _FortranAioOutputReal64(cookie: Cookie, _value: f64) -> bool { check(cookie); true }
    _FortranAioOutputComplex32(cookie: Cookie, _real: f32, _imaginary: f32) -> bool { check(cookie); true }
    _FortranAioOutputComplex64(cookie: Cookie, _real: f64, _imaginary: f64) -> bool { check(cookie); true }
    _FortranAioOutputLogical(cookie: Cookie, _value: bool) -> bool { check(cookie); true }
    _FortranAioOutputAscii(cookie: Cookie, start: *const c_char, length: usize) -> bool {
        check(cookie);
        read(start, length);
        true
    }
    _FortranAioOutputDescriptor(cookie: Cookie, descriptor: *const Descriptor) -> bool {
        check(cookie);
        // SAFETY: the caller's descriptor.
        unsafe { &*descriptor }.check();
        true
    }
    _FortranAioSetAdvance(cookie: Cookie, start: *const c_char, length: usize) -> bool { check(cookie); read(start, length); true }
    _FortranAioSetDecimal(cookie: Cookie, start: *const c_char, length: usize) -> bool { check(cookie); read(start, length); true }
    _FortranAioSetDelim(cookie: Cookie, start: *const c_char, length: usize) -> bool { check(cookie); read(start, length); true }
    _FortranAioSetRound(cookie: Cookie, start: *const c_char, length: usize) -> bool { check(cookie); read(start, length); true }
    _FortranAioSetSign(cookie: Cookie, start: *const c_char, length: usize) -> bool { check(cookie); read(start, length); true }
    _FortranAioSetRec(cookie: Cookie, _value: i64) -> bool { check(cookie); true }
    _FortranAioSetPos(cookie: Cookie, _value: i64) -> bool { check(cookie); true }
    _FortranAioEnableHandlers(cookie: Cookie, _status: bool, _error: bool, _end: bool, _record: bool, _message: bool) {
        check(cookie);
    }
    _FortranAioGetIoMsg(cookie: Cookie, text: *mut c_char, length: usize) {
        check(cookie);
        // SAFETY: there are so many bytes.
        (0..length).for_each(|at| unsafe { text.add(at).write(b'm' as c_char) });
    }
}

#[repr(C)]
struct Descriptor {
    base: *const u8,
    element: usize,
    version: i32,
    rank: u8,
    kind: i8,
    attribute: i8,
    extra: i8,
    dimensions: [[i64; 3]; 15],
}

impl Descriptor {
    /// Reads every element, as the library does, which takes its time for those without bytes.
    fn check(&self) {
        assert!(self.rank <= 15 && self.version == 20_240_719 && self.kind > 0);
        assert_eq!((self.attribute, self.extra), (0, 0));
        let dimensions = &self.dimensions[..usize::from(self.rank)];
        assert!(dimensions.iter().all(|[lower, extent, _]| *lower == 1 && *extent >= 0));
        let count = dimensions.iter().try_fold(1_i64, |count, [_, extent, _]| count.checked_mul(*extent));
        let count = count.expect("as many elements as a number says");
        let most = if self.element == 0 { 1 << 20 } else { u16::MAX as i64 };
        assert!(count <= most, "{count} elements");
        let mut stride = self.element as i64;
        for [_, extent, step] in dimensions {
            assert_eq!(*step, stride);
            stride = stride.checked_mul(*extent).expect("a stride that a number has");
        }
        read(self.base.cast(), usize::try_from(stride).unwrap());
    }
}
