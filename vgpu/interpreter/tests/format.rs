//! `vprintf` against the C library: every number in every format must come out the same.

use std::ffi::CString;

use gangway_interpreter::{Builtin, Caller, FaultKind, Host, call};

/// Memory in which address 0 is invalid, and what was printed.
#[derive(Default)]
struct Device {
    memory: Vec<u8>,
    out: Vec<u8>,
}

impl Host for Device {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), FaultKind> {
        let outside = FaultKind::OutOfBounds { address, size: bytes.len(), write: false };
        let start = address.checked_sub(8).ok_or_else(|| outside.clone())? as usize;
        bytes.copy_from_slice(self.memory.get(start..start + bytes.len()).ok_or(outside)?);
        Ok(())
    }

    fn allocate(&mut self, _size: u64) -> Result<u64, FaultKind> {
        Ok(0)
    }

    fn free(&mut self, _address: u64) -> Result<(), FaultKind> {
        Ok(())
    }

    fn print(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }

    fn complain(&mut self, _text: &str) {}
}

fn ours(template: &str, argument: u64) -> String {
    let mut device = Device { memory: argument.to_le_bytes().to_vec(), out: Vec::new() };
    device.memory.extend_from_slice(template.as_bytes());
    device.memory.push(0);
    assert_eq!(call(Builtin::Vprintf, &[16, 8], &Caller::default(), &mut device), Ok(1), "{template}");
    String::from_utf8(device.out).expect("ASCII")
}

/// What the C library writes: `print` gets the buffer, its length and the format.
fn theirs(template: &str, print: impl Fn(*mut libc::c_char, usize, *const libc::c_char) -> i32) -> String {
    let template = CString::new(template).expect("no zero inside");
    let mut buffer = vec![0u8; 2048];
    let length = print(buffer.as_mut_ptr().cast(), buffer.len(), template.as_ptr());
    buffer.truncate(length as usize);
    String::from_utf8(buffer).expect("ASCII")
}

fn float(template: &str, value: f64) -> String {
    // SAFETY: the buffer is as long as it is told, and the format takes this one argument.
    theirs(template, |buffer, size, format| unsafe { libc::snprintf(buffer, size, format, value) })
}

fn integer(template: &str, value: i64) -> String {
    // SAFETY: as for floats.
    theirs(template, |buffer, size, format| unsafe { libc::snprintf(buffer, size, format, value) })
}

const FLAGS: [&str; 14] = ["", "-", "+", " ", "0", "#", "-#", "+0", "#0", " 0", "-0", "+ ", "#+", "#-0 +"];
const WIDTHS: [&str; 13] = ["", "1", "12", "30", ".", ".0", ".1", ".3", ".10", ".17", "14.4", "3.20", "40.0"];

/// Some versions of glibc lose the zeros that `%#g` asks for when rounding adds a digit in front.
const LARGER: [f64; 4] = [9.5, 99999.5, 999_999.5, 9.9999e-5];

#[test]
fn zeros_stay_where_rounding_adds_a_digit() {
    assert_eq!(ours("%#g", 999_999.5f64.to_bits()), "1.00000e+06");
    assert_eq!(ours("%#.3g", 99999.5f64.to_bits()), "1.00e+05");
    assert_eq!(ours("%#.1g", 9.5f64.to_bits()), "1.e+01");
    assert_eq!(ours("%#.4g", 9.9999e-5f64.to_bits()), "0.0001000");
}

#[test]
fn floats() {
    let values = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        0.1,
        9.5,
        0.5,
        2.5,
        99999.5,
        999_999.5,
        1e5,
        1e6,
        123_456_789.0,
        1e-4,
        9.9999e-5,
        1e-5,
        1e100,
        f64::MAX,
        -f64::MAX,
        5e-324,
        f64::MIN_POSITIVE,
        1e21,
        std::f64::consts::PI,
        1.0 / 3.0,
        0.000_123_456_789,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1.999_999_999_999_999_8,
    ];
    for (flags, width) in FLAGS.iter().flat_map(|flags| WIDTHS.iter().map(move |width| (flags, width))) {
        for letter in ['f', 'F', 'e', 'E', 'g', 'G', 'a', 'A'] {
            let template = format!("%{flags}{width}{letter}");
            for value in values {
                if template.contains('#') && template.ends_with(['g', 'G']) && LARGER.contains(&value) {
                    continue;
                }
                assert_eq!(ours(&template, value.to_bits()), float(&template, value), "{template} {value:e}");
            }
        }
    }
}

#[test]
fn integers() {
    let values = [
        0i64,
        1,
        -1,
        7,
        8,
        42,
        -32769,
        i64::from(i32::MAX),
        i64::from(i32::MIN),
        1 << 40,
        i64::MAX,
        i64::MIN,
    ];
    for (flags, width) in FLAGS.iter().flat_map(|flags| WIDTHS.iter().map(move |width| (flags, width))) {
        for letter in ['d', 'i', 'u', 'o', 'x', 'X'] {
            for size in ["hh", "h", "", "l", "ll", "z", "j", "t"] {
                let template = format!("%{flags}{width}{size}{letter}");
                for value in values {
                    assert_eq!(
                        ours(&template, value as u64),
                        integer(&template, value),
                        "{template} {value}"
                    );
                }
            }
        }
    }
}
