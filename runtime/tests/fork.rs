//! Forked children: a device whose back end does not survive a fork is refused there.
//! One test alone, so that no other thread is doing anything at the fork.
// Models run no forks: the runtime has no part of its own for them there.
#![cfg(not(loom))]

mod support;

use gangway_runtime::events::Site;
use gangway_runtime::{EntryKind, ErrorKind, HostEntry, NoItems, Registration, Runtime, Shape};
use support::null::{Counts, NullBackend};

fn library(key: usize, address: usize) -> Registration {
    let entries = vec![HostEntry { kind: EntryKind::Kernel, address, name: c"kernel", size: 0 }];
    Registration { key, images: vec![b"MOCK"], entries, ..Registration::default() }
}

/// Runs a test in a forked child; true if it ends well.
fn in_child(runtime: &'static Runtime, test: impl FnOnce()) -> bool {
    let forking = runtime.before_fork();
    // SAFETY: the child ends without unwinding.
    let process = unsafe { libc::fork() };
    if process != 0 {
        drop(forking);
        let mut status = 0;
        // SAFETY: waits for the child just made.
        unsafe { libc::waitpid(process, &mut status, 0) };
        return status == 0;
    }
    // SAFETY: ends a child that waits for somebody.
    unsafe { libc::alarm(20) };
    forking.in_child();
    let passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test)).is_ok();
    // SAFETY: ends the child.
    unsafe { libc::_exit(i32::from(!passed)) }
}

#[test]
fn an_open_device_is_refused_in_the_child_and_one_that_is_not_open_works() {
    static COUNTS: Counts = Counts::new();
    let runtime: &'static Runtime = Box::leak(Box::new(Runtime::new()));
    runtime.add_backend(Box::new(NullBackend(&COUNTS)));
    runtime.register(library(1, 0x4000));
    let launch = || {
        let device = runtime.device(0, &Site::NONE)?;
        runtime.run(device, Site::NONE, 0x4000, &NoItems, &Shape::default())?.complete()
    };
    assert!(in_child(runtime, || launch().unwrap()), "not open before the fork");

    launch().unwrap();
    let refused = || {
        let before = COUNTS.all();
        assert!(matches!(launch().unwrap_err().kind, ErrorKind::Forked));
        // Also where an image waits to be loaded, and with nothing of it called.
        runtime.register(library(2, 0x5000));
        assert!(matches!(launch().unwrap_err().kind, ErrorKind::Forked));
        runtime.unregister(1);
        assert_eq!(COUNTS.all(), before);
        let message = runtime.device_unprepared(0).unwrap().capabilities().unwrap_err().to_string();
        assert!(message.contains("in use when the process was forked"), "{message}");
    };
    assert!(in_child(runtime, refused), "open before the fork");
    launch().unwrap();
}
