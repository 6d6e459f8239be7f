//! What a format of `printf` gives. The C library formats each argument by itself, with a
//! conversion that is known to take it.

use gangway_system::format::{Amount, Conversion, Kind, NULL_TEXT, Part, Parts, WIDEST};
use std::ffi::{CString, c_char, c_int};
use std::fmt;

/// Why a format cannot be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FormatError {
    /// A conversion that nobody supports here.
    Unsupported(String),
    /// The block has fewer arguments than the format takes.
    Missing,
    /// A width or precision beyond [`WIDEST`].
    Wide(i64),
    /// More than [`LARGEST`] bytes.
    Large,
}

/// Bytes that a format may give. A block of a few bytes could ask for all memory of the host.
const LARGEST: usize = 1 << 28;

/// What stands for a text that is not there.
const NULL: &[u8] = b"(null)";

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(text) => write!(f, "the conversion `{text}` is not supported in device code"),
            Self::Missing => write!(f, "its arguments have not arrived"),
            Self::Large => write!(f, "it gives more than {} MiB", LARGEST >> 20),
            Self::Wide(width) => write!(f, "a width or precision of {width}, expected {WIDEST} at most"),
        }
    }
}

/// What a format gives, with the arguments as a block has them.
pub(super) fn write(format: &[u8], arguments: &[u8]) -> Result<Vec<u8>, FormatError> {
    let mut arguments = Arguments { rest: arguments };
    let mut output = Vec::with_capacity(format.len() + 64);
    for part in Parts::of(format) {
        match part {
            Part::Text(text) => output.extend_from_slice(text),
            Part::Conversion(conversion) => convert(&conversion, &mut arguments, &mut output)?,
            Part::Unsupported(text) => {
                return Err(FormatError::Unsupported(text.escape_ascii().to_string()));
            }
        }
        if output.len() > LARGEST {
            return Err(FormatError::Large);
        }
    }
    Ok(output)
}

struct Arguments<'b> {
    rest: &'b [u8],
}

impl<'b> Arguments<'b> {
    fn word(&mut self) -> Result<u64, FormatError> {
        let (word, rest) = self.rest.split_first_chunk().ok_or(FormatError::Missing)?;
        self.rest = rest;
        Ok(u64::from_ne_bytes(*word))
    }

    /// None: it is a null pointer.
    fn text(&mut self) -> Result<Option<&'b [u8]>, FormatError> {
        let length = self.word()?;
        if length == NULL_TEXT {
            return Ok(None);
        }
        let missing = FormatError::Missing;
        let length = usize::try_from(length).map_err(|_| FormatError::Missing)?;
        let text = self.rest.get(..length).ok_or(missing)?;
        // The last text of a block may end without its filling.
        self.rest = self.rest.get(length.next_multiple_of(8)..).unwrap_or(&[]);
        Ok(Some(text))
    }

    fn amount(&mut self, amount: Amount) -> Result<Option<i32>, FormatError> {
        let number = match amount {
            Amount::None => return Ok(None),
            Amount::Number(number) => i64::from(number),
            Amount::Argument => i64::from(self.word()? as i32),
        };
        if number.abs() > i64::from(WIDEST) {
            return Err(FormatError::Wide(number));
        }
        Ok(Some(number as i32))
    }
}

fn convert(
    conversion: &Conversion<'_>,
    arguments: &mut Arguments<'_>,
    output: &mut Vec<u8>,
) -> Result<(), FormatError> {
    let width = arguments.amount(conversion.width)?;
    // A negative precision is none.
    let precision = arguments.amount(conversion.precision)?.filter(|&precision| precision >= 0);
    if conversion.kind == Kind::Text {
        let most = precision.map_or(usize::MAX, |precision| precision as usize);
        let text = match arguments.text()? {
            Some(text) => &text[..text.len().min(most)],
            // As the GNU C library has it: all of it or nothing.
            None if most >= NULL.len() => NULL,
            None => b"",
        };
        let padding = (width.unwrap_or(0).unsigned_abs() as usize).saturating_sub(text.len());
        let is_left = conversion.flags.contains(&b'-') || width.is_some_and(|width| width < 0);
        let before = if is_left { 0 } else { padding };
        output.extend(std::iter::repeat_n(b' ', before));
        output.extend_from_slice(text);
        output.extend(std::iter::repeat_n(b' ', padding - before));
        return Ok(());
    }
    let mut text = vec![b'%'];
    text.extend_from_slice(conversion.flags);
    text.push(b'*');
    if precision.is_some() {
        text.extend_from_slice(b".*");
    }
    let is_integer = matches!(conversion.kind, Kind::Int | Kind::Long) && conversion.letter != b'c';
    text.extend_from_slice(match conversion.bytes {
        1 => b"hh",
        2 => b"h",
        8 if is_integer => b"ll",
        _ => b"",
    });
    text.push(conversion.letter);
    let value = arguments.word()?;
    // The format's pieces hold no null byte: they have been recognised.
    let text = CString::new(text).map_err(|_| FormatError::Missing)?;
    let one = One { text, width: width.unwrap_or(0), precision, kind: conversion.kind, value };
    one.write(output);
    Ok(())
}

/// One conversion of the C library's.
struct One {
    text: CString,
    width: c_int,
    precision: Option<c_int>,
    kind: Kind,
    value: u64,
}

impl One {
    fn write(&self, output: &mut Vec<u8>) {
        let start = output.len();
        let needed = self.call(std::ptr::null_mut(), 0);
        // With the null byte.
        output.resize(start + needed + 1, 0);
        self.call(output[start..].as_mut_ptr().cast(), needed + 1);
        output.truncate(start + needed);
    }

    /// How many bytes the conversion has; as many as there is room for are written.
    fn call(&self, to: *mut c_char, room: usize) -> usize {
        let (text, width) = (self.text.as_ptr(), self.width);
        macro_rules! formatted {
            ($value:expr) => {
                // SAFETY: the conversion takes the width, the precision if it has one, and a
                // value of this kind; there is room for as many bytes as it says.
                unsafe {
                    match self.precision {
                        Some(precision) => libc::snprintf(to, room, text, width, precision, $value),
                        None => libc::snprintf(to, room, text, width, $value),
                    }
                }
            };
        }
        let written = match self.kind {
            Kind::Int => formatted!(self.value as c_int),
            Kind::Long => formatted!(self.value.cast_signed()),
            Kind::Double => formatted!(f64::from_bits(self.value)),
            Kind::Pointer | Kind::Text => {
                formatted!(std::ptr::without_provenance::<u8>(self.value as usize))
            }
        };
        usize::try_from(written).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
