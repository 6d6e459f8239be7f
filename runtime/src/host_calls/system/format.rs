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

    fn text(&mut self) -> Result<&'b [u8], FormatError> {
        let length = self.word()?;
        if length == NULL_TEXT {
            return Ok(b"(null)");
        }
        let missing = FormatError::Missing;
        let length = usize::try_from(length).map_err(|_| FormatError::Missing)?;
        let text = self.rest.get(..length).ok_or(missing)?;
        // The last text of a block may end without its filling.
        self.rest = self.rest.get(length.next_multiple_of(8)..).unwrap_or(&[]);
        Ok(text)
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
        let text = arguments.text()?;
        let most = precision.map_or(usize::MAX, |precision| precision as usize);
        let text = &text[..text.len().min(most)];
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    fn written(format: &str, values: &[u64]) -> Result<String, FormatError> {
        let written = write(format.as_bytes(), &block(values))?;
        Ok(String::from_utf8(written).unwrap())
    }

    #[test]
    fn numbers_are_written_as_the_c_library_does() {
        let minus = (-5_i64).cast_unsigned();
        let cases: [(&str, &[u64], &str); 12] = [
            ("%d%%", &[minus], "-5%"),
            ("[%5d|%-5d|%05d]", &[7, 7, 7], "[    7|7    |00007]"),
            ("%hhx %hx %x", &[0x1234_5678; 3], "78 5678 12345678"),
            ("%lx %llu", &[u64::MAX, u64::MAX], "ffffffffffffffff 18446744073709551615"),
            ("%zu %jd", &[1, minus], "1 -5"),
            ("%*d|%-*d|", &[4, 1, 4, 2], "   1|2   |"),
            ("%.*f", &[2, 1.005_f64.to_bits()], "1.00"),
            (
                "%8.3e|%g|%a",
                &[0.5_f64.to_bits(), 1e10_f64.to_bits(), 1_f64.to_bits()],
                "5.000e-01|1e+10|0x1p+0",
            ),
            ("%c%c", &[65, 66], "AB"),
            ("%p %p", &[0, 16], "(nil) 0x10"),
            ("%+d % d %#x", &[3, 3, 255], "+3  3 0xff"),
            ("100%", &[], ""),
        ];
        for (format, values, expected) in &cases[..11] {
            assert_eq!(written(format, values).as_deref(), Ok(*expected), "{format}");
        }
        assert_eq!(written(cases[11].0, &[]), Err(FormatError::Unsupported("%".to_owned())));
    }

    #[test]
    fn texts_come_with_their_length() {
        let text = u64::from_ne_bytes(*b"hello\0\0\0");
        assert_eq!(written("<%s>", &[5, text]).as_deref(), Ok("<hello>"));
        assert_eq!(written("<%7s|%-7s>", &[5, text, 5, text]).as_deref(), Ok("<  hello|hello  >"));
        assert_eq!(written("<%.3s>", &[5, text]).as_deref(), Ok("<hel>"));
        assert_eq!(written("<%s>", &[NULL_TEXT]).as_deref(), Ok("<(null)>"));
        assert_eq!(written("%s %d", &[5, text, 4]).as_deref(), Ok("hello 4"));
    }

    #[test]
    fn a_format_gives_no_more_than_there_is_room_for() {
        let format = "%1000000d".repeat(300);
        assert_eq!(written(&format, &[7; 300]), Err(FormatError::Large));
    }

    /// Pieces of formats, and what is none.
    fn pieces() -> impl Strategy<Value = Vec<u8>> {
        let flags = prop::sample::select(vec!["", "-", "+", " ", "0", "#", "-0", "0+ #-"]);
        let amount = || {
            prop_oneof![Just(String::new()), Just("*".to_owned()), (0..3000_u32).prop_map(|n| n.to_string())]
        };
        let size = prop::sample::select(vec!["", "hh", "h", "l", "ll", "z", "j", "t", "L", "q"]);
        let letter = prop::sample::select(b"diouxXeEfFgGaAcspn%mk1$".to_vec());
        let conversion = (flags, amount(), prop::option::of(amount()), size, letter).prop_map(
            |(flags, width, precision, size, letter)| {
                let point = precision.map_or(String::new(), |precision| format!(".{precision}"));
                [format!("%{flags}{width}{point}{size}").as_bytes(), &[letter]].concat()
            },
        );
        prop_oneof![conversion, prop::collection::vec(any::<u8>(), 0..6)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 20 } else { 2000 }))]

        /// Whatever a device sends: nothing is read beyond it, and nothing is lost without an error.
        #[test]
        fn any_format_is_written_or_refused(
            pieces in prop::collection::vec(pieces(), 0..8),
            words in prop::collection::vec(prop_oneof![any::<u64>(), 0..40_u64], 0..12),
            rest in 0..8_usize,
        ) {
            let format = pieces.concat();
            let mut arguments = block(&words);
            arguments.truncate(arguments.len().saturating_sub(rest));
            match write(&format, &arguments) {
                Ok(_) => {}
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn what_a_block_lacks_is_refused() {
        for (format, values) in [("%d", &[][..]), ("%s", &[9, 0]), ("%s", &[u64::MAX - 1]), ("%*d", &[1])] {
            assert_eq!(written(format, values), Err(FormatError::Missing), "{format}");
        }
        for format in ["%n", "%ls", "%lc", "%Lf", "%1$d", "%m", "%", "%-", "%k"] {
            assert!(matches!(written(format, &[1, 2]), Err(FormatError::Unsupported(_))), "{format}");
        }
        for format in ["%2000000d", "%.2000000f", "%99999999999d"] {
            assert!(matches!(written(format, &[1]), Err(FormatError::Wide(_))), "{format}");
        }
        assert_eq!(written("%*d", &[i32::MIN as u32 as u64, 1]), Err(FormatError::Wide(i64::from(i32::MIN))));
    }
}
