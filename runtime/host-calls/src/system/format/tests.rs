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
        ("%8.3e|%g|%a", &[0.5_f64.to_bits(), 1e10_f64.to_bits(), 1_f64.to_bits()], "5.000e-01|1e+10|0x1p+0"),
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
    assert_eq!(written("<%.6s|%.5s|%3.0s>", &[NULL_TEXT; 3]).as_deref(), Ok("<(null)||   >"));
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
    let amount =
        || prop_oneof![Just(String::new()), Just("*".to_owned()), (0..3000_u32).prop_map(|n| n.to_string())];
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

/// A conversion that the C library has, and its value. Widths and precisions are `*` with a number.
#[derive(Debug, Clone)]
struct Valid {
    flags: String,
    width: Option<(bool, i32)>,
    precision: Option<(bool, i32)>,
    size: &'static str,
    letter: char,
    value: u64,
}

impl Valid {
    fn text(&self) -> String {
        let number = |amount: Option<(bool, i32)>| match amount {
            None => String::new(),
            Some((true, _)) => "*".to_owned(),
            // Zero is a flag as a width, and may be left out as a precision.
            Some((false, 0)) => String::new(),
            Some((false, number)) => number.unsigned_abs().to_string(),
        };
        let point = if self.precision.is_some() { "." } else { "" };
        let (width, precision) = (number(self.width), number(self.precision));
        format!("%{}{width}{point}{precision}{}{}", self.flags, self.size, self.letter)
    }

    /// The arguments, as a block has them.
    fn words(&self) -> Vec<u64> {
        let amounts =
            [self.width, self.precision].into_iter().flatten().filter(|(is_argument, _)| *is_argument);
        let mut words: Vec<u64> = amounts.map(|(_, number)| i64::from(number).cast_unsigned()).collect();
        match self.letter {
            's' if self.value.is_multiple_of(5) => words.push(NULL_TEXT),
            's' => {
                let text = self.c_text();
                let mut bytes = text.to_bytes().to_vec();
                words.push(bytes.len() as u64);
                bytes.resize(bytes.len().next_multiple_of(8), b'?');
                words.extend(bytes.chunks(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())));
            }
            _ => words.push(self.value),
        }
        words
    }

    fn c_text(&self) -> CString {
        CString::new(format!("{:x}", self.value).repeat(self.value as usize % 3)).unwrap()
    }

    /// What the C library gives for it, all in one call.
    fn by_the_c_library(&self) -> Vec<u8> {
        let format = CString::new(self.text()).unwrap();
        let amounts: Vec<c_int> = [self.width, self.precision]
            .into_iter()
            .flatten()
            .filter(|(is_argument, _)| *is_argument)
            .map(|(_, number)| number)
            .collect();
        let mut room = vec![0_u8; 10_000];
        let (to, size, format) = (room.as_mut_ptr().cast::<c_char>(), room.len(), format.as_ptr());
        macro_rules! print {
            ($value:expr) => {
                // SAFETY: the values are what the format takes.
                unsafe {
                    match amounts[..] {
                        [] => libc::snprintf(to, size, format, $value),
                        [one] => libc::snprintf(to, size, format, one, $value),
                        [one, other] => libc::snprintf(to, size, format, one, other, $value),
                        _ => unreachable!(),
                    }
                }
            };
        }
        let length = match (self.letter, self.size) {
            ('a' | 'A' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G', _) => print!(f64::from_bits(self.value)),
            ('s', _) if self.value.is_multiple_of(5) => print!(std::ptr::null::<c_char>()),
            ('s', _) => {
                let text = self.c_text();
                print!(text.as_ptr())
            }
            ('p', _) => print!(std::ptr::without_provenance::<u8>(self.value as usize)),
            (_, "" | "h" | "hh") => print!(self.value as c_int),
            _ => print!(self.value.cast_signed()),
        };
        room.truncate(usize::try_from(length).unwrap());
        room
    }
}

fn valid() -> impl Strategy<Value = Valid> {
    let flags = prop::collection::vec(prop::sample::select(vec!['-', '+', ' ', '0', '#', '\'']), 0..4);
    let amount = || prop::option::of((any::<bool>(), prop_oneof![-30..30_i32, 0..3000_i32]));
    let integers = (prop::sample::select(vec!["", "hh", "h", "l", "ll", "z", "j", "t", "q"]), "[diouxX]");
    let floats = (prop::sample::select(vec!["", "l"]), "[aAeEfFgG]");
    let others = (Just(""), "[cps]");
    let number = (any::<f64>(), -1e6..1e6_f64, any::<bool>())
        .prop_map(|(any, small, which)| if which { any.to_bits() } else { small.to_bits() });
    let value = prop_oneof![number, any::<u64>(), 0..300_u64, Just(u64::MAX)];
    let kind = prop_oneof![integers, floats, others];
    (flags, amount(), amount(), kind, value).prop_map(|(flags, width, precision, (size, letter), value)| {
        Valid {
            flags: flags.into_iter().collect(),
            // Only as an argument may they be negative.
            width: width.map(|(is_argument, number)| (is_argument || number < 0, number)),
            precision: precision.map(|(is_argument, number)| (is_argument || number < 0, number)),
            size,
            letter: letter.chars().next().unwrap(),
            value,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 0 } else { 5000 }))]

    /// What the C library takes is written as it does, whatever stands in between.
    #[test]
    fn valid_formats_are_written_as_the_c_library_does(
        conversions in prop::collection::vec(valid(), 1..5),
        between in prop::sample::select(vec!["", " ", "%%", "a\n", "\u{e9}"]),
    ) {
        let (mut format, mut words, mut expected) = (String::new(), Vec::new(), Vec::new());
        for one in &conversions {
            format += &(one.text() + between);
            words.extend(one.words());
            expected.extend(one.by_the_c_library());
            expected.extend(between.replace("%%", "%").as_bytes());
        }
        let written = write(format.as_bytes(), &block(&words)).map_err(|error| error.to_string());
        let readable = |text: &[u8]| text.escape_ascii().to_string();
        prop_assert_eq!(written.map(|text| readable(&text)), Ok(readable(&expected)), "{}", format);
    }
}
