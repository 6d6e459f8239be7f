//! Numbers that stand in texts (C11 7.22.1).

use crate::export::export;
use crate::letter::is_space;
use crate::text::byte;
use core::ffi::{c_char, c_double, c_float, c_int, c_long, c_longlong, c_ulong, c_ulonglong};

/// Where the text goes on behind its spaces and its sign, and whether the sign is a minus.
unsafe fn start(text: *const c_char) -> (usize, bool) {
    let mut at = 0;
    // SAFETY: as the caller says.
    while is_space(unsafe { byte(text, at) }) {
        at += 1;
    }
    // SAFETY: as the caller says.
    match unsafe { byte(text, at) } {
        b'-' => (at + 1, true),
        b'+' => (at + 1, false),
        _ => (at, false),
    }
}

unsafe fn tell(end: *mut *mut c_char, text: *const c_char, at: usize) {
    if !end.is_null() {
        // SAFETY: as the caller says.
        unsafe { end.write(text.add(at).cast_mut()) };
    }
}

fn digit(letter: u8) -> u32 {
    char::from(letter).to_digit(36).unwrap_or(u32::MAX)
}

/// An integer without its sign.
struct Integer {
    /// The largest number, if it is larger.
    value: u64,
    is_negative: bool,
    is_too_large: bool,
}

unsafe fn integer(text: *const c_char, end: *mut *mut c_char, base: c_int) -> Integer {
    // SAFETY: as the caller says; no byte behind the null byte is read.
    let (mut at, is_negative) = unsafe { start(text) };
    // SAFETY: as the caller says.
    let byte = |at| unsafe { byte(text, at) };
    let mut base = base as u32;
    let is_prefixed = byte(at) == b'0' && byte(at + 1) | 32 == b'x' && digit(byte(at + 2)) < 16;
    if base == 0 {
        base = match byte(at) {
            b'0' if is_prefixed => 16,
            b'0' => 8,
            _ => 10,
        };
    }
    if base == 16 && is_prefixed {
        at += 2;
    }
    let (mut value, mut is_too_large, mut after) = (0_u64, false, 0);
    // A base that there is not has no digits.
    while (2..=36).contains(&base) && digit(byte(at)) < base {
        let next = value
            .checked_mul(u64::from(base))
            .and_then(|value| value.checked_add(u64::from(digit(byte(at)))));
        is_too_large |= next.is_none();
        value = next.unwrap_or(u64::MAX);
        at += 1;
        after = at;
    }
    if is_too_large {
        value = u64::MAX;
    }
    // SAFETY: as the caller says.
    unsafe { tell(end, text, after) };
    Integer { value, is_negative, is_too_large }
}

impl Integer {
    fn signed(&self) -> i64 {
        match (self.is_negative, i64::try_from(self.value)) {
            (false, Ok(value)) => value,
            (true, Ok(value)) => -value,
            (false, Err(_)) => i64::MAX,
            (true, Err(_)) => i64::MIN,
        }
    }

    fn unsigned(&self) -> u64 {
        if self.is_negative && !self.is_too_large { self.value.wrapping_neg() } else { self.value }
    }
}

/// What a floating-point number's text is.
enum Float<'t> {
    None,
    /// A decimal number, or a name, as Rust reads it.
    Decimal(&'t str),
    /// A mantissa and a power of two, of a hexadecimal number.
    Hexadecimal(u64, i64),
}

/// Whether the text has a word here, in either case.
fn has(byte: impl Fn(usize) -> u8, at: usize, word: &[u8]) -> bool {
    word.iter().enumerate().all(|(index, &letter)| byte(at + index) | 32 == letter)
}

unsafe fn float<'t>(text: *const c_char, end: *mut *mut c_char) -> (Float<'t>, bool) {
    // SAFETY: as the caller says; no byte behind the null byte is read.
    let (first, is_negative) = unsafe { start(text) };
    // SAFETY: as the caller says.
    let byte = |at| unsafe { byte(text, at) };
    let (kind, after) = if has(byte, first, b"infinity") {
        (Float::Decimal("inf"), first + 8)
    } else if has(byte, first, b"inf") {
        (Float::Decimal("inf"), first + 3)
    } else if has(byte, first, b"nan") {
        (Float::Decimal("nan"), first + 3 + characters(byte, first + 3))
    } else if let Some((mantissa, power, after)) = hexadecimal(byte, first) {
        (Float::Hexadecimal(mantissa, power), after)
    } else {
        let after = decimal(byte, first);
        // SAFETY: as the caller says.
        let digits = unsafe { core::slice::from_raw_parts(text.add(first).cast(), after - first) };
        // SAFETY: only ASCII has been recognised.
        let digits = unsafe { core::str::from_utf8_unchecked(digits) };
        if digits.is_empty() { (Float::None, 0) } else { (Float::Decimal(digits), after) }
    };
    // SAFETY: as the caller says.
    unsafe { tell(end, text, after) };
    (kind, is_negative)
}

/// Bytes of the text in brackets that may follow `nan`.
fn characters(byte: impl Fn(usize) -> u8, at: usize) -> usize {
    if byte(at) != b'(' {
        return 0;
    }
    let mut length = 1;
    while byte(at + length).is_ascii_alphanumeric() || byte(at + length) == b'_' {
        length += 1;
    }
    if byte(at + length) == b')' { length + 1 } else { 0 }
}

/// Where the digits from here on end.
fn digits(byte: impl Fn(usize) -> u8, mut at: usize) -> usize {
    while byte(at).is_ascii_digit() {
        at += 1;
    }
    at
}

/// Where an exponent ends whose letter stands here; here if there is none.
fn exponent(byte: impl Fn(usize) -> u8, at: usize, letter: u8) -> usize {
    if byte(at) | 32 != letter {
        return at;
    }
    let first = if matches!(byte(at + 1), b'+' | b'-') { at + 2 } else { at + 1 };
    if byte(first).is_ascii_digit() { digits(byte, first) } else { at }
}

/// Where a decimal number ends; where it starts if there is none.
fn decimal(byte: impl Fn(usize) -> u8, start: usize) -> usize {
    let whole = digits(&byte, start);
    let mut at = whole;
    if byte(at) == b'.' {
        at = digits(&byte, at + 1);
        if at == start + 1 {
            return start;
        }
    }
    if at == start { start } else { exponent(byte, at, b'e') }
}

/// The mantissa and the power of a hexadecimal number, and where it ends.
fn hexadecimal(byte: impl Fn(usize) -> u8, start: usize) -> Option<(u64, i64, usize)> {
    if byte(start) != b'0' || byte(start + 1) | 32 != b'x' {
        return None;
    }
    let (mut mantissa, mut scale, mut any, mut point) = (0_u64, 0_i64, false, false);
    let mut at = start + 2;
    loop {
        let value = match byte(at) {
            b'.' if !point => {
                point = true;
                at += 1;
                continue;
            }
            letter => digit(letter),
        };
        if value >= 16 {
            break;
        }
        any = true;
        if mantissa < 1 << 60 {
            mantissa = mantissa * 16 + u64::from(value);
            scale -= if point { 4 } else { 0 };
        } else {
            // What does not fit decides on rounding only.
            mantissa |= u64::from(value != 0);
            scale += if point { 0 } else { 4 };
        }
        at += 1;
    }
    if !any {
        return None;
    }
    let after = exponent(&byte, at, b'p');
    let mut power = 0_i64;
    for at in at + 1..after {
        let number = i64::from(digit(byte(at)));
        power = if number < 10 { (power * 10 + number).min(100_000) } else { 0 };
    }
    if after > at && byte(at + 1) == b'-' {
        power = -power;
    }
    Some((mantissa, scale.saturating_add(power), after))
}

/// A type of floating-point numbers: the bits of a mantissa, and the largest exponent.
struct Format {
    precision: u32,
    largest: i64,
}

const DOUBLE: Format = Format { precision: 53, largest: 1023 };
const SINGLE: Format = Format { precision: 24, largest: 127 };

impl Format {
    /// The bits of `mantissa * 2^power`, rounded to the nearest number once, ties to even.
    fn rounded(&self, mantissa: u64, power: i64) -> u64 {
        if mantissa == 0 {
            return 0;
        }
        // The leading bit is bit 63 from here on.
        let shift = mantissa.leading_zeros();
        let (mantissa, power) = (mantissa << shift, power - i64::from(shift) + 63);
        if power > self.largest {
            return ((2 * self.largest + 1) as u64) << (self.precision - 1);
        }
        // Bits of the result, which are fewer below the smallest normal number.
        let most = i64::from(self.precision);
        let below = self.largest - 1 + most;
        let kept = (power + below).clamp(0, most) as u32;
        if kept == 0 {
            // Above half of the smallest number it is that one.
            return u64::from(power == -below && mantissa > 1 << 63);
        }
        let lost = 64 - kept;
        let (mut number, rest, half) = (mantissa >> lost, mantissa & ((1 << lost) - 1), 1_u64 << (lost - 1));
        number += u64::from(rest > half || rest == half && number % 2 == 1);
        // A carry out of the bits is the next exponent's, as it should be.
        let exponent = if kept == self.precision { (power + self.largest - 1).max(0) as u64 } else { 0 };
        (exponent << (self.precision - 1)) + number
    }
}

export! {
    /// An integer of a base.
    fn strtol(text: *const c_char, end: *mut *mut c_char, base: c_int) -> c_long {
        integer(text, end, base).signed()
    }

    /// The same without a sign.
    fn strtoul(text: *const c_char, end: *mut *mut c_char, base: c_int) -> c_ulong {
        integer(text, end, base).unsigned()
    }

    /// As `strtol`, whose type is as large.
    fn strtoll(text: *const c_char, end: *mut *mut c_char, base: c_int) -> c_longlong {
        integer(text, end, base).signed()
    }

    /// As `strtoul`, whose type is as large.
    fn strtoull(text: *const c_char, end: *mut *mut c_char, base: c_int) -> c_ulonglong {
        integer(text, end, base).unsigned()
    }

    /// A decimal integer.
    fn atoi(text: *const c_char) -> c_int { integer(text, core::ptr::null_mut(), 10).signed() as c_int }

    /// A decimal integer.
    fn atol(text: *const c_char) -> c_long { integer(text, core::ptr::null_mut(), 10).signed() }

    /// A decimal integer.
    fn atoll(text: *const c_char) -> c_longlong { integer(text, core::ptr::null_mut(), 10).signed() }

    /// A floating-point number, rounded to the nearest one.
    fn strtod(text: *const c_char, end: *mut *mut c_char) -> c_double {
        let (kind, is_negative) = float(text, end);
        let value = match kind {
            Float::None => return 0.0,
            Float::Decimal(digits) => digits.parse().unwrap_or(0.0),
            Float::Hexadecimal(mantissa, power) => f64::from_bits(DOUBLE.rounded(mantissa, power)),
        };
        if is_negative { -value } else { value }
    }

    /// The same of four bytes.
    fn strtof(text: *const c_char, end: *mut *mut c_char) -> c_float {
        let (kind, is_negative) = float(text, end);
        let value = match kind {
            Float::None => return 0.0,
            Float::Decimal(digits) => digits.parse().unwrap_or(0.0),
            Float::Hexadecimal(mantissa, power) => f32::from_bits(SINGLE.rounded(mantissa, power) as u32),
        };
        if is_negative { -value } else { value }
    }

    /// A floating-point number.
    fn atof(text: *const c_char) -> c_double { strtod(text, core::ptr::null_mut()) }
}
