//! A program with more rights than its user writes no file where that user says.

mod support;

use gangway_commands::{Folder, Run};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use support::{OFFLOAD, compile, staged};

const NOBODY: u32 = 65534;

/// Needs root, who alone can make a program with other rights than its user's.
#[test]
fn variables_that_name_files_are_not_heard() {
    // SAFETY: has no preconditions.
    let root = unsafe { libc::geteuid() } == 0;
    assert!(root || std::env::var_os("CI").is_none(), "continuous integration runs as root");
    if !root {
        eprintln!("not tested: only root can make a set-user-ID program");
        return;
    }
    let directory = Folder::new();
    let open = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(&directory, 0o777);
    let source = directory.path("program.c");
    let program = directory.path("program");
    let text = "int main(void) { int x = 1;\n#pragma omp target map(tofrom: x)\nx = 2;\nreturn x - 2; }";
    std::fs::write(&source, text).unwrap();
    let path = format!("-Wl,-rpath,{}", staged().display());
    compile(&source, &program, &[OFFLOAD, &path]);
    for (mode, heard) in [(0o755, true), (0o4755, false)] {
        open(&program, mode);
        for variable in ["GANGWAY_TRACE", "GANGWAY_REPORT", "LIBOMPTARGET_PROFILE"] {
            let file = directory.path(format!("{variable}-{mode:o}"));
            let value = if variable == "GANGWAY_REPORT" { "text:" } else { "" };
            let value = format!("{value}{}", file.display());
            Command::new(&program).env_clear().env(variable, value).uid(NOBODY).run().succeeded();
            assert_eq!(file.exists(), heard, "{variable}, mode {mode:o}");
        }
    }
}
