//! Finds the `{ dg-... }` directives in the text of a test.
//!
//! Called by `plan`. Like DejaGnu it looks at one line at a time and takes
//! everything up to the line's last ` }`. It gives no meaning to a directive
//! beyond splitting it into words.

use std::sync::LazyLock;

use anyhow::{Context, Result};
use regex::Regex;

use crate::tcl;

/// One directive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directive {
    /// The line that it stands on, from 1.
    pub line: usize,
    pub name: String,
    pub words: Vec<String>,
}

/// Directives about what the compiler prints or dumps. They test GCC, not the
/// library that the program runs on, so nothing looks at them.
const ABOUT_THE_COMPILER: [&str; 14] = [
    "dg-bogus",
    "dg-error",
    "dg-final",
    "dg-line",
    "dg-message",
    "dg-missed",
    "dg-note",
    "dg-optimized",
    "dg-prune-output",
    "dg-warning",
    "dg-allow-blank-lines-in-output",
    "dg-regexp",
    "dg-ice",
    "dg-set-compiler-env-var",
];

/// The directives of `text` that decide how it is built, run and judged.
pub fn directives(text: &str) -> Result<Vec<Directive>> {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\{[ \t]+(dg-[-a-z]+)[ \t]+(?:(.*)[ \t]+)?\}").expect("a constant that the tests use")
    });
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(captures) = PATTERN.captures(line) else { continue };
        let name = &captures[1];
        if ABOUT_THE_COMPILER.contains(&name) {
            continue;
        }
        let words = tcl::words(captures.get(2).map_or("", |it| it.as_str()))
            .with_context(|| format!("line {}: {name}", index + 1))?;
        found.push(Directive { line: index + 1, name: name.to_owned(), words });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::directives;

    fn found(text: &str) -> Vec<(usize, String, Vec<String>)> {
        directives(text).unwrap().into_iter().map(|it| (it.line, it.name, it.words)).collect()
    }

    #[test]
    fn comments_of_every_language() {
        let text =
            "/* { dg-do run } */\n! { dg-additional-options \"-cpp -DX\" }\n// { dg-require-alias \"\" }\n";
        let strings = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            found(text),
            [
                (1, "dg-do".into(), strings(&["run"])),
                (2, "dg-additional-options".into(), strings(&["-cpp -DX"])),
                (3, "dg-require-alias".into(), strings(&[""])),
            ]
        );
    }

    #[test]
    fn nested_braces_belong_to_the_directive() {
        let text = r#"/* { dg-output "x\[0\]" { target { ! openacc_host_selected } } } */"#;
        assert_eq!(found(text)[0].2, ["x[0]", " target { ! openacc_host_selected } "]);
    }

    #[test]
    fn talk_about_directives_is_none() {
        assert!(found("'dg-output' scanning, { dg-do} and {dg-do run }\n").is_empty());
        assert!(found("{ dg-note {x$y} \"\" { target *-*-* } l_compute$c }").is_empty());
        assert_eq!(found("{ dg-require-alias }")[0].2, [""; 0]);
    }

    #[test]
    fn broken_directives_name_their_line() {
        let error = directives("\n{ dg-options \"-O2 }\n").unwrap_err();
        assert!(format!("{error:#}").starts_with("line 2: dg-options"), "{error:#}");
    }
}
