//! The other directives for devices in a file, which libclang does not look into.
//!
//! It parses without OpenMP: with it, it shows nothing of a construct's block. So what
//! stands in a construct for devices, or is declared for them, is told from the text.

use std::ops::Range;

use crate::lexer::{self, Kind, Token};
use crate::pragma;

/// Directives for devices, by bytes of a text.
#[derive(Debug, Default)]
pub struct Offload {
    /// Of each construct whose block runs on a device: its pragma, and where its block begins.
    constructs: Vec<(usize, usize)>,
    /// What stands between the begin and the end of `declare target`.
    declared: Vec<Range<usize>>,
    /// Names in lists of `declare target`.
    names: Vec<String>,
}

impl Offload {
    #[must_use]
    pub fn read(text: &[u8]) -> Self {
        let mut offload = Self::default();
        let mut open: Vec<usize> = Vec::new();
        for (range, tokens) in pragma::openmp(&lexer::tokens(text)) {
            let words: Vec<&str> = tokens
                .iter()
                .take_while(|token| token.kind == Kind::Identifier)
                .map(|token| token.text.as_str())
                .collect();
            match words[..] {
                ["begin", "declare", "target", ..] => open.push(range.end),
                ["declare", "target"] if tokens.len() == 2 => open.push(range.end),
                ["end", "declare", "target"] => {
                    offload.declared.extend(open.pop().map(|begin| begin..range.start));
                }
                ["declare", "target", ..] => offload.list(&tokens[2..]),
                ["target", "data" | "enter" | "exit" | "update", ..] => {}
                ["target", ..] => offload.constructs.push((range.start, next_statement(text, range.end))),
                _ => {}
            }
        }
        offload.declared.extend(open.into_iter().map(|begin| begin..text.len()));
        offload
    }

    /// The names in the clauses of `declare target`.
    fn list(&mut self, tokens: &[Token]) {
        let names = tokens.iter().filter(|token| token.kind == Kind::Identifier);
        self.names.extend(names.map(|name| name.text.clone()));
    }

    /// Whether a construct's block begins at this byte.
    #[must_use]
    pub fn begins_block(&self, at: usize) -> bool {
        self.constructs.iter().any(|(_, block)| *block == at)
    }

    /// The first construct for devices in a range.
    #[must_use]
    pub fn construct_in(&self, range: &Range<usize>) -> Option<usize> {
        self.constructs.iter().map(|(pragma, _)| *pragma).find(|pragma| range.contains(pragma))
    }

    /// Whether what is declared at this byte is declared for devices.
    #[must_use]
    pub fn declares(&self, at: usize) -> bool {
        self.declared.iter().any(|range| range.contains(&at))
    }

    /// Whether a list names it for devices.
    #[must_use]
    pub fn lists(&self, name: &str) -> bool {
        self.names.iter().any(|listed| listed == name)
    }
}

/// The byte where the statement behind a pragma begins, behind other pragmas.
fn next_statement(text: &[u8], after: usize) -> usize {
    let tokens = lexer::tokens(&text[after..]);
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if token.is("#") {
            at += tokens[at..].iter().take_while(|token| token.kind != Kind::Newline).count();
        } else if token.kind == Kind::Newline {
            at += 1;
        } else {
            return after + token.range.start;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructs_and_declarations() {
        let text = b"#pragma omp declare target\nint a;\n#pragma omp end declare target\n\
                     #pragma omp declare target enter(b, c)\nvoid f() {\n#pragma omp target map(x)\n\
                     #pragma unroll\n{}\n#pragma omp target data\n{}\n_Pragma(\"omp target teams\") {} }";
        let offload = Offload::read(text);
        let at = |part: &str| text.windows(part.len()).position(|window| window == part.as_bytes()).unwrap();
        assert!(offload.declares(at("int a")) && !offload.declares(at("void f")));
        assert!(offload.lists("b") && offload.lists("c") && !offload.lists("a"));
        assert!(offload.begins_block(at("{}\n#pragma omp target data")));
        assert!(!offload.begins_block(at("{}\n_Pragma")) && offload.begins_block(at("{} }")));
        assert_eq!(offload.construct_in(&(at("void")..text.len())), Some(at("#pragma omp target map")));
        assert_eq!(offload.construct_in(&(0..at("void"))), None);
    }
}
