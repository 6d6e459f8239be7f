//! Functions of `stdio.h` that write. The host formats, so that all devices write the same.

use crate::block::{ask, ask_with};
use crate::{device, string};
use core::ffi::{VaList, c_char, c_int, c_void};
use gangway_system::format::{Amount, Kind, NULL_TEXT, Part, Parts};
use gangway_system::{Operation, Stream};

const EOF: c_int = -1;

/// Bytes that the texts of most formats do not exceed.
const LIKELY: usize = 128;

/// A `FILE *`: one of the three below, or a value of the host's.
type File = *mut c_void;

/// What `stdin` and its kin are on the device.
#[repr(transparent)]
pub struct Standard(u64);

#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static stdin: Standard = Standard(Stream::Input as u64);
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static stdout: Standard = Standard(Stream::Output as u64);
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static stderr: Standard = Standard(Stream::Error as u64);

/// `stderr`, as functions of this crate write to it.
pub const fn standard_error() -> File {
    core::ptr::without_provenance_mut(Stream::Error as usize)
}

const OUTPUT: File = core::ptr::without_provenance_mut(Stream::Output as usize);

/// Writes the two texts, one behind the other. How many bytes have been written.
#[inline(never)]
fn write(text: &[u8], end: &[u8], stream: File) -> usize {
    let all = text.len() + end.len();
    let fill = |block: &mut [u8]| {
        block[..text.len()].copy_from_slice(text);
        block[text.len()..].copy_from_slice(end);
    };
    if let Some(written) = ask_with(Operation::Write, stream.addr() as u64, 0, all, fill, |_, _| ()) {
        return (written as usize).min(all);
    }
    write_pieces(text, stream) + write_pieces(end, stream)
}

/// Where there is no memory for the whole, or nobody who serves the call.
fn write_pieces(text: &[u8], stream: File) -> usize {
    let mut written = 0;
    for piece in text.chunks(128) {
        let fill = |block: &mut [u8]| block.copy_from_slice(piece);
        match ask_with(Operation::Write, stream.addr() as u64, 0, piece.len(), fill, |_, _| ()) {
            Some(count) => written += count as usize,
            None => {
                let arguments = Precise { length: piece.len() as c_int, text: piece.as_ptr() };
                // SAFETY: the format takes these two arguments.
                unsafe {
                    device::__gangway_driver_vprintf(c"%.*s".as_ptr(), (&raw const arguments).cast());
                }
                written += piece.len();
            }
        }
    }
    written
}

/// Says that what only Gangway's runtime can do has been asked for.
pub fn say_unserved() {
    // SAFETY: the format takes no arguments.
    unsafe {
        device::__gangway_driver_vprintf(
            c"gangway: Fortran output in device code: nobody serves host calls here; run the program with \
              Gangway's libomptarget\n"
                .as_ptr(),
            core::ptr::null(),
        );
    }
}

#[repr(C)]
struct Precise {
    length: c_int,
    text: *const u8,
}

/// # Safety
/// The text ends with a null byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn puts(text: *const c_char) -> c_int {
    // SAFETY: as the caller says.
    let text = unsafe { string::bytes(text) };
    if write(text, b"\n", OUTPUT) == text.len() + 1 { 1 } else { EOF }
}

/// # Safety
/// The text ends with a null byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fputs(text: *const c_char, stream: File) -> c_int {
    // SAFETY: as the caller says.
    let text = unsafe { string::bytes(text) };
    if write(text, b"", stream) == text.len() { 1 } else { EOF }
}

#[unsafe(no_mangle)]
pub extern "C" fn fputc(letter: c_int, stream: File) -> c_int {
    let byte = letter as u8;
    if write(&[byte], b"", stream) == 1 { c_int::from(byte) } else { EOF }
}

#[unsafe(no_mangle)]
pub extern "C" fn putc(letter: c_int, stream: File) -> c_int {
    fputc(letter, stream)
}

#[unsafe(no_mangle)]
pub extern "C" fn putchar(letter: c_int) -> c_int {
    fputc(letter, OUTPUT)
}

/// # Safety
/// `data` has `count` elements of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fwrite(data: *const c_void, size: usize, count: usize, stream: File) -> usize {
    let Some(bytes) = size.checked_mul(count).filter(|&bytes| bytes != 0) else { return 0 };
    // SAFETY: as the caller says.
    let data = unsafe { core::slice::from_raw_parts(data.cast(), bytes) };
    let written = write(data, b"", stream);
    if written == bytes { count } else { written / size }
}

#[unsafe(no_mangle)]
pub extern "C" fn fflush(stream: File) -> c_int {
    // Where nobody serves host calls, nothing waits to be flushed by the program.
    ask(Operation::Flush, stream.addr() as u64, 0).map_or(0, |answer| answer as c_int)
}

/// How compilers align arguments of variadic functions: on NVIDIA's GPUs to their size, on AMD's to no more than
/// four bytes.
const MOST_ALIGNED: usize = if cfg!(target_arch = "amdgpu") { 4 } else { usize::MAX };

/// The arguments of a format, as compilers pass them to a GPU: one behind the other, each aligned to
/// its size, but to `most` bytes at most. They are taken in the order of the conversions.
#[derive(Clone, Copy)]
struct Arguments {
    next: *const u8,
    most: usize,
}

impl Arguments {
    /// Those of a variadic function.
    const fn variadic(next: *const u8) -> Self {
        Self { next, most: MOST_ALIGNED }
    }

    /// Those of a structure.
    const fn structure(next: *const u8) -> Self {
        Self { next, most: usize::MAX }
    }

    /// # Safety
    /// The next argument is of this kind.
    unsafe fn take(&mut self, kind: Kind) -> u64 {
        let size = kind.size();
        let alignment = if size < self.most { size } else { self.most };
        let at = self.next.map_addr(|address| address.next_multiple_of(alignment));
        self.next = at.wrapping_add(size);
        // SAFETY: as the caller says.
        unsafe {
            match size {
                4 => i64::from(at.cast::<i32>().read()).cast_unsigned(),
                _ => at.cast::<u64>().read_unaligned(),
            }
        }
    }
}

/// Hands on what a block has behind the format: words, and texts.
///
/// # Safety
/// The arguments are what the format takes.
unsafe fn pack(format: &[u8], mut arguments: Arguments, put: &mut impl FnMut(u64, &[u8])) {
    for part in Parts::of(format) {
        let Part::Conversion(conversion) = part else { continue };
        // SAFETY: as the caller says, here and below.
        let mut amount = |amount| match amount {
            Amount::None => None,
            Amount::Number(number) => Some(i64::from(number)),
            Amount::Argument => {
                // SAFETY: as the caller says.
                let number = unsafe { arguments.take(Kind::Int) };
                put(number, &[]);
                Some(number.cast_signed())
            }
        };
        amount(conversion.width);
        let precision = amount(conversion.precision);
        // SAFETY: as the caller says.
        let value = unsafe { arguments.take(conversion.kind) };
        if conversion.kind != Kind::Text {
            put(value, &[]);
            continue;
        }
        if value == 0 {
            put(NULL_TEXT, &[]);
            continue;
        }
        // A negative precision is none.
        let most = precision.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
        let text = core::ptr::with_exposed_provenance(value as usize);
        // SAFETY: as the caller says.
        let text = unsafe { string::at_most(text, most) };
        put(text.len() as u64, text);
    }
}

/// Bytes that a text has in a block.
fn padded(length: usize) -> usize {
    length.next_multiple_of(8)
}

/// Asks for an operation on a format. The block's text has at least `room` bytes, and `read` gets
/// the answer and the text afterwards.
///
/// # Safety
/// The format ends with a null byte, and the arguments are what it takes.
#[inline(never)]
unsafe fn ask_format(
    operation: Operation,
    first: u64,
    room: usize,
    format: *const c_char,
    arguments: Arguments,
    read: impl FnOnce(Option<u64>, &[u8]),
) -> Option<c_int> {
    // SAFETY: as the caller says.
    let format = unsafe { string::bytes(format) };
    let mut length = padded(format.len());
    // SAFETY: as the caller says.
    unsafe { pack(format, arguments, &mut |_, text| length += 8 + padded(text.len())) };
    let fill = |block: &mut [u8]| {
        block[..format.len()].copy_from_slice(format);
        let mut at = padded(format.len());
        // SAFETY: as the caller says.
        unsafe {
            pack(format, arguments, &mut |word, text| {
                block[at..at + 8].copy_from_slice(&word.to_ne_bytes());
                block[at + 8..at + 8 + text.len()].copy_from_slice(text);
                at += 8 + padded(text.len());
            });
        }
    };
    let length = if length < room { room } else { length };
    ask_with(operation, first, format.len() as u64, length, fill, read).map(|answer| answer as c_int)
}

/// # Safety
/// The format ends with a null byte, and the arguments are what it takes.
unsafe fn print(stream: File, format: *const c_char, arguments: Arguments) -> c_int {
    let stream = stream.addr() as u64;
    // SAFETY: as the caller says.
    let answer = unsafe { ask_format(Operation::Format, stream, 0, format, arguments, |_, _| ()) };
    // SAFETY: as the caller says.
    answer.unwrap_or_else(|| unsafe { device::__gangway_driver_vprintf(format, arguments.next.cast()) })
}

/// # Safety
/// As for [`print`]; `to` has `size` bytes.
unsafe fn print_to(to: *mut c_char, size: usize, format: *const c_char, arguments: Arguments) -> c_int {
    // Without the null byte.
    let limit = size.saturating_sub(1);
    let ask = |room: usize| {
        let read = |answer: Option<u64>, block: &[u8]| {
            // The block has more room than the text needs, and callers may have no more than that.
            let length = answer.and_then(|answer| usize::try_from(answer as c_int).ok()).unwrap_or(0);
            for (index, &byte) in block.iter().take(room.min(length)).enumerate() {
                // SAFETY: as the caller says.
                unsafe { to.add(index).write(byte as c_char) };
            }
        };
        // SAFETY: as the caller says.
        unsafe { ask_format(Operation::FormatHere, room as u64, room, format, arguments, read) }
    };
    // Callers may say that there is no limit, so the first call is for what most formats give.
    let likely = limit.min(LIKELY);
    let answer = ask(likely).unwrap_or(EOF);
    let (kept, answer) = match usize::try_from(answer) {
        Ok(length) if length.min(limit) <= likely => (length.min(limit), answer),
        Ok(length) if ask(length.min(limit)).is_some_and(|answer| answer >= 0) => (length.min(limit), answer),
        // What the block had for the host is no text of the caller's.
        _ => (0, EOF),
    };
    if size != 0 {
        // SAFETY: as the caller says.
        unsafe { to.add(kept).write(0) };
    }
    answer
}

/// Takes the place of the driver's `vprintf` in images that have this crate: the build gives it
/// that name.
///
/// # Safety
/// The format ends with a null byte, and the arguments are what it takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __gangway_vprintf(format: *const c_char, arguments: *const c_void) -> c_int {
    // SAFETY: as the caller says.
    unsafe { print(OUTPUT, format, Arguments::structure(arguments.cast())) }
}

/// # Safety
/// As for [`printf`]. On NVIDIA's GPUs it is the driver's.
#[cfg(target_arch = "amdgpu")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vprintf(format: *const c_char, arguments: *const c_void) -> c_int {
    // SAFETY: as the caller says.
    unsafe { print(OUTPUT, format, Arguments::variadic(arguments.cast())) }
}

/// A failed `assert`. On NVIDIA's GPUs it is the driver's.
///
/// # Safety
/// The texts end with a null byte.
#[cfg(target_arch = "amdgpu")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __assert_fail(
    message: *const c_char,
    file: *const c_char,
    line: c_int,
    function: *const c_char,
) -> ! {
    // SAFETY: the format takes these arguments.
    unsafe {
        fprintf(
            standard_error(),
            c"%s:%d: %s: Assertion `%s' failed.\n".as_ptr(),
            file,
            line,
            function,
            message,
        );
    }
    device::trap()
}

/// `error at(execution)`. On NVIDIA's GPUs it is the device runtime's, and the driver's `vprintf` prints.
///
/// # Safety
/// The location and the message are null or the compiler's.
#[cfg(target_arch = "amdgpu")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_error(location: *const c_void, severity: c_int, message: *const c_char) {
    type Print = unsafe extern "C" fn(*const c_char, *const c_void) -> c_int;
    unsafe extern "C" {
        fn __gangway_error(location: *const c_void, severity: c_int, message: *const c_char, print: Print);
    }
    // SAFETY: as the caller says.
    unsafe { __gangway_error(location, severity, message, __gangway_vprintf) }
}

/// Where the arguments of a variadic function stand.
pub fn place(arguments: &VaList<'_>) -> *const u8 {
    const { assert!(size_of::<VaList<'_>>() == size_of::<*const u8>()) };
    // SAFETY: on a GPU, a list of arguments is a pointer to them.
    unsafe { core::ptr::from_ref(arguments).cast::<*const u8>().read() }
}

/// # Safety
/// The format ends with a null byte, and the arguments are what it takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn printf(format: *const c_char, arguments: ...) -> c_int {
    // SAFETY: as the caller says.
    unsafe { print(OUTPUT, format, Arguments::variadic(place(&arguments))) }
}

/// # Safety
/// As for [`printf`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fprintf(stream: File, format: *const c_char, arguments: ...) -> c_int {
    // SAFETY: as the caller says.
    unsafe { print(stream, format, Arguments::variadic(place(&arguments))) }
}

/// # Safety
/// As for [`printf`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vfprintf(stream: File, format: *const c_char, arguments: *const c_void) -> c_int {
    // SAFETY: as the caller says.
    unsafe { print(stream, format, Arguments::variadic(arguments.cast())) }
}

/// # Safety
/// As for [`printf`]; `to` has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn snprintf(
    to: *mut c_char,
    size: usize,
    format: *const c_char,
    arguments: ...
) -> c_int {
    // SAFETY: as the caller says.
    unsafe { print_to(to, size, format, Arguments::variadic(place(&arguments))) }
}

/// # Safety
/// As for [`snprintf`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vsnprintf(
    to: *mut c_char,
    size: usize,
    format: *const c_char,
    arguments: *const c_void,
) -> c_int {
    // SAFETY: as the caller says.
    unsafe { print_to(to, size, format, Arguments::variadic(arguments.cast())) }
}

/// # Safety
/// As for [`printf`]; `to` has room for the text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sprintf(to: *mut c_char, format: *const c_char, arguments: ...) -> c_int {
    // SAFETY: as the caller says.
    unsafe { print_to(to, usize::MAX, format, Arguments::variadic(place(&arguments))) }
}

/// # Safety
/// As for [`sprintf`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vsprintf(to: *mut c_char, format: *const c_char, arguments: *const c_void) -> c_int {
    // SAFETY: as the caller says.
    unsafe { print_to(to, usize::MAX, format, Arguments::variadic(arguments.cast())) }
}
