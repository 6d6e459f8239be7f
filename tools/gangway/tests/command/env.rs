//! `gangway env`.

use std::process::Command;

use crate::support::{Workshop, text};

#[test]
fn sh_evaluates_it() {
    let workshop = Workshop::new();
    let output = workshop.output(&["env", "--shell", "sh", "--report", "--trace", "it's.json"]);
    let script = format!("{}echo \"$LD_LIBRARY_PATH|$GANGWAY_REPORT|$GANGWAY_TRACE\"", text(&output.stdout));
    let here = workshop.directory().display();
    for (before, path) in [(None, format!("{here}/ours")), (Some("/a:/b"), format!("{here}/ours:/a:/b"))] {
        let mut shell = Command::new("sh");
        shell.args(["-euc", &script]).env_remove("LD_LIBRARY_PATH");
        shell.envs(before.map(|before| ("LD_LIBRARY_PATH", before)));
        let shown = text(&shell.output().unwrap().stdout);
        assert_eq!(shown, format!("{path}|text|{here}/it's.json\n"));
    }
}

#[test]
fn other_shells() {
    let workshop = Workshop::new();
    let here = workshop.directory().display().to_string();
    for (shell, expected) in [
        (
            "fish",
            format!("set -gx LD_LIBRARY_PATH '{here}/ours' $LD_LIBRARY_PATH\nset -gx GANGWAY_DEVICE 'cpu'\n"),
        ),
        ("csh", format!("setenv LD_LIBRARY_PATH '{here}/ours:/b';\nsetenv GANGWAY_DEVICE 'cpu';\n")),
    ] {
        let mut command = workshop.gangway();
        command.env("LD_LIBRARY_PATH", "/b").args(["env", "--shell", shell, "--device", "cpu"]);
        assert_eq!(text(&command.output().unwrap().stdout), expected);
    }
    // Without --shell the login shell decides.
    let output = workshop.gangway().env("SHELL", "/usr/bin/fish").arg("env").output().unwrap();
    assert!(text(&output.stdout).starts_with("set -gx "));
}
