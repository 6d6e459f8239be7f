//! The linker's version script, made from the committed list of exported names.

/// Version node of the stock library.
const NODE: &str = "VERS1.0";

/// A version script that exports exactly the listed names.
pub fn version_script(list: &str) -> String {
    let names: String =
        list.lines().filter(|name| !name.is_empty()).map(|name| format!("    {name};\n")).collect();
    format!("{NODE} {{\n  global:\n{names}  local: *;\n}};\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_else_stays_private() {
        let script = version_script("b\na\n");
        assert_eq!(script, "VERS1.0 {\n  global:\n    b;\n    a;\n  local: *;\n};\n");
    }
}
