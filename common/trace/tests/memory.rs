//! What is said when the process has no memory left.

use gangway_commands::{Run, again};
use gangway_trace::memory::Memory;

#[global_allocator]
static MEMORY: Memory = Memory;

#[test]
fn a_process_without_memory_ends_with_a_message() {
    let Some(mut child) = again("a_process_without_memory_ends_with_a_message") else {
        let limit = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
        // SAFETY: reads the structure.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_DATA, &raw const limit) }, 0);
        // A large request is its caller's to do without.
        assert!(Vec::<u8>::new().try_reserve(64 << 20).is_err());
        loop {
            Box::leak(vec![1_u8; 1000].into_boxed_slice());
        }
    };
    child.run().ended_by(libc::SIGABRT).told(&[
        "gangway: error: the process has no memory left: 1000 bytes wanted\n  help: it has met a limit",
    ]);
}
