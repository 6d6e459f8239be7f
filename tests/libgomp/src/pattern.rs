//! The patterns of `dg-output`, with the meaning that Tcl gives them.

use anyhow::{Context, Result};
use regex::{Regex, RegexBuilder};

/// Whether `output` matches `pattern` anywhere.
pub fn matches(pattern: &str, output: &str) -> Result<bool> {
    Ok(compiled(pattern)?.is_match(output))
}

/// A pattern of `dg-output`, with the meaning that Tcl gives it: a dot is any
/// character, and `$` the end of the whole text.
pub fn compiled(pattern: &str) -> Result<Regex> {
    let compiled = RegexBuilder::new(&translated(pattern)).dot_matches_new_line(true).build();
    compiled.with_context(|| format!("dg-output `{pattern}`"))
}

/// Escapes what stands for itself in Tcl but not in the `regex` crate: a brace
/// that begins no repetition, and a bracket within brackets.
fn translated(pattern: &str) -> String {
    let mut result = String::new();
    let mut characters = pattern.chars().peekable();
    // Within brackets: how many characters are in them already.
    let mut class: Option<usize> = None;
    while let Some(character) = characters.next() {
        match (character, &mut class) {
            ('\\', _) => {
                result.push(character);
                result.extend(characters.next());
                class = class.map(|length| length + 1);
                continue;
            }
            ('[', None) => {
                class = Some(0);
                result.push('[');
                result.extend(characters.next_if_eq(&'^'));
                continue;
            }
            ('[', Some(_)) => result.push('\\'),
            (']', Some(0)) => result.push('\\'),
            (']', Some(_)) => {
                class = None;
                result.push(']');
                continue;
            }
            ('{', None) if !characters.peek().is_some_and(char::is_ascii_digit) => result.push('\\'),
            _ => {}
        }
        result.push(character);
        class = class.map(|length| length + 1);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::{matches, translated};

    #[test]
    fn patterns_mean_what_tcl_says() {
        assert!(matches("b$", "a\nb").unwrap() && !matches("a$", "a\nb").unwrap());
        assert!(matches("{x}", "{x}").unwrap());
        assert_eq!(translated(r"a{2}\{{x"), r"a{2}\{\{x");
        assert_eq!(translated(r"\[[^]a[{]+]->[\]b]"), r"\[[^\]a\[{]+]->[\]b]");
        assert!(matches(r"\[[^\n]*,\+8]->[[0-9a-fx]+,\+8\] bad", "x [a,+8]->[0x1,+8] bad").unwrap());
    }
}
