//! `gangway env`.

use std::process::Command;

use gangway_commands::Run;

use crate::support::Workshop;

#[test]
fn sh_evaluates_it() {
    let workshop = Workshop::new();
    let output = workshop.output(&["env", "--shell", "sh", "--report", "--trace", "it's.json"]);
    let script = format!("{}echo \"$LD_LIBRARY_PATH|$GANGWAY_REPORT|$GANGWAY_TRACE\"", output.stdout);
    let here = workshop.display();
    for (before, path) in [(None, format!("{here}/ours")), (Some("/a:/b"), format!("{here}/ours:/a:/b"))] {
        let mut shell = Command::new("sh");
        shell.args(["-euc", &script]).env_remove("LD_LIBRARY_PATH");
        shell.envs(before.map(|before| ("LD_LIBRARY_PATH", before)));
        let shown = shell.run().stdout;
        assert_eq!(shown, format!("{path}|text|{here}/it's.json\n"));
    }
}

/// Triton brings a ptxas of its own, whose machine code the virtual GPU does not run.
#[test]
fn triton_takes_our_ptxas_for_the_virtual_gpu() {
    let workshop = Workshop::new();
    workshop.write("ours/cuda/bin/ptxas", "");
    workshop.script("show", "#!/bin/sh\necho \"$TRITON_PTXAS_PATH|$TRITON_PTXAS_BLACKWELL_PATH\"\n");
    let ours = workshop.path("ours/cuda/bin/ptxas").display().to_string();
    let run = |device: &str, own: &str| {
        let mut command = workshop.gangway();
        command.env("TRITON_PTXAS_PATH", own).env_remove("TRITON_PTXAS_BLACKWELL_PATH");
        command.args(["run", "--device", device, "./show"]).run().stdout
    };
    assert_eq!(run("vgpu", ""), format!("{ours}|{ours}\n"));
    assert_eq!(run("vgpu", "/mine"), format!("/mine|{ours}\n"));
    assert_eq!(run("cpu", ""), "|\n");
    let lines = workshop
        .gangway()
        .env_remove("TRITON_PTXAS_PATH")
        .args(["env", "--shell", "sh", "--device", "vgpu"])
        .run()
        .stdout;
    assert!(lines.contains(&format!("export TRITON_PTXAS_PATH='{ours}'\n")), "{lines}");
}

#[test]
fn other_shells() {
    let workshop = Workshop::new();
    let here = workshop.display().to_string();
    for (shell, expected) in [
        (
            "fish",
            format!("set -gx LD_LIBRARY_PATH '{here}/ours' $LD_LIBRARY_PATH\nset -gx GANGWAY_DEVICE 'cpu'\n"),
        ),
        ("csh", format!("setenv LD_LIBRARY_PATH '{here}/ours:/b';\nsetenv GANGWAY_DEVICE 'cpu';\n")),
    ] {
        let mut command = workshop.gangway();
        command.env("LD_LIBRARY_PATH", "/b").args(["env", "--shell", shell, "--device", "cpu"]);
        assert_eq!(command.run().stdout, expected);
    }
    // Without --shell the login shell decides.
    let output = workshop.gangway().env("SHELL", "/usr/bin/fish").arg("env").run();
    assert!(output.stdout.starts_with("set -gx "));
}
