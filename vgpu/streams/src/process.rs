//! What belongs to the process and its threads: forks, signals, time, host functions.

use crate::error::Error;
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

static FORKED: AtomicBool = AtomicBool::new(false);

/// Notices forks from now on. A child has none of the workers, and locks that other threads held
/// stay locked in it. So every entry point asks [`forked`] before it touches any.
pub(crate) fn watch_forks() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    extern "C" fn child() {
        FORKED.store(true, Ordering::Relaxed);
    }
    // SAFETY: the handler only stores to an atomic.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(child));
    });
}

/// This process is a child that was forked after a context had been created: nothing works in it.
pub fn forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// What every entry point begins with.
pub(crate) fn refuse_child() -> Result<(), Error> {
    if forked() { Err(Error::Forked) } else { Ok(()) }
}

/// Nanoseconds since some moment in the life of the process.
pub(crate) fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

thread_local! {
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
    static SELF: Cell<u64> = const { Cell::new(0) };
}

/// The calling thread is executing a host function or callback of a stream: it must not wait for
/// streams.
#[must_use]
pub fn in_host_function() -> bool {
    // All threads of a model are one to the system.
    !cfg!(loom) && IN_HOST_FUNCTION.get()
}

pub(crate) fn as_host_function<T>(call: impl FnOnce() -> T) -> T {
    struct Leave(bool);
    impl Drop for Leave {
        fn drop(&mut self) {
            IN_HOST_FUNCTION.set(self.0);
        }
    }
    let _leave = Leave(IN_HOST_FUNCTION.replace(true));
    call()
}

/// A stream, to those who watch what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// [`Stream::id`](crate::Stream::id)
    pub id: u64,
    pub legacy: bool,
}

thread_local! {
    static RUNNING: Cell<Option<Running>> = const { Cell::new(None) };
    /// Nanoseconds that the thread has waited for streams since it was asked.
    static WAITED: Cell<u64> = const { Cell::new(0) };
    static IS_WAITING: Cell<bool> = const { Cell::new(false) };
}

/// Whether waiting is timed.
static OBSERVED: AtomicBool = AtomicBool::new(false);

/// Has waiting timed from now on, for [`take_waited`].
pub fn observe() {
    OBSERVED.store(true, Ordering::Relaxed);
}

/// The stream of the operation that the calling thread runs.
#[must_use]
pub fn running() -> Option<Running> {
    RUNNING.get()
}

/// Whether somebody wants to know whether operations are left to do, and how many are.
static COUNTED: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Has operations counted that are submitted from now on. Without it launches pay nothing. It is to be called before the
/// first one.
pub fn count_unfinished() {
    COUNTED.store(true, Ordering::Relaxed);
}

/// Whether some operation of any stream is left to do or runs, of those that are [counted](count_unfinished).
#[must_use]
pub fn is_any_unfinished() -> bool {
    COUNT.load(Ordering::Acquire) != 0
}

/// So many operations are submitted.
pub(crate) fn submitted(operations: u64) {
    if COUNTED.load(Ordering::Relaxed) {
        COUNT.fetch_add(operations as usize, Ordering::Relaxed);
    }
}

/// One of them is done.
pub(crate) fn completed() {
    if COUNTED.load(Ordering::Relaxed) {
        COUNT.fetch_sub(1, Ordering::Release);
    }
}

pub(crate) fn as_operation_of<T>(stream: Running, call: impl FnOnce() -> T) -> T {
    struct Leave(Option<Running>);
    impl Drop for Leave {
        fn drop(&mut self) {
            RUNNING.set(self.0);
        }
    }
    let _leave = Leave(RUNNING.replace(Some(stream)));
    call()
}

/// Nanoseconds that the calling thread has waited for streams since the last time it asked. What
/// it ran of them meanwhile is in there.
#[must_use]
pub fn take_waited() -> u64 {
    WAITED.take()
}

/// Times the wait of a thread, unless it is within another.
pub(crate) fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    struct Leave(Instant);
    impl Drop for Leave {
        fn drop(&mut self) {
            WAITED.set(WAITED.get() + self.0.elapsed().as_nanos() as u64);
            IS_WAITING.set(false);
        }
    }
    let timed = !cfg!(loom) && OBSERVED.load(Ordering::Relaxed) && !IS_WAITING.replace(true);
    let _leave = timed.then(|| Leave(Instant::now()));
    wait()
}

/// A number of the calling thread that no other has had or will have.
pub(crate) fn this_thread() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
    if SELF.get() == 0 {
        SELF.set(NEXT.fetch_add(1, Ordering::Relaxed));
    }
    SELF.get()
}

/// What an operation may need of the stack of the thread that runs it: launches compile kernels.
const ENOUGH_STACK: usize = 1 << 20;

/// Whether the calling thread has enough of its own stack left for operations. Programs make
/// threads with little, and run coroutines on memory of theirs.
pub(crate) fn has_stack() -> bool {
    // Threads of a model run on stacks of its own.
    if cfg!(loom) {
        return true;
    }
    thread_local! {
        /// The lowest address of the thread's stack and the one past its highest; once they are
        /// known.
        static STACK: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
    }
    let (low, high) = STACK.get().unwrap_or_else(|| {
        let found = stack_of_this_thread().unwrap_or((0, 0));
        STACK.set(Some(found));
        found
    });
    let here = (&raw const low) as usize;
    (low..high).contains(&here) && here - low >= ENOUGH_STACK
}

fn stack_of_this_thread() -> Option<(usize, usize)> {
    // SAFETY: the attributes are those that the call fills in, and are given back.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
            return None;
        }
        let (mut low, mut size) = (std::ptr::null_mut(), 0);
        let found = libc::pthread_attr_getstack(&attributes, &mut low, &mut size) == 0;
        libc::pthread_attr_destroy(&mut attributes);
        found.then(|| (low as usize, low as usize + size))
    }
}

/// Calls `spawn` while the calling thread blocks all signals but those that report an instruction's
/// own mistake. The new thread inherits that, so that handlers of the program run on threads of the
/// program.
pub(crate) fn without_signals<T>(spawn: impl FnOnce() -> T) -> T {
    // SAFETY: plain calls on sets of this frame.
    unsafe {
        let mut block: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut block);
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT]
        {
            libc::sigdelset(&mut block, signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &block, &mut before);
        let result = spawn();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        result
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #[test]
    fn a_thread_with_little_stack_is_known_as_one() {
        let ask = |size| {
            std::thread::Builder::new().stack_size(size).spawn(super::has_stack).unwrap().join().unwrap()
        };
        assert!(!ask(64 << 10));
        assert!(ask(8 << 20));
    }
}
