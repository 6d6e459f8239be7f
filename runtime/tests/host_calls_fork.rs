//! Functions that are registered before any runtime is there, and a process that forks meanwhile.

use gangway_backend::HostCallOutcome;
use gangway_runtime::host_calls::{Removal, call_by_host, number, register_named, unregister_named};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

unsafe extern "C-unwind" fn answer(block: *mut c_void, size: usize) {
    assert_eq!(size, 1);
    // SAFETY: the callers below pass a byte.
    unsafe { *block.cast::<u8>() += 1 };
}

unsafe extern "C-unwind" fn waits(_: *mut c_void, _: usize) {
    while !OVER.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}

static OVER: AtomicBool = AtomicBool::new(false);

#[test]
fn a_child_registers_and_calls_functions() {
    // SAFETY: both take what is passed below.
    unsafe {
        register_named("answer", answer).unwrap();
        register_named("waits", waits).unwrap();
    }
    let caller = std::thread::spawn(|| call_by_host(0, number("waits"), &mut []));
    let changer = std::thread::spawn(|| {
        while !OVER.load(Ordering::Acquire) {
            // SAFETY: as above.
            unsafe { register_named("comes", answer) }.unwrap();
            assert_eq!(unregister_named("comes", answer), Removal::Done);
        }
    });
    for _ in 0..200 {
        // SAFETY: the child ends by `_exit`, or by the alarm if something is locked.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: takes a number.
            unsafe { libc::alarm(20) };
            let mut block = [4];
            let answered = call_by_host(0, number("answer"), &mut block) == HostCallOutcome::Answered;
            // SAFETY: as above.
            let registered = unsafe { register_named("child", answer) } == Ok(());
            // The call that the parent is inside of is none of the child's.
            let removed = unregister_named("waits", waits) == Removal::Done;
            // SAFETY: ends the process.
            unsafe { libc::_exit(i32::from(!(answered && block == [5] && registered && removed))) };
        }
        let mut status = 0;
        // SAFETY: our own child, and a number to write to.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0, "the child ended badly");
    }
    OVER.store(true, Ordering::Release);
    assert_eq!(caller.join().unwrap(), HostCallOutcome::Answered);
    changer.join().unwrap();
    assert_eq!(unregister_named("waits", waits), Removal::Done);
}
