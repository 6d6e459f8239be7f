//! Literals of `long double` that are arguments in GPU code.
//!
//! clang takes a GPU's `long double` to be the host's, and refuses every expression of that type in GPU code, but
//! for a literal that is handed to a function (`printf("%Lf", 1.0L)`). LLVM dies of those, without a word about
//! the source.

use super::places::Places;

/// The host's type in LLVM's text.
const TYPE: &str = "x86_fp80 ";

/// Whether a function has such an argument.
pub fn is_in(text: &str) -> bool {
    literals(text).next().is_some()
}

/// What to say of each of them, given text with debugging information.
pub fn refused(text: &str) -> Vec<String> {
    let places = Places::of(text);
    let mut messages: Vec<String> = literals(text)
        .map(|line| {
            let place = places.of_instruction(line).map_or_else(String::new, |place| format!("{place}: "));
            format!(
                "{place}error: GPUs have no 'long double', and a literal of that type is an argument here; write a 'double'"
            )
        })
        .collect();
    messages.dedup();
    messages
}

/// Instructions with such a literal: calls, and those that store the arguments of `printf`.
fn literals(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| {
        line.starts_with(' ') && line.contains(TYPE) && line.split([' ', ',', ')']).any(is_literal)
    })
}

/// Up to LLVM 22 literals of this type are hexadecimal (`0xK3FFF8000000000000000`), from 23 on decimal
/// where that is exact (`1.000000e+00`) and else `f0x3FFF8000000000000000`.
fn is_literal(word: &str) -> bool {
    let decimal = word.trim_start_matches('-');
    word.starts_with("0xK")
        || word.starts_with("f0x")
        || (decimal.starts_with(|first: char| first.is_ascii_digit()) && decimal.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_is_refused_with_its_place() {
        let text = "declare void @f(x86_fp80)\ndefine void @k() {\n  \
                    %call = call i32 (ptr, ...) @printf(ptr @.str, x86_fp80 noundef 0xK3FFF8000000000000000), !dbg !9\n}\n\
                    !1 = !DIFile(filename: \"a.c\", directory: \"/d\")\n!9 = !DILocation(line: 4, column: 2, scope: !8)\n\
                    !8 = distinct !DISubprogram(name: \"k\", scope: !1, file: !1, line: 3)\n";
        assert!(is_in(text));
        // As LLVM 23 prints it.
        for literal in ["1.000000e+00", "-2.500000e-01", "f0x3FFF8000000000000001"] {
            assert!(is_in(&text.replace("0xK3FFF8000000000000000", literal)), "{literal}");
        }
        assert_eq!(
            refused(text),
            [
                "a.c:4:2: error: GPUs have no 'long double', and a literal of that type is an argument here; write a 'double'"
            ]
        );
    }

    #[test]
    fn other_lines_stay() {
        assert!(!is_in(
            "  %x = alloca x86_fp80 , align 16\ndeclare x86_fp80 @sqrtl(x86_fp80)\n@x = global x86_fp80 0xK0\n"
        ));
    }
}
