//! Which C sources need no mending: to compile GPU code through LLVM's text takes clang half as long again.

/// Words without which clang makes nothing of C that is mended: OpenMP's reductions
/// (`stand_in::reductions`), what masks pointers (`stand_in::aligned_pointers`), constant structures, which C has
/// from C23 on (`stand_in::struct_stores`), and locks (`stand_in::lock_turns`).
const WORDS: [&str; 6] = ["reduction", "va_arg", "__builtin_align", "constexpr", "omp_set_", "omp_test_"];

/// Whether GPU code of a preprocessed C source may have to be mended. Fast, and right when it says no.
pub fn may_need_mending(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    WORDS.iter().any(|word| text.contains(word)) || has_long_double(&text)
}

/// Whether there is a literal of `long double` (`stand_in::long_double`).
fn has_long_double(text: &str) -> bool {
    let mut before = ' ';
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let starts_number = rest.trim_start_matches('.').starts_with(|letter: char| letter.is_ascii_digit());
        if (letter.is_ascii_digit() || letter == '.') && starts_number && !is_part_of_name(before) {
            let number = number(rest);
            let is_floating = number.contains('.')
                || number.contains(['p', 'P'])
                || (number.contains(['e', 'E']) && !number.starts_with("0x") && !number.starts_with("0X"));
            if is_floating && number.ends_with(['l', 'L']) {
                return true;
            }
            // A number is not empty.
            before = '0';
            rest = &rest[number.len()..];
        } else {
            before = letter;
            rest = &rest[letter.len_utf8()..];
        }
    }
    false
}

fn is_part_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

/// The number that a text begins with, as the preprocessor reads it (C17 section 6.4.8).
fn number(text: &str) -> &str {
    let mut before = '0';
    let end = text.find(|letter: char| {
        let goes_on = is_part_of_name(letter)
            || matches!(letter, '.' | '\'')
            || (matches!(letter, '+' | '-') && matches!(before, 'e' | 'E' | 'p' | 'P'));
        before = letter;
        !goes_on
    });
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_c_needs_none() {
        for text in [
            "long a64l(const char *s); double log10l(double); int x = 10L, y = 0x1eL; float z = 1e-3f;",
            "typedef __builtin_va_list va_list; int v1_5e3l;",
            "",
        ] {
            assert!(!may_need_mending(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn what_may_have_a_fault_is_found() {
        for text in [
            "#pragma omp parallel for reduction(+: s)",
            "__builtin_va_arg(list, int)",
            "f(1.0L)",
            "f(.5l)",
            "f(1.L)",
            "f(1e-3L)",
            "f(0x1p-3L)",
            "constexpr struct s x = {1};",
            "omp_set_lock(&lock)",
        ] {
            assert!(may_need_mending(text.as_bytes()), "{text}");
        }
    }
}
