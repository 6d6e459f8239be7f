//! Splits PTX text into tokens.
//!
//! The parser asks for one token at a time. Tokens are spans with a kind; numbers are
//! converted by [`integer`] and [`decimal`] when they are used. The lexer never fails
//! by itself: what it does not know is a [`TokenKind::Unknown`] token.

use crate::error::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name: `x`, `%r1`, `$L2`, `_`.
    Name,
    /// A word with its period: `.reg`, `.shared::cta`.
    Dot,
    /// `12`, `0x1F`, `017`, `0b11`, each perhaps with `U`.
    Integer,
    /// `0f` and eight digits.
    Float32,
    /// `0d` and sixteen digits.
    Float64,
    /// `1.5`, `1e3`
    Decimal,
    /// With its quotes.
    String,
    /// One character, or one of the two-character operators.
    Sign([u8; 2]),
    Unknown,
    End,
}

/// A one-character [`TokenKind::Sign`].
#[must_use]
pub const fn sign(byte: u8) -> TokenKind {
    TokenKind::Sign([byte, 0])
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
}

const NAME: u8 = 1;
const DIGIT: u8 = 2;
const SPACE: u8 = 4;

/// What each byte may be part of.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = match byte as u8 {
            b'0'..=b'9' => NAME | DIGIT,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => NAME,
            b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => SPACE,
            _ => 0,
        };
        byte += 1;
    }
    class
};

const fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

impl<'a> Lexer<'a> {
    /// `text` must be shorter than 4 GiB, as spans are.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Lexer { text, at: 0 }
    }

    /// Goes to where a token begins.
    pub fn seek(&mut self, at: u32) {
        self.at = at as usize;
    }

    /// Goes behind the brace that closes what the last token has opened; `false` when
    /// there is none.
    pub fn skip_block(&mut self) -> bool {
        let mut depth = 1;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'{' => depth += 1,
                b'}' if depth == 1 => {
                    self.at += 1;
                    return true;
                }
                b'}' => depth -= 1,
                b'"' => {
                    self.string();
                    continue;
                }
                b'/' if matches!(self.byte(self.at + 1), b'/' | b'*') => {
                    self.skip_space();
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        false
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    fn skip_space(&mut self) {
        loop {
            while is(self.byte(self.at), SPACE) {
                self.at += 1;
            }
            if self.byte(self.at) != b'/' {
                return;
            }
            let rest = &self.text[self.at..];
            match self.byte(self.at + 1) {
                b'/' => self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()),
                b'*' => {
                    let close = rest[2..].windows(2).position(|pair| pair == b"*/");
                    self.at += close.map_or(rest.len(), |at| at + 4);
                }
                _ => return,
            }
        }
    }

    pub fn next(&mut self) -> Token {
        self.skip_space();
        let start = self.at;
        let kind = match self.byte(start) {
            0 if start >= self.text.len() => TokenKind::End,
            b'%' if is(self.byte(start + 1), NAME) => self.name(),
            b'.' if is(self.byte(start + 1), NAME) && !is(self.byte(start + 1), DIGIT) => self.dot(),
            b'"' => self.string(),
            byte if is(byte, DIGIT) => self.number(),
            byte if is(byte, NAME) => self.name(),
            byte => self.sign(byte),
        };
        Token { kind, span: Span::new(start as u32, self.at as u32) }
    }

    fn name(&mut self) -> TokenKind {
        self.at += 1;
        while is(self.byte(self.at), NAME) {
            self.at += 1;
        }
        TokenKind::Name
    }

    /// A word after a period, with `::` and another word after it.
    fn dot(&mut self) -> TokenKind {
        self.name();
        while self.byte(self.at) == b':' && self.byte(self.at + 1) == b':' && is(self.byte(self.at + 2), NAME)
        {
            self.at += 2;
            self.name();
        }
        TokenKind::Dot
    }

    fn string(&mut self) -> TokenKind {
        self.at += 1;
        loop {
            match self.byte(self.at) {
                b'"' => {
                    self.at += 1;
                    return TokenKind::String;
                }
                b'\\' => self.at += 2,
                b'\n' => return TokenKind::Unknown,
                _ if self.at >= self.text.len() => {
                    self.at = self.text.len();
                    return TokenKind::Unknown;
                }
                _ => self.at += 1,
            }
        }
    }

    fn number(&mut self) -> TokenKind {
        let start = self.at;
        while is(self.byte(self.at), NAME) {
            self.at += 1;
        }
        let mut digits = &self.text[start..self.at];
        if let [b'0', letter, hex @ ..] = digits
            && hex.iter().all(u8::is_ascii_hexdigit)
        {
            match (letter, hex.len()) {
                (b'f' | b'F', 8) => return TokenKind::Float32,
                (b'd' | b'D', 16) => return TokenKind::Float64,
                _ => {}
            }
        }
        // A fraction or an exponent makes it a decimal number.
        let plain = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_digit);
        let exponent = |bytes: &[u8]| matches!(bytes.last(), Some(b'e' | b'E')) && !bytes.starts_with(b"0x");
        if self.byte(self.at) == b'.' && plain(digits) {
            self.at += 1;
            while is(self.byte(self.at), NAME) {
                self.at += 1;
            }
            digits = &self.text[start..self.at];
        }
        if exponent(digits) && matches!(self.byte(self.at), b'+' | b'-') {
            self.at += 1;
            while is(self.byte(self.at), DIGIT) {
                self.at += 1;
            }
        }
        let text = &self.text[start..self.at];
        if integer(text).is_some() {
            TokenKind::Integer
        } else if decimal(text).is_some() {
            TokenKind::Decimal
        } else {
            TokenKind::Unknown
        }
    }

    fn sign(&mut self, byte: u8) -> TokenKind {
        let next = self.byte(self.at + 1);
        self.at += 1;
        match (byte, next) {
            (b'<', b'<' | b'=') | (b'>', b'>' | b'=') | (b'=' | b'!', b'=') | (b'&', b'&') | (b'|', b'|') => {
                self.at += 1;
                TokenKind::Sign([byte, next])
            }
            (byte, _) if byte.is_ascii_punctuation() => sign(byte),
            _ => {
                // The rest of a character that is not ASCII belongs to it.
                while self.byte(self.at) & 0xc0 == 0x80 {
                    self.at += 1;
                }
                TokenKind::Unknown
            }
        }
    }

    /// After a name that starts a statement: takes the `.words` that follow without a
    /// blank. Gives the end of the whole.
    pub fn opcode(&mut self) -> u32 {
        while self.byte(self.at) == b'.' && is(self.byte(self.at + 1), NAME) {
            self.dot();
        }
        self.at as u32
    }
}

/// The value of an integer token. `U` at the end is allowed; more than 64 bits are not.
#[must_use]
pub fn integer(text: &[u8]) -> Option<u64> {
    let text = text.strip_suffix(b"U").unwrap_or(text);
    let (radix, digits) = match text {
        [b'0', b'x' | b'X', rest @ ..] => (16, rest),
        [b'0', b'b' | b'B', rest @ ..] => (2, rest),
        [b'0', rest @ ..] if !rest.is_empty() => (8, rest),
        _ => (10, text),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0u64;
    for &byte in digits {
        let digit = (byte as char).to_digit(radix)?;
        value = value.checked_mul(u64::from(radix))?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// The value of a decimal floating-point token.
#[must_use]
pub fn decimal(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let allowed = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    // Digits alone are an integer, and one that is too large stays wrong.
    (allowed && text.contains(['.', 'e', 'E'])).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(TokenKind, &str)> {
        let mut lexer = Lexer::new(text.as_bytes());
        let mut tokens = Vec::new();
        loop {
            let token = lexer.next();
            if token.kind == TokenKind::End {
                return tokens;
            }
            tokens.push((token.kind, &text[token.span.start as usize..token.span.end as usize]));
        }
    }

    #[test]
    fn splits_an_instruction() {
        use TokenKind::*;
        let found = kinds("@ !%p1 x [%rd1+-4],_; // c\n/* d */ .reg.u64 a%2 <<");
        let expected = [
            (sign(b'@'), "@"),
            (sign(b'!'), "!"),
            (Name, "%p1"),
            (Name, "x"),
            (sign(b'['), "["),
            (Name, "%rd1"),
            (sign(b'+'), "+"),
            (sign(b'-'), "-"),
            (Integer, "4"),
            (sign(b']'), "]"),
            (sign(b','), ","),
            (Name, "_"),
            (sign(b';'), ";"),
            (Dot, ".reg"),
            (Dot, ".u64"),
            (Name, "a"),
            (Name, "%2"),
            (Sign(*b"<<"), "<<"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn tells_numbers_apart() {
        use TokenKind::*;
        for (text, kind) in [
            ("0", Integer),
            ("18446744073709551615", Integer),
            ("18446744073709551616", Unknown),
            ("0xFFU", Integer),
            ("017", Integer),
            ("0b101", Integer),
            ("0f3F800000", Float32),
            ("0d3FF0000000000000", Float64),
            ("1.5", Decimal),
            ("1e-3", Decimal),
            ("1.25E+3", Decimal),
            ("0f3F80", Unknown),
            ("08", Unknown),
            ("12ab", Unknown),
            ("0x", Unknown),
        ] {
            assert_eq!(kinds(text), [(kind, text)], "{text}");
        }
    }

    #[test]
    fn ends_in_the_middle_of_anything() {
        for text in ["/*", "/", "\"abc", "\"\\", "0x", "1.", "1e+", ".", "%", "é", "\u{0}"] {
            kinds(text);
        }
    }
}
