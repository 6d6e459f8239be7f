//! What libclang is not shown of OpenMP: variants of functions (OpenMP 5.2 section 7.5.5). It reads a file without OpenMP, so
//! that it sees what stands in the constructs of that; the variants would be functions that are there twice.

use std::borrow::Cow;
use std::ops::Range;

use crate::{lexer, pragma};

/// A text with blanks for what stands between `begin declare variant` and its end. All else stays where it is, and so
/// do the preprocessor's lines.
pub fn hidden(text: &str) -> Cow<'_, str> {
    // Most texts need no look at their tokens.
    if !text.contains("variant") {
        return Cow::Borrowed(text);
    }
    let mut seen = text.as_bytes().to_vec();
    for variants in variants(text) {
        for line in seen[variants].split_mut(|byte| *byte == b'\n') {
            if !line.trim_ascii_start().starts_with(b"#") {
                line.fill(b' ');
            }
        }
    }
    String::from_utf8(seen).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// What stands between the directives, each range once.
fn variants(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut depth, mut begin) = (0usize, 0);
    for (range, tokens) in pragma::openmp(&lexer::tokens(text.as_bytes())) {
        let is = |word: &str| {
            let words = [word, "declare", "variant"];
            tokens.len() >= words.len() && tokens.iter().zip(words).all(|(token, word)| token.is(word))
        };
        if is("begin") {
            if depth == 0 {
                begin = range.end;
            }
            depth += 1;
        } else if is("end") && depth > 0 {
            depth -= 1;
            if depth == 0 {
                found.push(begin..range.start);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::hidden;

    #[test]
    fn variants_are_blank_and_all_else_stays() {
        let text = "int f(void);\n#pragma omp begin declare variant match(device={kind(host)})\n\
                    static int f(void) { return '\u{f6}'; }\n# 7 \"f.h\" 3\n#pragma omp end declare variant\nint g;\n";
        let seen = hidden(text);
        assert_eq!(seen.len(), text.len());
        assert_eq!(seen.lines().count(), text.lines().count());
        assert!(seen.starts_with("int f(void);\n#pragma") && seen.ends_with("\nint g;\n"), "{seen}");
        assert!(seen.contains("\n# 7 \"f.h\" 3\n") && !seen.contains("static"), "{seen}");
    }

    #[test]
    fn what_has_no_variants_stays() {
        for text in ["int g;\n", "int variant;\n#pragma omp end declare variant\nint g;"] {
            assert_eq!(hidden(text), text);
        }
    }
}
