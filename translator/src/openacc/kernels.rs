//! `kernels` constructs as text, before they are read: each loop without a directive gets `loop auto`, and each
//! statement of a block becomes a kernel of its own (OpenACC 3.3 sections 2.5.3 and 2.9.7).
//!
//! Both are done with tokens alone: what is not plainly such a loop or block is left as it is.

use std::ops::Range;

use super::directive::{Directive, Name};
use super::header::Header;
use crate::lexer::{self, Kind, Token};
use crate::pragma::{closing, split};

/// Clauses of the construct that are data's: they are said once, around all kernels.
const DATA: [&str; 15] = [
    "copy",
    "copyin",
    "copyout",
    "create",
    "no_create",
    "present",
    "attach",
    "pcopy",
    "pcopyin",
    "pcopyout",
    "pcreate",
    "present_or_copy",
    "present_or_copyin",
    "present_or_copyout",
    "present_or_create",
];
/// Clauses that each of the kernels has as well.
const BOTH: [&str; 2] = ["if", "async"];
/// Clauses that the first thing has which is issued.
const FIRST: &str = "wait";
/// Words that leave a loop.
const LEAVING: [&str; 5] = ["break", "return", "goto", "throw", "asm"];

/// The text with directives added. `at_line` writes a line that says where a byte stands.
pub fn with_loops(text: &str, at_line: &dyn Fn(usize) -> String) -> String {
    if !text.contains("kernels") {
        return text.to_owned();
    }
    let tokens = lexer::tokens(text.as_bytes());
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some(line) = pragma_at(&tokens, at) else {
            at += 1;
            continue;
        };
        let end = at + line.len();
        let directive = kernels(line);
        if let Some(directive) = directive
            && let Some(statement) = statement(&tokens, end)
        {
            let construct = Construct { text, tokens: &tokens, at_line };
            // The kernel begins before the loop that it begins with.
            if !directive.is_loop {
                construct.split(&directive, end..statement, &mut edits);
            }
            construct.add_loops(&directive, end..statement, &mut edits);
            at = statement;
        } else {
            at = end;
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for (range, new) in edits {
        result.push_str(&text[from..range.start]);
        result.push_str(&new);
        from = range.end;
    }
    result.push_str(&text[from..]);
    result
}

/// The directive of a pragma's line, if it is `kernels`.
fn kernels(line: &[Token]) -> Option<Directive> {
    if !line.get(3)?.is("kernels") {
        return None;
    }
    let range = line.first()?.range.start..line.iter().rfind(|token| token.kind != Kind::Newline)?.range.end;
    let words: Vec<Token> = line[3..].iter().filter(|token| token.kind != Kind::Newline).cloned().collect();
    Directive::read(range, &words).ok()
}

/// The tokens of a line with a pragma of OpenACC's, with the line's end.
fn pragma_at(tokens: &[Token], at: usize) -> Option<&[Token]> {
    let line = line_at(tokens, at)?;
    (line.len() > 3 && line[1].is("pragma") && line[2].is("acc")).then_some(line)
}

/// The tokens of a line for the preprocessor, with the line's end.
fn line_at(tokens: &[Token], at: usize) -> Option<&[Token]> {
    let begins = at == 0 || tokens[at - 1].kind == Kind::Newline;
    if !begins || !tokens.get(at)?.is("#") {
        return None;
    }
    let length = tokens[at..].iter().position(|token| token.kind == Kind::Newline)?;
    Some(&tokens[at..=at + length])
}

/// The first token at or behind one that is no line's end and in no line for the preprocessor.
fn significant(tokens: &[Token], mut at: usize) -> usize {
    while at < tokens.len() {
        if let Some(line) = line_at(tokens, at) {
            at += line.len();
        } else if tokens[at].kind == Kind::Newline {
            at += 1;
        } else {
            break;
        }
    }
    at
}

/// The token behind a statement.
fn statement(tokens: &[Token], at: usize) -> Option<usize> {
    let at = significant(tokens, at);
    let token = tokens.get(at)?;
    let parentheses = |at: usize| Some(at + closing(&tokens[at..])? + 1);
    if token.is("{") {
        return parentheses(at);
    }
    if ["for", "while", "switch"].iter().any(|word| token.is(word)) {
        return statement(tokens, parentheses(significant(tokens, at + 1))?);
    }
    if token.is("if") {
        let open = significant(tokens, at + 1);
        let end = statement(tokens, parentheses(open)?)?;
        let next = significant(tokens, end);
        return match tokens.get(next).is_some_and(|token| token.is("else")) {
            true => statement(tokens, next + 1),
            false => Some(end),
        };
    }
    if token.is("do") {
        let next = significant(tokens, statement(tokens, at + 1)?);
        let end = significant(tokens, parentheses(significant(tokens, next + 1))?);
        return Some(end + 1);
    }
    let mut at = at;
    while let Some(token) = tokens.get(at) {
        at += 1;
        if token.is(";") {
            return Some(at);
        }
        if token.is("}") || token.is("case") || token.is("default") {
            return None;
        }
        if ["(", "[", "{"].iter().any(|open| token.is(open)) {
            at = parentheses(at - 1)?;
        }
    }
    None
}

struct Construct<'c> {
    text: &'c str,
    tokens: &'c [Token],
    at_line: &'c dyn Fn(usize) -> String,
}

impl Construct<'_> {
    /// Adds `loop auto` before the loops in a range of tokens that have no directive.
    fn add_loops(&self, directive: &Directive, range: Range<usize>, edits: &mut Vec<(Range<usize>, String)>) {
        // Loops that a directive before them is about.
        let mut covered = if directive.is_loop { depth(directive) } else { 0 };
        let mut at = range.start;
        let mut has_pragma = false;
        while at < range.end {
            if let Some(line) = line_at(self.tokens, at) {
                if line.get(1).is_some_and(|word| word.is("pragma")) {
                    has_pragma = true;
                    let words: Vec<Token> = line[3.min(line.len())..]
                        .iter()
                        .filter(|token| token.kind != Kind::Newline)
                        .cloned()
                        .collect();
                    if line.get(2).is_some_and(|word| word.is("acc"))
                        && let Ok(inner) = Directive::read(0..0, &words)
                        && inner.is_loop
                    {
                        covered = depth(&inner);
                    }
                }
                at += line.len();
                continue;
            }
            let token = &self.tokens[at];
            if token.is("for") {
                let end = statement(self.tokens, at).unwrap_or(range.end);
                if covered > 0 {
                    covered -= 1;
                } else if !has_pragma && self.can_be_looked_at(at..end, &range) {
                    let begin = token.range.start;
                    let line = (self.at_line)(begin);
                    let begin = self.tokens[at].range.start;
                    edits.push((begin..begin, format!("{line}#pragma acc loop auto{line}")));
                }
            }
            if token.kind != Kind::Newline {
                has_pragma = false;
            }
            at += 1;
        }
    }

    /// Whether a loop is one that a directive may stand before, and its variable is wanted by nobody behind it.
    fn can_be_looked_at(&self, one: Range<usize>, construct: &Range<usize>) -> bool {
        let leaves = |token: &Token| LEAVING.iter().any(|word| token.is(word));
        if self.tokens[one.clone()].iter().any(leaves) {
            return false;
        }
        let open = significant(self.tokens, one.start + 1);
        let Some(close) = closing(&self.tokens[open..]) else { return false };
        let head: Vec<Token> = self.tokens[open + 1..open + close]
            .iter()
            .filter(|token| token.kind != Kind::Newline)
            .cloned()
            .collect();
        let Ok(head) = Header::of_parts(&split(&head, ";"), self.text) else { return false };
        head.declared.is_some() || self.is_loops_own(&head.variable, construct)
    }

    /// Whether a variable that is declared elsewhere begins anew wherever it is used: in a construct it counts
    /// loops and is nothing else, and behind it, in the function, it gets a value first.
    fn is_loops_own(&self, name: &str, construct: &Range<usize>) -> bool {
        let tokens = self.tokens;
        let is_it = |at: &usize| tokens[*at].is(name);
        let counts = |at: usize| {
            let open = significant(tokens, at + 1);
            tokens[at].is("for")
                && tokens.get(significant(tokens, open + 1)).is_some_and(|token| token.is(name))
        };
        let loops: Vec<Range<usize>> = construct
            .clone()
            .filter(|at| counts(*at))
            .filter_map(|at| Some(at..statement(tokens, at)?))
            .collect();
        if !construct.clone().filter(is_it).all(|at| loops.iter().any(|one| one.contains(&at))) {
            return false;
        }
        let mut depth = 0_usize;
        for token in &tokens[..construct.start] {
            depth = (depth + usize::from(token.is("{"))).saturating_sub(usize::from(token.is("}")));
        }
        for at in construct.end..tokens.len() {
            depth = (depth + usize::from(tokens[at].is("{"))).saturating_sub(usize::from(tokens[at].is("}")));
            if depth == 0 {
                return true;
            }
            if is_it(&at) {
                let next = |by: usize| tokens.get(at + by).is_some_and(|token| token.is("="));
                return next(1) && !next(2);
            }
        }
        true
    }

    /// Makes kernels of the statements of a block, with the construct's data around them.
    fn split(&self, directive: &Directive, range: Range<usize>, edits: &mut Vec<(Range<usize>, String)>) {
        let open = significant(self.tokens, range.start);
        if !self.tokens[open].is("{") {
            return;
        }
        let close = range.end - 1;
        let mut parts: Vec<Range<usize>> = Vec::new();
        let mut at = open + 1;
        while significant(self.tokens, at) < close {
            let Some(end) = statement(self.tokens, at) else { return };
            // The directives before it are its own.
            parts.push(at..end);
            at = end;
        }
        let is_loop = |part: &Range<usize>| self.tokens[significant(self.tokens, part.start)].is("for");
        if parts.len() < 2 || !parts.iter().all(is_loop) {
            return;
        }
        let Some(clauses) = Clauses::of(directive, self.text) else { return };
        let line = (self.at_line)(directive.range.start);
        let around = match clauses.data.is_empty() {
            true => String::new(),
            false => format!("#pragma acc data {}{}", clauses.data, clauses.first),
        };
        edits.push((directive.range.clone(), around));
        for (number, part) in parts.iter().enumerate() {
            let first = if number == 0 && clauses.data.is_empty() { &*clauses.first } else { "" };
            let is_line = |at: &usize| self.tokens[*at].kind != Kind::Newline;
            let from = part.clone().find(is_line).unwrap_or(part.start);
            let begin = self.tokens[from].range.start;
            let here = (self.at_line)(begin);
            edits.push((
                begin..begin,
                format!("{line}#pragma acc kernels {}{first}\n{{{here}", clauses.kernels),
            ));
            let end = self.tokens[part.end - 1].range.end;
            edits.push((end..end, "}".to_owned()));
        }
    }
}

/// How many loops in each other a directive is about.
fn depth(directive: &Directive) -> usize {
    let collapse = directive.clause("collapse").and_then(|clause| {
        let (_, number) = clause.named().into_iter().next()?;
        number.first()?.text.parse().ok()
    });
    let tiles = directive.clause("tile").map(|clause| clause.items().len());
    collapse.or(tiles).unwrap_or(1).max(1)
}

/// The clauses of a construct that is split.
struct Clauses {
    data: String,
    kernels: String,
    first: String,
}

impl Clauses {
    /// `None`: with device types, it is not split.
    fn of(directive: &Directive, text: &str) -> Option<Self> {
        debug_assert!(directive.name == Name::Kernels, "others are not split");
        let mut clauses = Self { data: String::new(), kernels: String::new(), first: String::new() };
        for clause in &directive.clauses {
            let name = &*clause.name;
            if matches!(name, "device_type" | "dtype" | "self") {
                return None;
            }
            let arguments = match clause.tokens.as_deref() {
                Some([first, .., last]) => format!("({})", &text[first.range.start..last.range.end]),
                Some([only]) => format!("({})", &text[only.range.clone()]),
                _ => String::new(),
            };
            let said = format!("{name}{arguments} ").replace('\n', " ");
            if DATA.contains(&name) {
                clauses.data += &said;
            } else if name == FIRST {
                clauses.first += &said;
            } else {
                clauses.kernels += &said;
            }
        }
        if !clauses.data.is_empty() {
            for clause in directive.clauses.iter().filter(|clause| BOTH.contains(&&*clause.name)) {
                let tokens = clause.tokens.as_deref().unwrap_or_default();
                let arguments = match (tokens.first(), tokens.last()) {
                    (Some(first), Some(last)) => format!("({})", &text[first.range.start..last.range.end]),
                    _ => String::new(),
                };
                clauses.data += &format!("{}{arguments} ", clause.name);
            }
        }
        Some(clauses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The directives that a text has afterwards, and `for` for each loop.
    fn directives(text: &str) -> Vec<String> {
        let text = with_loops(text, &|_| "\n# 1 \"f.c\"\n".to_owned());
        let tokens = lexer::tokens(text.as_bytes());
        let mut found = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            match line_at(&tokens, at) {
                Some(line) if line[1].is("pragma") => {
                    let end = line[line.len() - 1].range.start;
                    found.push(text[line[3].range.start..end].trim().to_owned());
                    at += line.len();
                }
                Some(line) => at += line.len(),
                None => {
                    found.extend(tokens[at].is("for").then(|| "for".to_owned()));
                    at += 1;
                }
            }
        }
        found
    }

    #[test]
    fn loops_get_directives() {
        let text = "
void f(int n, int *a) {
#pragma acc kernels copy(a[0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i] += j;
  for (int i = 0; i < n; i++) a[i] = 0;
}";
        assert_eq!(directives(text), ["kernels copy(a[0:n])", "loop auto", "for", "loop auto", "for", "for"]);
        let text = "
void f(int n) {
#pragma acc kernels loop collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) g();
}";
        assert_eq!(directives(text), ["kernels loop collapse(2)", "for", "for", "loop auto", "for"]);
    }

    #[test]
    fn what_is_no_plain_loop_is_left() {
        for head in ["for (;;)", "for (int i = 0, j = 0; i < n; i++)", "for (int i = 0; i < n; i *= 2)"] {
            let text = format!("void f(int n) {{\n#pragma acc kernels\n  {head} g();\n}}");
            assert_eq!(directives(&text), ["kernels", "for"], "{head}");
        }
        let left =
            "void f(int n) {\n#pragma acc kernels\n  for (int i = 0; i < n; i++) if (i == 7) break;\n}";
        assert_eq!(directives(left), ["kernels", "for"]);
        let said =
            "void f(int n) {\n#pragma acc kernels\n#pragma acc loop seq\n  for (int i = 0; i < n; i++) ;\n}";
        assert_eq!(directives(said), ["kernels", "loop seq", "for"]);
    }

    #[test]
    fn variables_of_around_are_loops_own_unless_somebody_reads_them() {
        let text = |behind: &str| {
            format!(
                "void f(int n) {{\n  int i;\n#pragma acc kernels\n  for (i = 0; i < n; i++) ;\n  {behind}\n}} int i;"
            )
        };
        for behind in ["", "for (i = 0; ; ) ;", "g(j);", "} void h(int i) { g(i);"] {
            assert_eq!(directives(&text(behind))[..3], ["kernels", "loop auto", "for"], "{behind}");
        }
        for behind in ["g(i);", "if (i == n) g();", "i++;"] {
            assert_eq!(directives(&text(behind)), ["kernels", "for"], "{behind}");
        }
    }

    #[test]
    fn statements_become_kernels() {
        let text = "
void f(int n) {
#pragma acc kernels copy(a) if(n > 1) num_gangs(4) wait(2)
  {
    for (int i = 0; i < n; i++) a[i] = i;
#pragma acc loop independent
    for (int i = 0; i < n; i++) a[i] += 1;
  }
}";
        assert_eq!(
            directives(text),
            [
                "data copy(a) if(n > 1) wait(2)",
                "kernels if(n > 1) num_gangs(4)",
                "loop auto",
                "for",
                "kernels if(n > 1) num_gangs(4)",
                "loop independent",
                "for"
            ]
        );
        let declares =
            "void f(int n) {\n#pragma acc kernels\n  { int k = 1; for (int i = 0; i < n; i++) ; }\n}";
        assert_eq!(directives(declares), ["kernels", "loop auto", "for"]);
    }
}
