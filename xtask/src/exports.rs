//! What the linker gets that is made from committed lists of exported names: version scripts,
//! and the jumps of a library that leads to another one.

use crate::Result;
use std::collections::{BTreeMap, BTreeSet};

/// Version node of names that the list gives none: that of the stock libomptarget.
const NODE: &str = "VERS1.0";

/// Version node of the names by which one library of ours leads to another.
const HIDDEN_NODE: &str = "GANGWAY_PRIVATE";

/// What stands before a name there.
const HIDDEN: &str = "gangway_gomp_";

/// The lines of a list as version and name, and whether a line before has the name, too.
fn lines(list: &str) -> impl Iterator<Item = (&str, &str, bool)> {
    let mut seen = BTreeSet::new();
    list.lines().filter(|line| !line.is_empty()).map(move |line| {
        let (version, name) = line.split_once(' ').unwrap_or((NODE, line));
        (version, name, !seen.insert(name))
    })
}

/// The list of the names to which the jumps for a list lead.
pub fn hidden(list: &str) -> String {
    let first = lines(list).filter(|(_, _, again)| !again);
    first.map(|(_, name, _)| format!("{HIDDEN_NODE} {HIDDEN}{name}\n")).collect()
}

/// Assembly with a function for each line of a list that jumps to the one proper. It leaves
/// registers and stack as they are: the function proper sees the program as its caller.
///
/// # Errors
/// It is not known how for this processor.
pub fn jumps(list: &str, architecture: &str) -> Result<String> {
    let jump: fn(&str) -> String = match architecture {
        "x86_64" => |name| format!("\tjmp *{HIDDEN}{name}@GOTPCREL(%rip)\n"),
        "aarch64" => |name| {
            format!("\tadrp x16, :got:{HIDDEN}{name}\n\tldr x16, [x16, :got_lo12:{HIDDEN}{name}]\n\tbr x16\n")
        },
        other => return Err(format!("no jumps are known for {other}").into()),
    };
    let function = |(version, name, again): (&str, &str, bool)| {
        // Another version of a name needs a label of its own.
        let label = if again { format!("{name}.{version}") } else { name.to_owned() };
        let version = if again { format!(".symver {label}, {name}@{version}\n") } else { String::new() };
        let symbol = format!(".globl {label}\n.type {label}, %function\n{version}");
        format!("{symbol}{label}:\n{}.size {label}, .-{label}\n", jump(name))
    };
    Ok(format!(
        ".text\n.balign 16\n{}.section .note.GNU-stack, \"\", %progbits\n",
        lines(list).map(function).collect::<String>()
    ))
}

/// Assembly with the names of a list and nothing behind them, for a library that programs are linked with
/// and that is never loaded.
pub fn empty(list: &str) -> String {
    let first = lines(list).filter(|(_, _, again)| !again);
    let names: String =
        first.map(|(_, name, _)| format!(".globl {name}\n.type {name}, %function\n{name}:\n")).collect();
    format!(".text\n{names}.section .note.GNU-stack, \"\", %progbits\n")
}

/// A version script that exports exactly the listed names: one per line, with its version
/// before it where it has another one than [`NODE`]. The first version of a name is the one
/// that programs are linked with.
pub fn version_script(list: &str) -> String {
    let mut nodes: BTreeMap<&str, String> = BTreeMap::new();
    for (node, name, again) in lines(list) {
        let names = nodes.entry(node).or_default();
        // The assembly says what has another version.
        if !again {
            names.push_str(&format!("    {name};\n"));
        }
    }
    let mut script = String::new();
    let first = nodes.keys().next().copied().unwrap_or(NODE);
    for (node, names) in &nodes {
        // Everything else is private, which is said once: not where other versions of a name stand,
        // which the linker would take for private.
        let rest = if *node == first { "  local: *;\n" } else { "" };
        let global = if names.is_empty() { "" } else { "  global:\n" };
        script.push_str(&format!("{node} {{\n{global}{names}{rest}}};\n"));
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
    fn jumps_lead_to_hidden_names() {
        let list = "N_1 a\nN_2 b\n";
        assert_eq!(hidden(list), "GANGWAY_PRIVATE gangway_gomp_a\nGANGWAY_PRIVATE gangway_gomp_b\n");
        let jumps = jumps(list, "x86_64").unwrap();
        assert!(jumps.contains("\nb:\n\tjmp *gangway_gomp_b@GOTPCREL(%rip)\n"), "{jumps}");
        assert!(super::jumps(list, "vax").is_err());
        let list = "N_1 a\nN_2 a\n";
        assert_eq!(hidden(list), "GANGWAY_PRIVATE gangway_gomp_a\n");
        let jumps = super::jumps(list, "x86_64").unwrap();
        assert!(
            jumps.contains(".symver a.N_2, a@N_2\n") && jumps.contains("\na.N_2:\n\tjmp *gangway_gomp_a@")
        );
        assert_eq!(version_script(list), "N_1 {\n  global:\n    a;\n  local: *;\n};\nN_2 {\n};\n");
    }

    #[test]
    fn a_library_to_link_with_has_each_name_once() {
        let empty = empty("b\nN_2 a\nN_3 a\n");
        assert!(empty.contains("\n.globl b\n.type b, %function\nb:\n"), "{empty}");
        assert_eq!(empty.matches("\na:\n").count(), 1, "{empty}");
    }

    #[test]
    fn names_have_their_versions() {
        let script = version_script("N_1 a\nN_2 b\nN_1 c\n");
        assert_eq!(
            script,
            "N_1 {\n  global:\n    a;\n    c;\n  local: *;\n};\nN_2 {\n  global:\n    b;\n};\n"
        );
    }
}
