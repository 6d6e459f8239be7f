//! The generated man page and completions.

use std::collections::BTreeSet;

use crate::support::Workshop;

#[test]
fn completions_for_every_shell() {
    let workshop = Workshop::new();
    for (shell, sign) in
        [("bash", "complete -F _gangway"), ("zsh", "#compdef gangway"), ("fish", "complete -c gangway")]
    {
        let output = workshop.output(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0));
        let script = output.stdout;
        assert!(script.contains(sign) && script.contains("report-file"), "{shell}");
        assert!(!script.contains("stand-in"), "{shell} offers what is hidden");
        assert!(script.contains("vgpu"), "{shell} knows no devices");
    }
    workshop.write("completion.bash", workshop.output(&["completions", "bash"]).stdout);
    workshop.tool("bash", &["-n", "completion.bash"]);
}

#[test]
fn the_man_page_has_everything() {
    let workshop = Workshop::new();
    let page = workshop.output(&["man"]).stdout;
    for section in
        ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"]
    {
        let heading =
            |line: &str| line.strip_prefix(".SH ").is_some_and(|title| title.trim_matches('"') == section);
        assert!(page.lines().any(heading), "{section} is missing");
    }
    for item in ["gangway run", "gangway inspect", "gangway env", "GANGWAY_TRACE", "125", "126", "127"] {
        assert!(page.contains(item), "{item} is missing");
    }
}

#[test]
fn readme_and_man_page_have_the_same_variables() {
    let names = |text: &str| {
        let words = text.split(|c: char| !(c.is_ascii_uppercase() || c == '_'));
        words.filter(|word| word.starts_with("GANGWAY_")).map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let readme = include_str!("../../../../README.md");
    let table = readme.split("\n## Environment\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: String =
        table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).collect();
    let page = Workshop::new().output(&["man"]).stdout;
    let section = page.split("ENVIRONMENT").nth(1).unwrap().split(".SH").next().unwrap();
    let terms: Vec<_> = section.lines().filter_map(|line| line.strip_prefix("\\fB")).collect();
    assert_eq!(names(&rows), names(&terms.join(" ")));
}

#[test]
fn help_names_the_exit_codes() {
    let workshop = Workshop::new();
    let help = workshop.output(&["run", "--help"]).stdout;
    for code in ["125", "126", "127", "128+N"] {
        assert!(help.contains(code), "{help}");
    }
}
