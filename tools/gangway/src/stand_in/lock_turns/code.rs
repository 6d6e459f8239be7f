//! The text of functions: blocks, the names in them, and where they lead to.

use std::fmt;
use std::ops::Range;

/// A function that is defined.
#[derive(Debug, Clone)]
pub struct Function<'a> {
    /// With its `@`.
    pub name: &'a str,
    /// Where it stands in the text.
    pub place: Range<usize>,
    head: &'a str,
    pub blocks: Vec<Block>,
}

/// A block, or what one has become when it was split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// With its `%`.
    pub label: String,
    /// LLVM writes no label where a function begins with a block without a name.
    has_line: bool,
    /// Of the function's first block, where variables are.
    pub is_first: bool,
    /// The instructions. The last one leads on, and may have several lines.
    pub code: Vec<String>,
}

impl Block {
    /// One that only leads on.
    pub fn new(label: String, code: Vec<String>) -> Self {
        Self { label, has_line: true, is_first: false, code }
    }

    pub fn end(&self) -> &str {
        self.code.last().map_or("", String::as_str)
    }

    /// The labels to which it leads, with `%`; one may be there twice.
    pub fn successors(&self) -> impl Iterator<Item = &str> {
        self.end().match_indices("label %").filter_map(|(at, _)| name_at(&self.end()[at + "label ".len()..]))
    }

    /// Has it lead to another block in the place of one.
    pub fn redirect(&mut self, from: &str, to: &str) {
        if let Some(end) = self.code.last_mut() {
            *end = with_name(end, &format!("label {from}"), &format!("label {to}"));
        }
    }

    pub fn returns(&self) -> bool {
        let end = self.end().trim_start();
        end == "ret" || end.starts_with("ret ")
    }

    /// Tells its phis that they are come to from another block.
    pub fn come_from(&mut self, from: &str, to: &str) {
        for phi in self.code.iter_mut().filter(|line| is_phi(line)) {
            *phi = phi.replace(&format!(", {from} ]"), &format!(", {to} ]"));
        }
    }

    /// How often a phi is come to from a block, at most.
    pub fn ways_from(&self, from: &str) -> usize {
        let way = format!(", {from} ]");
        self.code.iter().filter(|line| is_phi(line)).map(|phi| phi.matches(&way).count()).max().unwrap_or(0)
    }

    /// The values that it defines.
    pub fn defined(&self) -> impl Iterator<Item = &str> {
        self.code.iter().filter_map(|line| defined(line))
    }

    /// All names in it. Descriptions of variables name values as well, but are no use of them.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        let instructions = self.code.iter().filter(|line| !line.trim_start().starts_with('#'));
        instructions.flat_map(|line| line.match_indices('%').filter_map(|(at, _)| name_at(&line[at..])))
    }
}

impl Function<'_> {
    pub fn find(&self, label: &str) -> Option<usize> {
        self.blocks.iter().position(|block| block.label == label)
    }

    /// Splits a block before an instruction. What is behind it is a block with that label.
    pub fn split(&mut self, block: usize, at: usize, label: String) {
        let first = &mut self.blocks[block];
        let old = first.label.clone();
        let code = first.code.split_off(at);
        first.code.push(format!("  br label {label}"));
        let is_first = first.is_first;
        for other in &mut self.blocks {
            other.come_from(&old, &label);
        }
        self.blocks.insert(block + 1, Block { label, has_line: true, is_first, code });
    }

    /// Whether it leads on otherwise than by branches.
    pub fn is_irregular(&self) -> bool {
        const OTHERS: [&str; 4] = ["invoke ", "callbr ", "indirectbr ", "catchswitch "];
        self.blocks.iter().flat_map(|block| &block.code).any(|line| {
            let instruction = instruction(line);
            OTHERS.iter().any(|other| instruction.starts_with(other))
        })
    }
}

impl fmt::Display for Function<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.head)?;
        for block in &self.blocks {
            if block.has_line {
                writeln!(f, "{}:", &block.label[1..])?;
            }
            for line in &block.code {
                writeln!(f, "{line}")?;
            }
        }
        writeln!(f, "}}")
    }
}

/// All functions that a text defines.
pub fn functions(text: &str) -> impl Iterator<Item = Function<'_>> {
    let mut lines = text.split_inclusive('\n').scan(0, |end, line| {
        let start = *end;
        *end += line.len();
        Some((start..*end, line.trim_end_matches('\n')))
    });
    std::iter::from_fn(move || {
        let (start, head) = lines.by_ref().find(|(_, line)| line.starts_with("define "))?;
        let mut end = start.end;
        let body = lines.by_ref().map_while(|(place, line)| {
            end = place.end;
            (line != "}").then_some(line)
        });
        let blocks = blocks(head, body);
        let name = head.find('@').and_then(|at| name_at(&head[at..])).unwrap_or("");
        Some(Function { name, place: start.start..end, head, blocks })
    })
}

fn blocks<'a>(head: &str, lines: impl Iterator<Item = &'a str>) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    for line in lines.filter(|line| !line.is_empty()) {
        if let Some(label) = label(line) {
            let is_first = blocks.is_empty();
            blocks.push(Block { is_first, ..Block::new(format!("%{label}"), Vec::new()) });
            continue;
        }
        if blocks.is_empty() {
            let label = unnamed_first(head);
            blocks.push(Block { label, has_line: false, is_first: true, code: Vec::new() });
        }
        let Some(code) = blocks.last_mut().map(|block| &mut block.code) else { continue };
        match code.last_mut().filter(|_| is_open) {
            Some(last) => {
                last.push('\n');
                last.push_str(line);
                is_open = !line.trim_start().starts_with(']');
            }
            None => {
                is_open = line.trim_start().starts_with("switch ") && line.ends_with('[');
                code.push(line.to_owned());
            }
        }
    }
    blocks
}

/// The number of a function's first block, if it has no name: it follows those of the arguments.
fn unnamed_first(head: &str) -> String {
    let numbers =
        head.match_indices('%').filter_map(|(at, _)| name_at(&head[at..])?[1..].parse::<u32>().ok());
    format!("%{}", numbers.max().map_or(0, |last| last + 1))
}

/// The label that a line is.
fn label(line: &str) -> Option<&str> {
    let end = match line.strip_prefix('"') {
        Some(rest) => rest.find('"')? + 2,
        None => line.find(|letter: char| !is_of_name(letter))?,
    };
    (end > 0 && line[end..].starts_with(':')).then_some(&line[..end])
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '$' | '.' | '_')
}

/// The name at the beginning of a text, with its `%` or `@`.
pub fn name_at(text: &str) -> Option<&str> {
    let name = text.get(1..)?;
    let length = match name.strip_prefix('"') {
        Some(quoted) => quoted.find('"')? + 2,
        None => name.find(|letter: char| !is_of_name(letter)).unwrap_or(name.len()),
    };
    (length > 0).then(|| &text[..=length])
}

/// A name's places are another name's.
pub fn with_name(text: &str, from: &str, to: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(from) {
        let end = at + from.len();
        if !text[end..].starts_with(is_of_name) {
            result.push_str(&text[done..at]);
            result.push_str(to);
            done = end;
        }
    }
    result + &text[done..]
}

fn defined(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let name = name_at(line).filter(|name| name.starts_with('%'))?;
    line[name.len()..].starts_with(" = ").then_some(name)
}

fn is_phi(line: &str) -> bool {
    instruction(line).starts_with("phi ")
}

/// A line without the value that it defines.
pub fn instruction(line: &str) -> &str {
    let line = line.trim_start();
    defined(line).map_or(line, |name| &line[name.len() + " = ".len()..])
}

/// The function that a line calls by its name, and the value that it returns.
pub fn call(line: &str) -> Option<(&str, Option<&str>)> {
    let instruction = instruction(line);
    let kinds = ["tail ", "notail ", "musttail "];
    let instruction = kinds.iter().find_map(|kind| instruction.strip_prefix(kind)).unwrap_or(instruction);
    let called = instruction.strip_prefix("call ")?;
    let at = called.find('@')?;
    let name = name_at(&called[at..])?;
    called[at + name.len()..].starts_with('(').then_some((name, defined(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
; a comment
define void @\"f g\"(ptr %0, i32 noundef %n) #0 {
  %3 = load i32, ptr %0, align 4
  switch i32 %3, label %\"a b\" [
    i32 1, label %5
  ], !dbg !3

\"a b\":                                            ; preds = %2
  %4 = tail call i32 @g(ptr @f), !dbg !2
  br label %5

5:                                                ; preds = %2, %\"a b\"
  %6 = phi i32 [ %4, %\"a b\" ], [ 0, %1 ]
    #dbg_value(i32 %n, !1, !DIExpression(), !2)
  ret void
}
declare i32 @g(ptr)
";

    fn function() -> Function<'static> {
        functions(TEXT).next().unwrap()
    }

    #[test]
    fn functions_have_blocks() {
        let function = function();
        assert_eq!(function.name, "@\"f g\"");
        assert!(
            TEXT[function.place.clone()].starts_with("define")
                && TEXT[function.place.clone()].ends_with("}\n")
        );
        let labels: Vec<_> = function.blocks.iter().map(|block| block.label.as_str()).collect();
        assert_eq!(labels, ["%1", "%\"a b\"", "%5"]);
        assert_eq!(function.blocks[0].successors().collect::<Vec<_>>(), ["%\"a b\"", "%5"]);
        assert!(function.blocks[2].returns() && !function.blocks[1].returns());
        assert!(!function.blocks[2].named().any(|name| name == "%n"), "in a description only");
    }

    #[test]
    fn text_is_written_as_it_was_read() {
        let lines = |text: &str| -> Vec<String> {
            let without =
                text.lines().map(|line| line.split("  ; preds").next().unwrap().trim_end().to_owned());
            without.filter(|line| !line.is_empty()).collect()
        };
        let function = function();
        assert_eq!(lines(&function.to_string()), lines(&TEXT[function.place]));
    }

    #[test]
    fn phis_know_the_end_of_a_block_that_is_split() {
        let mut function = function();
        function.split(1, 1, "%end".into());
        assert_eq!(function.blocks[1].successors().collect::<Vec<_>>(), ["%end"]);
        assert_eq!(function.blocks[3].code[0], "  %6 = phi i32 [ %4, %end ], [ 0, %1 ]");
        function.split(0, 0, "%start".into());
        assert_eq!(function.blocks[4].code[0], "  %6 = phi i32 [ %4, %end ], [ 0, %start ]");
    }

    #[test]
    fn calls_name_functions() {
        assert_eq!(call("  %4 = tail call i32 @g(ptr @f), !dbg !2"), Some(("@g", Some("%4"))));
        assert_eq!(call("  call void (ptr, ...) @\"a b\"(ptr %1)"), Some(("@\"a b\"", None)));
        assert_eq!(call("  call void %1(ptr @g)"), None);
        assert_eq!(call("  store ptr @g, ptr %1"), None);
    }
}
