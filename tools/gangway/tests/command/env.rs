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

/// Triton brings a ptxas of its own, whose machine code the virtual GPU does not run.
#[test]
fn triton_takes_our_ptxas_for_the_virtual_gpu() {
    let workshop = Workshop::new();
    std::fs::create_dir_all(workshop.path("ours/cuda/bin")).unwrap();
    workshop.write("ours/cuda/bin/ptxas", "");
    workshop.write("show", "#!/bin/sh\necho \"$TRITON_PTXAS_PATH|$TRITON_PTXAS_BLACKWELL_PATH\"\n");
    std::fs::set_permissions(workshop.path("show"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let ours = workshop.path("ours/cuda/bin/ptxas").display().to_string();
    let run = |device: &str, own: &str| {
        let mut command = workshop.gangway();
        command.env("TRITON_PTXAS_PATH", own).env_remove("TRITON_PTXAS_BLACKWELL_PATH");
        text(&command.args(["run", "--device", device, "./show"]).output().unwrap().stdout)
    };
    assert_eq!(run("vgpu", ""), format!("{ours}|{ours}\n"));
    assert_eq!(run("vgpu", "/mine"), format!("/mine|{ours}\n"));
    assert_eq!(run("cpu", ""), "|\n");
    let lines = workshop
        .gangway()
        .env_remove("TRITON_PTXAS_PATH")
        .args(["env", "--shell", "sh", "--device", "vgpu"])
        .output();
    let lines = text(&lines.unwrap().stdout);
    assert!(lines.contains(&format!("export TRITON_PTXAS_PATH='{ours}'\n")), "{lines}");
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
