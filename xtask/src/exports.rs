//! The linker's version script, made from a committed list of exported names.

use std::collections::BTreeMap;

/// Version node of names that the list gives none: that of the stock libomptarget.
const NODE: &str = "VERS1.0";

/// A version script that exports exactly the listed names: one per line, with its version
/// before it where it has another one than [`NODE`].
pub fn version_script(list: &str) -> String {
    let mut nodes: BTreeMap<&str, String> = BTreeMap::new();
    for line in list.lines().filter(|line| !line.is_empty()) {
        let (node, name) = line.split_once(' ').unwrap_or((NODE, line));
        nodes.entry(node).or_default().push_str(&format!("    {name};\n"));
    }
    let mut script = String::new();
    let last = nodes.keys().next_back().copied().unwrap_or(NODE);
    for (node, names) in &nodes {
        // Everything else is private, which is said once.
        let rest = if *node == last { "  local: *;\n" } else { "" };
        script.push_str(&format!("{node} {{\n  global:\n{names}{rest}}};\n"));
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_else_stays_private() {
        let script = version_script("b\na\n");
        assert_eq!(script, "VERS1.0 {\n  global:\n    b;\n    a;\n  local: *;\n};\n");
    }

    #[test]
    fn names_have_their_versions() {
        let script = version_script("N_1 a\nN_2 b\nN_1 c\n");
        assert_eq!(
            script,
            "N_1 {\n  global:\n    a;\n    c;\n};\nN_2 {\n  global:\n    b;\n  local: *;\n};\n"
        );
    }
}
