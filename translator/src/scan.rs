//! `scan` in regions for devices, which clang-22 compiles for GPUs to code with wrong results.
//!
//! Nothing is translated and nothing parsed: a region is the statement behind a `target` directive, or what
//! stands between `begin declare target` and its end.

use crate::lexer::{self, Kind, Token};

const DIRECTIVE: [&str; 2] = ["pragma", "omp"];

/// What follows `target` in a directive that has no region for the device.
const WITHOUT_REGION: [&str; 4] = ["data", "enter", "exit", "update"];

/// The lines of such directives, counted from 1.
#[must_use]
pub fn lines(source: &[u8]) -> Vec<usize> {
    let holds = |word: &[u8]| source.windows(word.len()).any(|part| part == word);
    if !holds(b"scan") || !holds(b"target") {
        return Vec::new();
    }
    let tokens = lexer::tokens(source);
    let mut found = Vec::new();
    let mut declared = 0_usize;
    let mut open: Option<Statement> = None;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if token.is("#") && (at == 0 || tokens[at - 1].kind == Kind::Newline) {
            let end = tokens[at..].iter().position(|token| token.kind == Kind::Newline);
            let end = end.map_or(tokens.len(), |length| at + length);
            let words: Vec<&str> = tokens[at + 1..end].iter().map(|token| token.text.as_str()).collect();
            if let Some(directive) = words.strip_prefix(&DIRECTIVE) {
                match directive {
                    ["begin", "declare", "target", ..] | ["declare", "target"] => declared += 1,
                    ["end", "declare", "target", ..] => declared = declared.saturating_sub(1),
                    ["target", next, ..] if WITHOUT_REGION.contains(next) => {}
                    ["target", ..] if open.is_none() => open = Some(Statement::default()),
                    ["scan", ..] if open.is_some() || declared > 0 => {
                        let before = &source[..token.range.start];
                        found.push(1 + before.iter().filter(|byte| **byte == b'\n').count());
                    }
                    _ => {}
                }
            }
            at = end;
            continue;
        }
        open = open.and_then(|statement| statement.with(token));
        at += 1;
    }
    found
}

/// How deep the tokens of a statement stand.
#[derive(Clone, Copy, Default)]
struct Statement {
    braces: usize,
    parentheses: usize,
}

impl Statement {
    /// `None`: the token is the statement's last one.
    fn with(mut self, token: &Token) -> Option<Self> {
        if token.kind != Kind::Punctuation {
            return Some(self);
        }
        match token.text.as_str() {
            "{" => self.braces += 1,
            "(" => self.parentheses += 1,
            ")" => self.parentheses = self.parentheses.saturating_sub(1),
            "}" if self.braces <= 1 && self.parentheses == 0 => return None,
            "}" => self.braces = self.braces.saturating_sub(1),
            ";" if self.braces == 0 && self.parentheses == 0 => return None,
            _ => {}
        }
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn a_scan_in_a_region_is_found() {
        let source = "#pragma omp target teams distribute parallel for \\\n reduction(inscan, +: s)\nfor (int i = 0; i < n; i++) {\n  \
                      s += a[i];\n  #pragma omp scan inclusive(s)\n  b[i] = s;\n}\n";
        assert_eq!(lines(source.as_bytes()), [5]);
        let declared = "#pragma omp begin declare target\nvoid f() {\n#pragma omp scan exclusive(s)\n}\n#pragma omp end \
                        declare target\n#pragma omp scan inclusive(s)\n";
        assert_eq!(lines(declared.as_bytes()), [3]);
    }

    #[test]
    fn a_scan_on_the_host_is_not() {
        let source = "#pragma omp target\n{ f(); { g(); } }\n#pragma omp target\nfor (;;) f();\n#pragma omp target \
                      update to(s)\n#pragma omp parallel for reduction(inscan, +: s)\nfor (;;) {\n#pragma omp scan \
                      inclusive(s)\n}\n// #pragma omp target\n";
        assert_eq!(lines(source.as_bytes()), [0_usize; 0]);
    }
}
