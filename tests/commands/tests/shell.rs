//! What is said of commands that a shell runs.

use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::panic::catch_unwind;
use std::process::Command;
use std::thread::{sleep, spawn};
use std::time::Duration;

use gangway_commands::{Folder, Ran, Run, again, is_alone};

fn shell(script: &str) -> Ran {
    Command::new("sh").args(["-c", script]).run()
}

/// The message of an expectation that is not met.
fn message(expectation: impl FnOnce() -> Ran + std::panic::UnwindSafe) -> String {
    *catch_unwind(expectation).expect_err("it is not met").downcast::<String>().unwrap()
}

#[test]
fn what_is_not_as_expected_is_told_with_all_that_was_said() {
    for ran in [
        message(|| shell("echo out; echo err >&2; exit 3").succeeded()),
        message(|| shell("echo out; echo err >&2; exit 3").printed("out\n")),
        message(|| shell("echo out; echo err >&2").told(&["err", "more"])),
        message(|| shell("echo out; echo err >&2").printed("other\n")),
        message(|| shell("echo out; echo err >&2").failed()),
        message(|| shell("echo out; echo err >&2").ended_by(6)),
    ] {
        for part in ["\"sh\" \"-c\"", "exit status: ", "out\nerr\n"] {
            assert!(ran.contains(part), "`{part}` is missing: {ran}");
        }
    }
    assert!(message(|| Command::new("/no/such/tool").run()).contains("/no/such/tool"));
}

#[test]
fn what_is_as_expected_goes_on() {
    let ran = shell("echo out; echo err >&2").printed("out\n").told(&["err"]);
    assert_eq!((ran.code(), ran.signal(), &*ran.said()), (Some(0), None, "out\nerr\n"));
    assert_eq!(shell("kill -ABRT $$").failed().ended_by(6).code(), None);
    // More than a pipe holds, on both.
    let much = shell("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2");
    assert_eq!((much.stdout.len(), much.stderr.len()), (300_000, 300_000));
}

/// As where another test's thread forks while this one writes its program.
#[test]
fn a_program_that_is_being_written_is_waited_for() {
    let folder = Folder::new();
    let program = folder.join("program");
    let mut file = File::create(&program).unwrap();
    file.write_all(b"#!/bin/sh\necho ran\n").unwrap();
    file.set_permissions(Permissions::from_mode(0o755)).unwrap();
    let writer = spawn(move || {
        sleep(Duration::from_millis(300));
        drop(file);
    });
    Command::new(&program).run().printed("ran\n");
    writer.join().unwrap();
}

#[test]
fn a_test_runs_itself_again() {
    let Some(mut again) = again("a_test_runs_itself_again") else {
        return println!("the other process");
    };
    let ran = again.run().succeeded();
    assert!(ran.stdout.contains("the other process") && ran.stdout.contains("1 passed"), "{ran}");
}

#[test]
fn a_test_runs_alone() {
    if is_alone("a_test_runs_alone") {
        assert_eq!(std::env::var("GANGWAY_TEST_AGAIN").as_deref(), Ok("a_test_runs_alone"));
    }
}

#[test]
fn tools_run_in_the_folder() {
    let folder = Folder::new();
    folder.script("tool", "#!/bin/sh\necho \"$1\" > said\n");
    folder.tool("./tool", &["a word"]);
    assert_eq!(folder.text("said"), "a word\n");
}
