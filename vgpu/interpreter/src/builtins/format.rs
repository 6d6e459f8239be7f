//! The format language of `printf`, as the CUDA programming guide describes it: flags
//! `#`, blank, `0`, `+`, `-`; width and precision, both also `*`; sizes `h`, `hh`, `l`, `ll` (and
//! `j`, `z`, `t`, `L`, which C has); conversions `d i o u x X c s p e E f F g G a A %`.
//!
//! Numbers come out as the C library writes them, exactly rounded. What is no
//! conversion is printed as it stands, as CUDA does. Called by `vprintf` alone.

use crate::fault::FaultKind;

/// Fields are at most this wide, so that a wrong argument for `*` does not fill the memory.
const WIDEST: usize = 4096;

/// Where arguments come from.
pub(super) trait Source {
    /// The next argument of 4 or 8 bytes.
    fn next(&mut self, size: usize) -> Result<u64, FaultKind>;

    /// The string at an address, at most `longest` bytes of it.
    fn string(&mut self, address: u64, longest: Option<usize>) -> Result<Vec<u8>, FaultKind>;
}

/// What stands between `%` and the conversion.
#[derive(Clone, Copy, Debug, Default)]
struct Spec {
    alternate: bool,
    zero: bool,
    left: bool,
    plus: bool,
    blank: bool,
    width: usize,
    precision: Option<usize>,
    /// How many bytes of an integer count.
    size: Size,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Size {
    Char,
    Short,
    #[default]
    Int,
    Long,
}

/// The text, and how many arguments it took.
pub(super) fn format(format: &[u8], source: &mut dyn Source) -> Result<(Vec<u8>, u32), FaultKind> {
    let (mut text, mut count) = (Vec::new(), 0);
    let mut rest = format;
    while let Some(at) = rest.iter().position(|&byte| byte == b'%') {
        text.extend_from_slice(&rest[..at]);
        let start = &rest[at..];
        rest = &start[1..];
        let mut taken = Counted { source: &mut *source, count: 0 };
        let spec = parse(&mut rest, &mut taken)?;
        match rest.split_first() {
            Some((&conversion, after)) if convert(&spec, conversion, &mut taken, &mut text)? => rest = after,
            // No conversion: what was read of it is text.
            _ => text.extend_from_slice(&start[..start.len() - rest.len()]),
        }
        count += taken.count;
    }
    text.extend_from_slice(rest);
    Ok((text, count))
}

struct Counted<'a> {
    source: &'a mut dyn Source,
    count: u32,
}

impl Counted<'_> {
    fn next(&mut self, size: usize) -> Result<u64, FaultKind> {
        self.count += 1;
        self.source.next(size)
    }
}

fn parse(rest: &mut &[u8], source: &mut Counted<'_>) -> Result<Spec, FaultKind> {
    let mut spec = Spec::default();
    loop {
        match rest.first() {
            Some(b'#') => spec.alternate = true,
            Some(b'0') => spec.zero = true,
            Some(b'-') => spec.left = true,
            Some(b'+') => spec.plus = true,
            Some(b' ') => spec.blank = true,
            _ => break,
        }
        *rest = &rest[1..];
    }
    let width = number(rest, source)?;
    // A negative width is the flag `-` and a width.
    spec.left |= width.is_some_and(|width| width < 0);
    spec.width = width.map_or(0, clamped);
    if rest.first() == Some(&b'.') {
        *rest = &rest[1..];
        // A negative precision counts as none, a missing number as zero.
        let precision = number(rest, source)?.unwrap_or(0);
        spec.precision = (precision >= 0).then(|| clamped(precision));
    }
    spec.size = match rest {
        [b'h', b'h', ..] => Size::Char,
        [b'h', ..] => Size::Short,
        [b'l' | b'j' | b'z' | b't' | b'L', ..] => Size::Long,
        _ => return Ok(spec),
    };
    let words = if matches!(rest, [b'h', b'h', ..] | [b'l', b'l', ..]) { 2 } else { 1 };
    *rest = &rest[words..];
    Ok(spec)
}

fn clamped(number: i32) -> usize {
    (number.unsigned_abs() as usize).min(WIDEST)
}

/// A number, or the argument that `*` stands for.
fn number(rest: &mut &[u8], source: &mut Counted<'_>) -> Result<Option<i32>, FaultKind> {
    if rest.first() == Some(&b'*') {
        *rest = &rest[1..];
        return Ok(Some(source.next(4)? as i32));
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (text, after) = rest.split_at(digits);
    *rest = after;
    let value = text
        .iter()
        .fold(0i32, |value, digit| value.saturating_mul(10).saturating_add(i32::from(digit - b'0')));
    Ok((digits > 0).then_some(value))
}

/// Formats one argument; `false` when the letter is no conversion.
fn convert(spec: &Spec, letter: u8, source: &mut Counted<'_>, text: &mut Vec<u8>) -> Result<bool, FaultKind> {
    let upper = letter.is_ascii_uppercase();
    match letter {
        b'%' => text.push(b'%'),
        b'd' | b'i' => {
            let value = integer(spec, source)?;
            let value = match spec.size {
                Size::Char => i64::from(value as i8),
                Size::Short => i64::from(value as i16),
                Size::Int => i64::from(value as i32),
                Size::Long => value as i64,
            };
            let digits = digits(spec, value.unsigned_abs().to_string());
            spec.number(sign(spec, value < 0), &digits, spec.precision.is_none(), text);
        }
        b'u' | b'o' | b'x' | b'X' => {
            let value = integer(spec, source)?;
            let value = match spec.size {
                Size::Char => value & 0xff,
                Size::Short => value & 0xffff,
                Size::Int => value & 0xffff_ffff,
                Size::Long => value,
            };
            let digits = unsigned(spec, letter, value);
            let prefix = match letter {
                b'x' if spec.alternate && value != 0 => "0x",
                b'X' if spec.alternate && value != 0 => "0X",
                _ => "",
            };
            spec.number(prefix, &digits, spec.precision.is_none(), text);
        }
        b'c' => spec.pad(&[source.next(4)? as u8], text),
        b's' => {
            let string = match source.next(8)? {
                0 => b"(null)"[..spec.precision.map_or(6, |longest| longest.min(6))].to_vec(),
                address => source.source.string(address, spec.precision)?,
            };
            spec.pad(&string, text);
        }
        b'p' => match source.next(8)? {
            0 => spec.pad(b"(nil)", text),
            address => spec.pad(format!("{address:#x}").as_bytes(), text),
        },
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let value = f64::from_bits(source.next(8)?);
            let minus = sign(spec, value.is_sign_negative());
            let magnitude = value.abs();
            if !magnitude.is_finite() {
                let word = if magnitude.is_nan() { "nan" } else { "inf" };
                let word = if upper { word.to_ascii_uppercase() } else { word.to_owned() };
                spec.number(minus, &word, false, text);
                return Ok(true);
            }
            let digits = match letter.to_ascii_lowercase() {
                b'f' => fixed(magnitude, spec.precision.unwrap_or(6), spec.alternate),
                b'e' => scientific(magnitude, spec.precision.unwrap_or(6), spec.alternate),
                b'g' => general(magnitude, spec.precision.unwrap_or(6), spec.alternate),
                _ => hexadecimal(magnitude, spec.precision, spec.alternate),
            };
            let digits = if upper { digits.to_ascii_uppercase() } else { digits };
            // The prefix of a hexadecimal number goes before the zeros.
            let (prefix, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
                Some(digits) => (format!("{minus}0{}", if upper { 'X' } else { 'x' }), digits),
                None => (minus.to_owned(), &digits[..]),
            };
            spec.number(&prefix, digits, true, text);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn integer(spec: &Spec, source: &mut Counted<'_>) -> Result<u64, FaultKind> {
    source.next(if spec.size == Size::Long { 8 } else { 4 })
}

fn sign(spec: &Spec, negative: bool) -> &'static str {
    match (negative, spec.plus, spec.blank) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (.., true) => " ",
        _ => "",
    }
}

/// At least as many digits as the precision says; none for zero with precision 0.
fn digits(spec: &Spec, digits: String) -> String {
    match spec.precision {
        Some(0) if digits == "0" => String::new(),
        Some(least) => format!("{digits:0>least$}"),
        None => digits,
    }
}

fn unsigned(spec: &Spec, letter: u8, value: u64) -> String {
    match letter {
        b'u' => digits(spec, value.to_string()),
        b'x' => digits(spec, format!("{value:x}")),
        b'X' => digits(spec, format!("{value:X}")),
        _ => {
            let octal = digits(spec, format!("{value:o}"));
            // `#` makes the first digit a zero.
            if spec.alternate && !octal.starts_with('0') { format!("0{octal}") } else { octal }
        }
    }
}

impl Spec {
    /// A number after its sign or prefix, which zeros go behind and blanks before.
    fn number(&self, prefix: &str, digits: &str, zeros: bool, text: &mut Vec<u8>) {
        let fill = self.width.saturating_sub(prefix.len() + digits.len());
        let zeros = zeros && self.zero && !self.left;
        let mut padded = prefix.as_bytes().to_vec();
        if zeros {
            padded.resize(prefix.len() + fill, b'0');
        }
        padded.extend_from_slice(digits.as_bytes());
        self.pad(&padded, text);
    }

    fn pad(&self, bytes: &[u8], text: &mut Vec<u8>) {
        let fill = self.width.saturating_sub(bytes.len());
        let (before, after) = if self.left { (0, fill) } else { (fill, 0) };
        text.resize(text.len() + before, b' ');
        text.extend_from_slice(bytes);
        text.resize(text.len() + after, b' ');
    }
}

fn fixed(value: f64, precision: usize, alternate: bool) -> String {
    let point = if alternate && precision == 0 { "." } else { "" };
    format!("{value:.precision$}{point}")
}

/// `1.5e+03`: at least two digits of exponent.
fn scientific(value: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let point = if alternate && precision == 0 { "." } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{point}e{sign}{:02}", exponent.unsigned_abs())
}

/// The shorter of the two, by the exponent after rounding; without zeros at the end unless `#` says
/// so.
fn general(value: f64, precision: usize, alternate: bool) -> String {
    let precision = precision.max(1);
    let rounded = format!("{value:.*e}", precision - 1);
    let exponent: i32 = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let scientific_wanted = exponent < -4 || exponent >= precision as i32;
    let text = if scientific_wanted {
        scientific(value, precision - 1, alternate)
    } else {
        fixed(value, (precision as i32 - 1 - exponent) as usize, alternate)
    };
    if alternate {
        return text;
    }
    let (mantissa, exponent) = match text.find('e') {
        Some(at) => text.split_at(at),
        None => (&text[..], ""),
    };
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    format!("{mantissa}{exponent}")
}

/// `0x1.8p+1`, as the GNU C library writes it: a subnormal number begins with `0x0.`.
fn hexadecimal(value: f64, precision: Option<usize>, alternate: bool) -> String {
    const FRACTION: u32 = 52;
    let bits = value.to_bits();
    let field = (bits >> FRACTION) as i64;
    let mut mantissa = bits & ((1 << FRACTION) - 1);
    let exponent = match (field, mantissa) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => {
            mantissa |= 1 << FRACTION;
            field - 1023
        }
    };
    // Thirteen digits hold the fraction; fewer round to even.
    let shown = precision.unwrap_or(13);
    if shown < 13 {
        let dropped = 4 * (13 - shown as u32);
        let (half, rest) = (1u64 << (dropped - 1), mantissa & ((1 << dropped) - 1));
        mantissa >>= dropped;
        mantissa += u64::from(rest > half || (rest == half && mantissa & 1 != 0));
        mantissa <<= dropped;
    }
    let fraction = format!("{:013x}", mantissa & ((1 << FRACTION) - 1));
    let fraction = match precision {
        None => fraction.trim_end_matches('0').to_owned(),
        Some(shown) => format!("{:0<shown$}", &fraction[..shown.min(13)]),
    };
    let point = if alternate || !fraction.is_empty() { "." } else { "" };
    format!("0x{}{point}{fraction}p{exponent:+}", mantissa >> FRACTION)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct List(Vec<u64>);

    impl Source for List {
        fn next(&mut self, _size: usize) -> Result<u64, FaultKind> {
            Ok(self.0.remove(0))
        }

        fn string(&mut self, address: u64, longest: Option<usize>) -> Result<Vec<u8>, FaultKind> {
            let text = format!("s{address}").into_bytes();
            Ok(text[..longest.unwrap_or(text.len()).min(text.len())].to_vec())
        }
    }

    fn text(template: &str, arguments: &[u64]) -> String {
        let (text, count) =
            format(template.as_bytes(), &mut List(arguments.to_vec())).expect("no memory is read");
        assert_eq!(count as usize, arguments.len(), "{template}");
        String::from_utf8(text).expect("ASCII")
    }

    #[test]
    fn arguments_are_taken_in_order() {
        assert_eq!(
            text("%*d|%-*d|%.*f|%*.*s", &[5, 42, 4, 7, 2, 1.239f64.to_bits(), 6, 2, 123]),
            "   42|7   |1.24|    s1"
        );
        assert_eq!(text("%*d|", &[(-4i32) as u32 as u64, 7]), "7   |");
        assert_eq!(text("%hhd %hhu %hd %hu", &[0x1ff, 0x1ff, 0x18000, 0x18000]), "-1 255 -32768 32768");
        assert_eq!(text("%ld %lu %zu %jx %td", &[u64::MAX; 5]), format!("-1 {0} {0} {0:x} -1", u64::MAX));
    }

    #[test]
    fn what_is_no_conversion_is_text() {
        assert_eq!(text("100%% %d%% %", &[3]), "100% 3% %");
        assert_eq!(text("%k %5.3y %-", &[]), "%k %5.3y %-");
    }

    #[test]
    fn pointers_and_missing_strings() {
        assert_eq!(text("%p %p %s|%3s|%.2s", &[0, 0x1234, 0, 0, 0]), "(nil) 0x1234 (null)|(null)|(n");
        assert_eq!(text("%10p|%-8s|%c%c", &[16, 5, 65, 0x142]), "      0x10|s5      |AB");
    }

    #[test]
    fn widths_are_bounded() {
        assert_eq!(text("%999999999d", &[1]).len(), WIDEST);
        assert_eq!(text("%.999999999f", &[0]).len(), WIDEST + 2);
    }
}
