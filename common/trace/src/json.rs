//! Just enough JSON output for the trace and the report.
//!
//! Written by hand because this crate is linked into a library whose load time is
//! counted in microseconds, and because all it needs is correct string escapes.

use std::fmt::{self, Display, Write};

/// A string as a JSON string literal, quotes included.
pub struct Quoted<'a>(pub &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('"')?;
        let mut plain = 0;
        for (at, character) in self.0.char_indices() {
            let escape: &str = match character {
                '"' => "\\\"",
                '\\' => "\\\\",
                '\n' => "\\n",
                '\r' => "\\r",
                '\t' => "\\t",
                control if (control as u32) < 0x20 => "",
                // Legal in JSON, but they end a line in older JavaScript.
                '\u{2028}' => "\\u2028",
                '\u{2029}' => "\\u2029",
                _ => continue,
            };
            out.write_str(&self.0[plain..at])?;
            if escape.is_empty() {
                write!(out, "\\u{:04x}", character as u32)?;
            } else {
                out.write_str(escape)?;
            }
            plain = at + character.len_utf8();
        }
        out.write_str(&self.0[plain..])?;
        out.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_round_trip() {
        let every: String = (0..0x300u32)
            .chain([0x2027, 0x2028, 0x2029, 0xfffd, 0x1f600])
            .filter_map(char::from_u32)
            .collect();
        let literal = Quoted(&every).to_string();
        assert_eq!(serde_json::from_str::<String>(&literal).unwrap(), every);
    }
}
