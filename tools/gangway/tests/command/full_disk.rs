//! What the command does where nothing can be written.

use std::process::Command;

use gangway_commands::Run;

use crate::support::Workshop;

/// Runs the command in a shell, so that what is written has a limit or nowhere to go.
fn shell(workshop: &Workshop, line: &str) -> (Option<i32>, String) {
    let gangway = env!("CARGO_BIN_EXE_gangway");
    let line = line.replace("gangway", gangway);
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(&***workshop).env("GANGWAY_LIBDIR", "ours");
    let output = command.run();
    (output.status.code(), output.stderr)
}

#[test]
fn output_on_a_full_disk_is_an_error() {
    let workshop = Workshop::new();
    workshop.program("program", &[]);
    workshop.write("report.json", crate::report::report("heat", "step:41", 1000, 12_500_000, 4096));
    workshop.write("good.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n");
    for command in [
        "info",
        "info --json",
        "inspect program",
        "inspect --json program",
        "report diff report.json report.json",
        "env",
        "completions bash",
        "man",
        "cc --help",
        "stand-in ptxas --version",
        "stand-in ptxas good.ptx -o /dev/full",
        "inspect program --extract 0 -o /dev/full",
    ] {
        let (code, said) = shell(&workshop, &format!("gangway {command} > /dev/full"));
        assert_eq!(code, Some(1), "{command}: {said}");
        assert!(said.contains("No space left on device"), "{command}: {said}");
    }
}

#[test]
fn no_file_is_cut_on_a_full_disk() {
    let workshop = Workshop::new();
    workshop.program("program", &[]);
    workshop.write("image", "old");
    let (code, said) = shell(&workshop, "ulimit -f 1; gangway inspect program --extract 0 -o image");
    assert_eq!(
        (code, said.as_str()),
        (Some(1), "gangway: cannot write image: File too large (os error 27)\n")
    );
    assert_eq!(std::fs::read(workshop.path("image")).unwrap(), b"old");
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n// ".to_owned() + &"x".repeat(4000) + "\n";
    workshop.write("long.ptx", ptx);
    let (code, said) = shell(&workshop, "ulimit -f 1; gangway stand-in ptxas long.ptx -o long.cubin");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("cannot write long.cubin: File too large"), "{said}");
    assert!(!workshop.path("long.cubin").exists());
}
