//! Raises the alignment of arrays in PTX to what LLVM takes it for.
//!
//! A variable for which a compiler states no alignment, as flang-22 does, is taken by LLVM's passes to lie at
//! a multiple of 16 bytes if it is larger than that (`DataLayout::getPreferredAlign`), and vectors
//! of 16 bytes are read and written there. The directive that LLVM prints has the alignment of the
//! elements, so that a GPU may put the variable elsewhere, and refuses the access.

use std::borrow::Cow;
use std::str::FromStr;

/// The alignment, in bytes, of variables that are larger.
const LARGE: usize = 16;

/// The text with the directives of large arrays changed. LLVM prints each directive in a line.
pub fn raise(text: &[u8]) -> Cow<'_, [u8]> {
    let mut raised: Vec<u8> = Vec::new();
    let mut done = 0;
    let mut begin = 0;
    while begin < text.len() {
        let end = text[begin..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| begin + at);
        if let Some(number) = alignment(&text[begin..end]) {
            raised.extend_from_slice(&text[done..begin + number.start]);
            raised.extend_from_slice(LARGE.to_string().as_bytes());
            done = begin + number.end;
        }
        begin = end + 1;
    }
    if done == 0 {
        return text.into();
    }
    raised.extend_from_slice(&text[done..]);
    raised.into()
}

/// Where the alignment stands in the definition of a large array that has less.
fn alignment(line: &[u8]) -> Option<std::ops::Range<usize>> {
    // Most lines are instructions, and other directives have other first letters.
    if line.first() != Some(&b'.') {
        return None;
    }
    let head = line.split(|byte| *byte == b']').next()?;
    let head = std::str::from_utf8(head).ok()?;
    let mut words = head.split(' ').peekable();
    words.next_if(|word| matches!(*word, ".visible" | ".weak" | ".common"));
    words.next_if_eq(&".global")?;
    words.next_if_eq(&".align")?;
    let number = words.next()?;
    let bits: usize = words.next()?.strip_prefix(".b").and_then(parsed)?;
    let (_, count) = words.next()?.split_once('[')?;
    let bytes = parsed::<usize>(count)?.checked_mul(bits / 8)?;
    let small = bytes <= LARGE || parsed::<usize>(number)? >= LARGE;
    let start = number.as_ptr().addr() - line.as_ptr().addr();
    (!small).then_some(start..start + number.len())
}

fn parsed<T: FromStr>(number: &str) -> Option<T> {
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_arrays_are_raised() {
        for (given, expected) in [
            (".visible .global .align 8 .b8 table[64];", ".visible .global .align 16 .b8 table[64];"),
            (".global .align 4 .b32 t[8] = {1, 2};", ".global .align 16 .b32 t[8] = {1, 2};"),
            (".weak .global .align 1 .b8 t[17] = {0};", ".weak .global .align 16 .b8 t[17] = {0};"),
            (
                ".global .align 8 .b8 t[24];\n.common .global .align 8 .b8 u[24];",
                ".global .align 16 .b8 t[24];\n.common .global .align 16 .b8 u[24];",
            ),
        ] {
            let (given, expected) = (format!("x\n{given}\ny"), format!("x\n{expected}\ny"));
            assert_eq!(raise(given.as_bytes()), expected.as_bytes());
        }
    }

    #[test]
    fn the_rest_stays() {
        for text in [
            ".global .align 8 .b8 t[16];",
            ".global .align 16 .b8 t[64];",
            ".global .align 32 .b8 t[64];",
            ".global .align 8 .b64 t;",
            ".extern .global .align 8 .b8 t[64];",
            ".shared .align 8 .b8 t[64];",
            ".global .align 8 .u64 t[64];",
            ".global .align 8 .b8 t[99999999999999999999];",
            ".global .align 8 .b64 t[9223372036854775807];",
            ".local .align 8 .b8 depot[64];",
            "\t.global .align 8 .b8 t[64];",
            ".global .align",
            ".global .align 8 .b8 \u{fc}[",
            "",
        ] {
            assert!(
                matches!(raise(text.as_bytes()), Cow::Borrowed(same) if same == text.as_bytes()),
                "{text}"
            );
        }
        assert_eq!(raise(b".global .align 8 .b8 \xff[64];"), &b".global .align 8 .b8 \xff[64];"[..]);
    }
}
