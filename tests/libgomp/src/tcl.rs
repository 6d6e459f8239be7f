//! Splits text into words as Tcl does, for the directives of the tests.
//!
//! DejaGnu hands the inside of `{ dg-... }` to Tcl's own evaluator, so quotes,
//! braces and backslashes mean there what they mean in Tcl. Called by
//! `directive` and `selector`. It must never guess: text that would make Tcl
//! substitute a variable or run a command is refused, because it would change
//! the meaning of the directive.

use anyhow::{Result, bail};

/// The words of `text`: bare, `{braced}` (taken as they stand) or `"quoted"`.
pub fn words(text: &str) -> Result<Vec<String>> {
    let mut rest = text.trim_start();
    let mut words = Vec::new();
    while let Some(first) = rest.chars().next() {
        let (word, length) = match first {
            '{' => braced(rest)?,
            '"' => quoted(rest)?,
            _ => bare(rest)?,
        };
        rest = &rest[length..];
        if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            bail!("extra characters after the word `{word}` in `{text}`");
        }
        words.push(word);
        rest = rest.trim_start();
    }
    Ok(words)
}

/// A word in braces, and how long it is with them. Nothing is substituted.
fn braced(text: &str) -> Result<(String, usize)> {
    let mut depth = 0usize;
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Ok((text[1..at].to_owned(), at + 1));
                }
            }
            _ => {}
        }
    }
    bail!("no closing brace in `{text}`")
}

/// A word in quotes, with its backslash sequences replaced, and its length.
fn quoted(text: &str) -> Result<(String, usize)> {
    let (word, length) = substituted(&text[1..], |character| character == '"')?;
    if !text[1 + length..].starts_with('"') {
        bail!("no closing quote in `{text}`");
    }
    Ok((word, length + 2))
}

/// A word that ends at white space.
fn bare(text: &str) -> Result<(String, usize)> {
    substituted(text, char::is_whitespace)
}

/// Replaces backslash sequences up to a character that `ends` the word.
fn substituted(text: &str, ends: impl Fn(char) -> bool) -> Result<(String, usize)> {
    let mut word = String::new();
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            _ if ends(character) => return Ok((word, at)),
            '\\' => match characters.next() {
                Some((_, 'n')) => word.push('\n'),
                Some((_, 'r')) => word.push('\r'),
                Some((_, 't')) => word.push('\t'),
                Some((_, 'x' | 'u' | 'a' | 'b' | 'f' | 'v' | '0'..='9')) => {
                    bail!("a backslash sequence that is not supported in `{text}`")
                }
                Some((_, literal)) => word.push(literal),
                None => word.push('\\'),
            },
            '[' => bail!("a command substitution in `{text}`"),
            '$' if characters.peek().is_some_and(|(_, next)| next.is_alphanumeric() || *next == '{') => {
                bail!("a variable in `{text}`")
            }
            _ => word.push(character),
        }
    }
    Ok((word, text.len()))
}

#[cfg(test)]
mod tests {
    use super::words;

    fn ok(text: &str) -> Vec<String> {
        words(text).unwrap()
    }

    #[test]
    fn braces_nest_and_keep_backslashes() {
        assert_eq!(ok(r"run { target { ! x } } {a\[b}"), ["run", " target { ! x } ", r"a\[b"]);
    }

    #[test]
    fn quotes_lose_one_level_of_backslashes() {
        assert_eq!(ok(r#""\\\[\[^\n\r]*,\\\+256\\\] $""#), ["\\[[^\n\r]*,\\+256\\] $"]);
    }

    #[test]
    fn empty_words_count() {
        assert_eq!(ok(r#""" { *-*-* } {}"#), ["", " *-*-* ", ""]);
    }

    #[test]
    fn what_tcl_would_evaluate_is_refused() {
        for text in ["[exec ls]", "\"$name\"", "\"open", "{open", "\"a\"b", r"\x41"] {
            assert!(words(text).is_err(), "{text}");
        }
    }
}
