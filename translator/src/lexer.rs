//! C and C++ source as preprocessing tokens: what a pragma is made of.
//!
//! Every token knows its bytes in the file. Its text has no spliced lines, so a word that a
//! backslash breaks in two is one word. Comments are white space.

use std::ops::Range;

/// What a token is, as far as pragmas need to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Identifier,
    Number,
    /// A string, also a raw one.
    String,
    Character,
    Punctuation,
    /// The end of a line that no backslash continues.
    Newline,
}

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    /// Its bytes in the file.
    pub range: Range<usize>,
    /// What it says, without spliced lines.
    pub text: String,
}

impl Token {
    /// Whether it is this identifier or punctuation.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Identifier | Kind::Punctuation) && self.text == text
    }
}

/// The tokens of a file. What is not C becomes punctuation of one byte.
#[must_use]
pub fn tokens(source: &[u8]) -> Vec<Token> {
    let mut lexer = Lexer { source, at: 0 };
    std::iter::from_fn(|| lexer.next()).collect()
}

/// The number of the line that a byte is on; the first is 1.
#[must_use]
pub fn line_of(source: &[u8], at: usize) -> usize {
    1 + source[..at.min(source.len())].iter().filter(|byte| **byte == b'\n').count()
}

struct Lexer<'s> {
    source: &'s [u8],
    at: usize,
}

/// What a raw string may start with.
const RAW: [&str; 5] = ["R", "LR", "uR", "UR", "u8R"];
/// What another string or character may start with.
const PREFIXES: [&str; 4] = ["L", "u", "U", "u8"];
/// Punctuation of several characters that a pragma has a use for. Others fall apart without harm.
const LONG: [&str; 5] = ["->", "::", "==", "<=", ">="];

impl Lexer<'_> {
    /// Steps over spliced lines.
    fn splices(&mut self) {
        while let Some(length) = splice(&self.source[self.at..]) {
            self.at += length;
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.splices();
        self.source.get(self.at).copied()
    }

    fn peek_second(&mut self) -> Option<u8> {
        let here = self.at;
        let second = self.take().and_then(|_| self.peek());
        self.at = here;
        second
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn take_while(&mut self, text: &mut Vec<u8>, wanted: impl Fn(u8) -> bool) {
        while let Some(byte) = self.peek().filter(|byte| wanted(*byte)) {
            self.at += 1;
            text.push(byte);
        }
    }

    fn next(&mut self) -> Option<Token> {
        self.white_space();
        self.splices();
        let start = self.at;
        let first = self.take()?;
        let mut text = vec![first];
        let kind = match first {
            b'\n' => Kind::Newline,
            b'"' | b'\'' => self.quoted(first, &mut text),
            b'0'..=b'9' => self.number(&mut text),
            b'.' if self.peek().is_some_and(|byte| byte.is_ascii_digit()) => self.number(&mut text),
            _ if is_word(first) => self.word(&mut text),
            _ => {
                if let Some(second) = self.peek()
                    && LONG.iter().any(|long| long.as_bytes() == [first, second])
                {
                    self.at += 1;
                    text.push(second);
                }
                Kind::Punctuation
            }
        };
        let text = String::from_utf8_lossy(&text).into_owned();
        Some(Token { kind, range: start..self.at, text })
    }

    fn white_space(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'/' if self.peek_second() == Some(b'/') => {
                    while self.peek().is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                b'/' if self.peek_second() == Some(b'*') => {
                    self.take();
                    self.take();
                    let mut star = false;
                    while let Some(byte) = self.take() {
                        if star && byte == b'/' {
                            break;
                        }
                        star = byte == b'*';
                    }
                }
                _ => return,
            }
        }
    }

    fn number(&mut self, text: &mut Vec<u8>) -> Kind {
        loop {
            self.take_while(text, |byte| is_word(byte) || byte.is_ascii_digit() || byte == b'.');
            let exponent = text.last().is_some_and(|last| b"eEpP".contains(last));
            match self.peek() {
                Some(sign @ (b'+' | b'-')) if exponent => text.push(sign),
                Some(b'\'') if self.peek_second().is_some_and(|byte| byte.is_ascii_alphanumeric()) => {
                    text.push(b'\'');
                }
                _ => return Kind::Number,
            }
            self.at += 1;
        }
    }

    fn word(&mut self, text: &mut Vec<u8>) -> Kind {
        self.take_while(text, |byte| is_word(byte) || byte.is_ascii_digit());
        let is_one_of = |words: &[&str]| words.iter().any(|word| word.as_bytes() == text.as_slice());
        match self.peek() {
            // No line is spliced between the quotes of a raw string.
            Some(b'"') if is_one_of(&RAW) => self.raw(text),
            Some(quote @ (b'"' | b'\'')) if is_one_of(&PREFIXES) => {
                self.at += 1;
                text.push(quote);
                self.quoted(quote, text)
            }
            _ => Kind::Identifier,
        }
    }

    /// The rest of a string or character; an unfinished one ends with its line.
    fn quoted(&mut self, quote: u8, text: &mut Vec<u8>) -> Kind {
        let kind = if quote == b'"' { Kind::String } else { Kind::Character };
        while let Some(byte) = self.peek().filter(|byte| *byte != b'\n') {
            self.at += 1;
            text.push(byte);
            if byte == quote {
                break;
            }
            if byte == b'\\'
                && let Some(escaped) = self.peek().filter(|byte| *byte != b'\n')
            {
                self.at += 1;
                text.push(escaped);
            }
        }
        kind
    }

    fn raw(&mut self, text: &mut Vec<u8>) -> Kind {
        let rest = &self.source[self.at..];
        let opening = rest.iter().position(|byte| *byte == b'(').unwrap_or(rest.len());
        let delimiter = rest.get(1..opening).unwrap_or_default();
        let mut end = vec![b')'];
        end.extend_from_slice(delimiter);
        end.push(b'"');
        let length = rest.windows(end.len()).position(|part| part == end);
        let length = length.map_or(rest.len(), |position| position + end.len());
        text.extend_from_slice(&rest[..length]);
        self.at += length;
        Kind::String
    }
}

/// How long the spliced line's end is that a text starts with.
fn splice(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(b"\\")?;
    // clang, too, lets white space stand before the end of the line.
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    (rest.get(blanks) == Some(&b'\n')).then_some(blanks + 2)
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        tokens(source.as_bytes()).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn words_broken_by_a_backslash_are_whole() {
        assert_eq!(texts("ance\\\nstor: 1\\ \t\r\n2"), ["ancestor", ":", "12"]);
        let token = &tokens(b"  a\\\nb c")[0];
        assert_eq!(token.range, 2..6);
    }

    #[test]
    fn comments_and_carriage_returns_are_white_space() {
        assert_eq!(texts("a/*\n*/b// c\\\n d\r\ne/"), ["a", "b", "\n", "e", "/"]);
        assert_eq!(texts("/* open"), [""; 0]);
    }

    #[test]
    fn strings_hide_what_is_in_them() {
        assert_eq!(texts(r#""//\"" 'a' u8"x" L'\''"#), [r#""//\"""#, "'a'", "u8\"x\"", "L'\\''"]);
        assert_eq!(texts("R\"x(\n#pragma \")\" )x\" y"), ["R\"x(\n#pragma \")\" )x\"", "y"]);
        assert_eq!(texts("\"open\nx"), ["\"open", "\n", "x"]);
        assert_eq!(texts("R\"open"), ["R\"open"]);
    }

    #[test]
    fn numbers_and_punctuation() {
        assert_eq!(
            texts("1'000 1e+5 .5 p->q[0:n]"),
            ["1'000", "1e+5", ".5", "p", "->", "q", "[", "0", ":", "n", "]"]
        );
    }
}
