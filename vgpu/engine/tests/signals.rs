//! Signals that are not a kernel's: they go to whoever handled them before the engine came,
//! and end the process where nobody did. Each test runs in a process of its own.

use std::ffi::c_int;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

use gangway_engine::{Engine, Execution, KernelLaunch, Options, Reason};

/// Set in the process that gets the signal.
const CHILD: &str = "GANGWAY_SIGNALS_CHILD";
/// How the test's own handler ends the process.
const HANDLED: i32 = 42;

fn launch() {
    let engine = Engine::new(Options {
        workers: 2,
        execution: Execution::CompiledOnly,
        stack: 1 << 14,
        ..Options::default()
    });
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n
        .visible .entry k(.param .u64 p) { .reg .u64 %p; ld.param.u64 %p, [p]; st.global.u64 [%p], %p; ret; }";
    let program = engine.load(gangway_ptx::parse(text).expect("a module")).expect("memory");
    let nowhere = gangway_device_memory::BASE + (1 << 36);
    let fault = engine.launch(&KernelLaunch {
        program: &program,
        kernel: program.kernel("k").expect("the kernel"),
        grid: [4, 1, 1],
        block: [64, 1, 1],
        shared: 0,
        parameters: &nowhere.to_le_bytes(),
        cooperative: false,
    });
    assert_eq!(fault.expect_err("an access to nothing").reason, Reason::IllegalAddress);
}

/// An access of the host's own to nothing.
fn crash() {
    let nowhere = std::ptr::with_exposed_provenance_mut::<u32>(64);
    // SAFETY: it is none: the signal is what the test is about.
    unsafe { nowhere.write_volatile(1) };
}

unsafe extern "C" fn own_handler(_signal: c_int) {
    // SAFETY: the call is safe in a signal handler.
    unsafe { libc::_exit(HANDLED) };
}

/// Runs a test of this file in a process of its own.
fn child(test: &str) -> ExitStatus {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let output = command.args(["--exact", test, "--test-threads", "1"]).env(CHILD, "1").output();
    output.expect("a process").status
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

#[test]
fn a_handler_that_was_there_before_gets_the_hosts_signals() {
    if !is_child() {
        let status = child("a_handler_that_was_there_before_gets_the_hosts_signals");
        assert_eq!(status.code(), Some(HANDLED), "{status:?}");
        return;
    }
    // SAFETY: the handler is one for this signal.
    unsafe { libc::signal(libc::SIGSEGV, own_handler as *const () as libc::sighandler_t) };
    launch();
    crash();
}

#[test]
fn without_a_handler_the_process_dies_of_the_signal() {
    if !is_child() {
        let status = child("without_a_handler_the_process_dies_of_the_signal");
        assert_eq!(status.signal(), Some(libc::SIGSEGV), "{status:?}");
        return;
    }
    // Rust has a handler of its own, for overflows of its stacks.
    // SAFETY: the call has no pointers.
    unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
    launch();
    crash();
}

#[test]
fn an_access_of_the_hosts_to_device_memory_is_told() {
    const NAME: &str = "an_access_of_the_hosts_to_device_memory_is_told";
    if is_child() {
        // SAFETY: the call has no pointers.
        unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
        gangway_engine::catch_signals();
        let space = gangway_device_memory::Space::get().expect("the addresses of device memory");
        let kind = gangway_device_memory::AllocationKind::Device;
        let memory = space.allocate(&gangway_device_memory::Request::new(0, 4096, kind)).expect("memory");
        let behind = std::ptr::with_exposed_provenance_mut::<u32>(memory as usize + 4096 + 16);
        // SAFETY: it is none: the signal is what the test is about.
        unsafe { behind.write_volatile(1) };
        return;
    }
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let output =
        command.args(["--exact", NAME, "--test-threads", "1", "--nocapture"]).env(CHILD, "1").output();
    let output = output.expect("a process");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{said}");
    assert!(said.contains(": 16 bytes after the end of memory of 4096 bytes at 0x2"), "{said}");
    assert_eq!(said.matches("the host has used 0x2").count(), 1, "{said}");
}

#[test]
fn a_signal_on_a_thread_that_has_run_kernels_is_still_the_hosts() {
    if !is_child() {
        let status = child("a_signal_on_a_thread_that_has_run_kernels_is_still_the_hosts");
        assert_eq!(status.code(), Some(HANDLED), "{status:?}");
        return;
    }
    // SAFETY: as above.
    unsafe { libc::signal(libc::SIGSEGV, own_handler as *const () as libc::sighandler_t) };
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(launch)).collect();
    for thread in threads {
        thread.join().expect("no panic");
    }
    std::thread::spawn(|| {
        launch();
        crash();
    })
    .join()
    .expect("the process ends first");
}
