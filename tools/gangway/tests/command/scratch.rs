//! The folders in which compilers' files lie on the way.

use gangway_commands::{Ran, Run};

use crate::support::Workshop;

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
        workshop.script("compiler", COMPILER);
        std::fs::create_dir(workshop.path("temporary")).unwrap();
        Self(workshop)
    }

    fn run(&self, kill: bool) -> Ran {
        let step = "-cc1 -triple nvptx64-nvidia-cuda -emit-llvm-bc -o a.o -x c a.c";
        let mut command = self.0.gangway();
        command.env("TMPDIR", self.0.path("temporary"));
        if kill {
            command.env("KILL", "1");
        }
        command.args(["stand-in", "clang", "./compiler"]).args(step.split(' ')).run()
    }

    fn left(&self) -> usize {
        std::fs::read_dir(self.0.path("temporary")).unwrap().count()
    }
}

#[test]
fn the_folder_is_the_users_alone_and_ends_with_the_command() {
    let compilation = Compilation::new();
    compilation.run(false).printed("700\n");
    assert_eq!(compilation.left(), 0);
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
