//! What the user does not want to hear of: the file of `GANGWAY_CHECK_SUPPRESS`.
//!
//! Each line is a check and a text with a colon between: `race:heat.c:17`, `race:my_function`. A finding of that
//! check is not told if the text is a part of its kernel's name, of a function's, or of `FILE:LINE` of one of its
//! places. `*` stands for any letters. Lines that begin with `#` say nothing.

use std::fmt::Arguments;
use std::sync::OnceLock;

/// Whether a line of the user's fits a finding.
pub fn is_suppressed(check: &str, words: &[String], print: impl Fn(Arguments<'_>)) -> bool {
    static LINES: OnceLock<Vec<(String, String)>> = OnceLock::new();
    let lines = LINES.get_or_init(|| {
        let Some(file) = std::env::var_os("GANGWAY_CHECK_SUPPRESS").filter(|file| !file.is_empty()) else {
            return Vec::new();
        };
        match std::fs::read_to_string(&file) {
            Ok(text) => read(&text),
            Err(error) => {
                print(format_args!("cannot read {}: {error}", file.display()));
                Vec::new()
            }
        }
    });
    fits(lines, check, words)
}

fn read(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once(':'))
        .map(|(check, text)| (check.trim().to_owned(), text.trim().to_owned()))
        .collect()
}

fn fits(lines: &[(String, String)], check: &str, words: &[String]) -> bool {
    let mut own = lines.iter().filter(|(other, _)| other == check);
    own.any(|(_, text)| words.iter().any(|word| contains(word, text)))
}

/// Whether the parts of a text between its asterisks are in a word, in their order.
fn contains(word: &str, text: &str) -> bool {
    let mut rest = word;
    text.split('*').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            // What stands behind a line's number may be more of it.
            let is_digit = |letter: char| letter.is_ascii_digit();
            !(part == text && part.ends_with(is_digit) && rest.starts_with(is_digit))
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_by_parts() {
        let lines = read("# known\n race:heat.c:17\n\nrace: kernel_*_edge \ninit:other\n");
        let fits = |word: &str| fits(&lines, "race", &[word.to_owned()]);
        assert!(fits("/home/x/heat.c:17") && fits("my_kernel_of_edges") && fits("kernel_the_edge"));
        assert!(!fits("/home/x/heat.c:170") && !fits("heat.c:18") && !fits("kernel_") && !fits("other"));
    }
}
