//! Formats of `printf`: where their conversions stand, and which arguments they take.
//!
//! Behind a format, a block has the arguments in the order in which the conversions take them, each
//! in eight bytes. Those of type `int` are extended by their sign. For `%s` these are the text's
//! length, or [`NULL_TEXT`], and the text follows, filled up to a multiple of eight bytes.

/// Stands for the length of a text that is not there.
pub const NULL_TEXT: u64 = u64::MAX;

/// The largest width and precision.
pub const WIDEST: u32 = 1 << 20;

/// A piece of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'f> {
    /// It stands for itself.
    Text(&'f [u8]),
    Conversion(Conversion<'f>),
    /// A conversion that is not supported, or none at all. The format ends with it.
    Unsupported(&'f [u8]),
}

/// A conversion: `%`, flags, width, precision, size and letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conversion<'f> {
    /// As it stands there.
    pub text: &'f [u8],
    pub flags: &'f [u8],
    pub width: Amount,
    pub precision: Amount,
    /// `hh` is 1, `h` 2, none 4, and the others 8.
    pub bytes: u8,
    pub letter: u8,
    pub kind: Kind,
}

/// A width or a precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    None,
    Number(u32),
    /// An argument of type `int`.
    Argument,
}

/// What a conversion takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `int`, or what is passed as one.
    Int,
    /// A number of eight bytes.
    Long,
    Double,
    Pointer,
    Text,
}

impl Kind {
    /// Bytes of the argument in the caller's list, where it is aligned to as many.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Int => 4,
            Self::Long | Self::Double | Self::Pointer | Self::Text => 8,
        }
    }
}

/// The parts of a format, one after the other.
#[derive(Debug, Clone)]
pub struct Parts<'f> {
    rest: &'f [u8],
}

impl<'f> Parts<'f> {
    /// Of a format without its null byte.
    #[must_use]
    pub const fn of(format: &'f [u8]) -> Self {
        Self { rest: format }
    }

    fn split(&mut self, at: usize) -> &'f [u8] {
        let (head, rest) = self.rest.split_at_checked(at).unwrap_or((self.rest, &[]));
        self.rest = rest;
        head
    }
}

impl<'f> Iterator for Parts<'f> {
    type Item = Part<'f>;

    fn next(&mut self) -> Option<Part<'f>> {
        if *self.rest.first()? != b'%' {
            let end = self.rest.iter().position(|&byte| byte == b'%').unwrap_or(self.rest.len());
            return Some(Part::Text(self.split(end)));
        }
        if self.rest.get(1) == Some(&b'%') {
            return self.split(2).get(..1).map(Part::Text);
        }
        match conversion(self.rest) {
            Ok(conversion) => {
                self.split(conversion.text.len());
                Some(Part::Conversion(conversion))
            }
            Err(end) => {
                let text = self.split(end);
                self.rest = &[];
                Some(Part::Unsupported(text))
            }
        }
    }
}

/// The conversion at the start of a text, or where one that is not supported ends.
fn conversion(text: &[u8]) -> Result<Conversion<'_>, usize> {
    let byte = |at: usize| text.get(at).copied().unwrap_or(0);
    let mut at = 1;
    while matches!(byte(at), b'-' | b'+' | b' ' | b'#' | b'0' | b'\'') {
        at += 1;
    }
    let flags = text.get(1..at).unwrap_or(&[]);
    let (width, after) = amount(text, at);
    at = after;
    let mut precision = Amount::None;
    if byte(at) == b'.' {
        (precision, at) = amount(text, at + 1);
        if precision == Amount::None {
            precision = Amount::Number(0);
        }
    }
    let (bytes, letters) = match (byte(at), byte(at + 1)) {
        (b'h', b'h') => (1, 2),
        (b'h', _) => (2, 1),
        (b'l', b'l') => (8, 2),
        (b'l' | b'j' | b'z' | b't' | b'q', _) => (8, 1),
        _ => (4, 0),
    };
    at += letters;
    let letter = byte(at);
    let kind = match (letter, bytes) {
        (b'd' | b'i' | b'o' | b'u' | b'x' | b'X', 8) => Kind::Long,
        (b'd' | b'i' | b'o' | b'u' | b'x' | b'X', _) | (b'c', 4) => Kind::Int,
        (b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G', 4 | 8) => Kind::Double,
        (b'p', 4) => Kind::Pointer,
        (b's', 4) => Kind::Text,
        _ => return Err(at + 1),
    };
    let text = text.get(..=at).ok_or(at)?;
    Ok(Conversion { text, flags, width, precision, bytes, letter, kind })
}

fn amount(text: &[u8], mut at: usize) -> (Amount, usize) {
    if text.get(at) == Some(&b'*') {
        return (Amount::Argument, at + 1);
    }
    let mut number = None;
    while let Some(digit @ b'0'..=b'9') = text.get(at) {
        let before: u32 = number.unwrap_or(0);
        number = Some(before.saturating_mul(10).saturating_add(u32::from(digit - b'0')));
        at += 1;
    }
    (number.map_or(Amount::None, Amount::Number), at)
}
