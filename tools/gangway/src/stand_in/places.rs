//! Places in the source, as the debugging information of LLVM's text has them.

use std::collections::HashMap;

/// The nodes of debugging information, by their numbers.
pub struct Places<'t> {
    nodes: HashMap<&'t str, &'t str>,
}

impl<'t> Places<'t> {
    pub fn of(text: &'t str) -> Self {
        let nodes =
            text.lines().filter(|line| line.starts_with('!')).filter_map(|line| line.split_once(" = "));
        Self { nodes: nodes.collect() }
    }

    /// `file:line:column` of an instruction.
    pub fn of_instruction(&self, line: &str) -> Option<String> {
        let location = line.split_once("!dbg ")?.1;
        let location = self.nodes.get(location.split(',').next()?.trim())?;
        let file = self.file(field(location, "scope")?)?;
        Some(format!("{file}:{}:{}", field(location, "line")?, field(location, "column").unwrap_or("1")))
    }

    /// The name of the file that a scope is in.
    fn file(&self, scope: &str) -> Option<&'t str> {
        let file = self.nodes.get(field(self.nodes.get(scope)?, "file")?)?;
        field(file, "filename")?.strip_prefix('"')?.strip_suffix('"')
    }
}

/// The value of a node's field.
fn field<'t>(node: &'t str, name: &str) -> Option<&'t str> {
    let fields = node.split_once('(')?.1.strip_suffix(')')?;
    fields.split(", ").find_map(|field| field.strip_prefix(name)?.strip_prefix(": "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_no_place() {
        for text in ["", "!1 = !DILocation(line: 4, scope: !2)\n", "!1 = !DILocation(\n", "!1 = \n"] {
            assert_eq!(Places::of(text).of_instruction("  ret void, !dbg !1"), None);
        }
        assert_eq!(Places::of("").of_instruction("  ret void"), None);
    }
}
