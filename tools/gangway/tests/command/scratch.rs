//! The folders in which compilers' files lie on the way.

use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use crate::support::{Workshop, text};

/// Compiles as far as the step of GPU code does, and tells the mode of the folder that it writes to.
const COMPILER: &str = r#"#!/bin/sh
while [ "$1" != -o ]; do shift; done
case $2 in
  *.ll) stat -c %a "${2%/*}"; [ -z "$KILL" ] || kill -9 $PPID;;
esac
: > "$2"
"#;

struct Compilation(Workshop);

impl Compilation {
    fn new() -> Self {
        let workshop = Workshop::new();
        workshop.write("compiler", COMPILER);
        std::fs::set_permissions(workshop.path("compiler"), PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::create_dir(workshop.path("temporary")).unwrap();
        Self(workshop)
    }

    fn run(&self, kill: bool) -> Output {
        let step = "-cc1 -triple nvptx64-nvidia-cuda -emit-llvm-bc -o a.o -x c a.c";
        let mut command = self.0.gangway();
        command.env("TMPDIR", self.0.path("temporary"));
        if kill {
            command.env("KILL", "1");
        }
        command.args(["stand-in", "clang", "./compiler"]).args(step.split(' ')).output().unwrap()
    }

    fn left(&self) -> usize {
        std::fs::read_dir(self.0.path("temporary")).unwrap().count()
    }
}

#[test]
fn the_folder_is_the_users_alone_and_ends_with_the_command() {
    let compilation = Compilation::new();
    let output = compilation.run(false);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!((text(&output.stdout).as_str(), compilation.left()), ("700\n", 0));
}

#[test]
fn what_a_killed_command_leaves_the_next_one_removes() {
    let compilation = Compilation::new();
    // The compiler ends after the command that it kills, and holds the folder as long.
    assert_eq!(compilation.run(true).status.code(), None);
    assert_eq!(compilation.left(), 1);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while compilation.left() != 0 {
        assert!(std::time::Instant::now() < until, "the folder stays");
        assert!(compilation.run(false).status.success());
    }
}
