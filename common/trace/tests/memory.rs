//! What is said when the process has no memory left.

use gangway_trace::memory::Memory;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

#[global_allocator]
static MEMORY: Memory = Memory;

const CHILD: &str = "GANGWAY_TEST_USES_ALL_MEMORY";

#[test]
fn a_process_without_memory_ends_with_a_message() {
    if std::env::var_os(CHILD).is_some() {
        let limit = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
        // SAFETY: reads the structure.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_DATA, &raw const limit) }, 0);
        // A large request is its caller's to do without.
        assert!(Vec::<u8>::new().try_reserve(64 << 20).is_err());
        loop {
            Box::leak(vec![1_u8; 1000].into_boxed_slice());
        }
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_process_without_memory_ends_with_a_message", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{said}");
    assert!(
        said.contains(
            "gangway: error: the process has no memory left: 1000 bytes wanted\n  help: it has met a limit"
        ),
        "{said}"
    );
}
