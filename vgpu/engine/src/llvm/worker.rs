//! Where LLVM runs: in threads of its own, so that what goes wrong there ends nothing else.
//!
//! LLVM ends the process where it finds that it is wrong, and may raise a signal or never come back. Here the
//! thread that it runs in sleeps for good then, and what was asked for is refused, as is all that comes later.
//! All that is lost is what that thread holds.

use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Once, mpsc};
use std::time::{Duration, Instant};

use super::library::llvm;

/// How long it may take: longer than the largest region that is tried takes on a machine that is busy.
const MOST: Duration = Duration::from_secs(30);
/// How often it is looked at whether it has failed.
const STEP: Duration = Duration::from_millis(20);
/// Passes recurse over what they look at.
const STACK: usize = 64 << 20;

thread_local! {
    /// In a thread that LLVM runs in, where it is noted that it fails; null in all others.
    static FAILS: Cell<*const AtomicBool> = const { Cell::new(ptr::null()) };
}

/// Stops this thread for good if it is one that LLVM runs in: LLVM has failed. In a handler of signals, too.
pub(crate) fn stop_if_worker() {
    let fails = FAILS.try_with(Cell::get).unwrap_or(ptr::null());
    // SAFETY: it is null, or what this thread was started with, which lives for ever.
    let Some(fails) = (unsafe { fails.as_ref() }) else { return };
    fails.store(true, Ordering::Relaxed);
    loop {
        // SAFETY: it waits for a signal, and has no preconditions.
        unsafe { libc::pause() };
    }
}

/// It has failed, or has not come back.
static FAILED: AtomicBool = AtomicBool::new(false);
/// How many threads LLVM runs in.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
/// The process whose threads these are: a child that it forks has none of them, and waits for nothing at its end.
static PROCESS: AtomicI32 = AtomicI32::new(0);
/// The process ends: nothing new is begun.
static ENDS: AtomicBool = AtomicBool::new(false);

/// Nanoseconds of processor time that those have taken that have ended.
static SPENT: AtomicU64 = AtomicU64::new(0);

/// A processor time, by the clock that counts it.
pub(crate) fn processor_time(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes a time of its type; where it cannot, no time has gone by.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// The processor time that LLVM has taken in this process.
pub(crate) fn spent_by_llvm() -> Duration {
    Duration::from_nanos(SPENT.load(Ordering::Relaxed))
}

/// Counts a thread.
struct Running;

impl Running {
    fn new() -> Self {
        RUNNING.fetch_add(1, Ordering::SeqCst);
        Running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits at the process's end until LLVM is done: it takes down what its threads use.
extern "C" fn wait() {
    // SAFETY: it has no preconditions.
    if unsafe { libc::getpid() } != PROCESS.load(Ordering::SeqCst) {
        return;
    }
    ENDS.store(true, Ordering::SeqCst);
    let start = Instant::now();
    while RUNNING.load(Ordering::SeqCst) != 0 && !FAILED.load(Ordering::SeqCst) && start.elapsed() < MOST {
        std::thread::sleep(STEP / 10);
    }
}

/// What LLVM calls where it would end the process.
unsafe extern "C" fn fatal(why: *const c_char) {
    stop_if_worker();
    // The program's own use of the library: as LLVM would end.
    // SAFETY: LLVM gives a C string.
    eprintln!("LLVM ERROR: {}", unsafe { CStr::from_ptr(why) }.to_string_lossy());
    std::process::exit(1);
}

/// Does some work with LLVM in a thread of its own, and waits for it.
pub(super) fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let llvm = llvm()?;
    static AT_EXIT: Once = Once::new();
    AT_EXIT.call_once(|| {
        // SAFETY: a function of ours. LLVM's own, which has been registered before, runs later.
        unsafe {
            PROCESS.store(libc::getpid(), Ordering::SeqCst);
            libc::atexit(wait);
        }
    });
    let work = move || {
        // SAFETY: the handler is a function of ours, which lives for ever.
        unsafe { (llvm.install_fatal_error_handler)(fatal) };
        work()
    };
    run_within(MOST, &FAILED, work)
}

/// The same within a time, if nothing has failed before.
fn run_within<T: Send + 'static>(
    most: Duration,
    failed: &'static AtomicBool,
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    if failed.load(Ordering::Relaxed) {
        return Err("LLVM has failed before".to_owned());
    }
    let (sender, receiver) = mpsc::channel();
    let body = move || {
        FAILS.set(failed);
        let _running = Running::new();
        let done = if ENDS.load(Ordering::SeqCst) { Err("the process ends".to_owned()) } else { work() };
        let spent = processor_time(libc::CLOCK_THREAD_CPUTIME_ID);
        SPENT.fetch_add(spent.as_nanos() as u64, Ordering::Relaxed);
        let _ = sender.send(done);
        FAILS.set(ptr::null());
    };
    let thread = std::thread::Builder::new().name("gangway-llvm".to_owned()).stack_size(STACK);
    thread.spawn(body).map_err(|error| format!("no thread: {error}"))?;
    let start = Instant::now();
    loop {
        match receiver.recv_timeout(STEP) {
            Ok(result) => return result,
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err("LLVM's thread has panicked".to_owned()),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        if failed.load(Ordering::Relaxed) {
            return Err("LLVM has failed".to_owned());
        }
        if start.elapsed() > most {
            failed.store(true, Ordering::Relaxed);
            return Err("LLVM takes too long".to_owned());
        }
    }
}

/// The same for tests, without what it leaves behind.
#[cfg(test)]
pub(crate) fn run_apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    run_within(MOST, Box::leak(Box::default()), work)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(200);

    #[test]
    fn what_takes_too_long_is_given_up() {
        static FAILED: AtomicBool = AtomicBool::new(false);
        assert_eq!(run_within(SOON, &FAILED, || Ok(1)), Ok(1));
        let slow = || {
            std::thread::sleep(Duration::from_secs(3600));
            Ok(2)
        };
        assert_eq!(run_within(SOON, &FAILED, slow), Err("LLVM takes too long".to_owned()));
        assert_eq!(run_within(SOON, &FAILED, || Ok(3)), Err("LLVM has failed before".to_owned()));
    }

    /// LLVM runs in the parent alone, and the child's copy of the count stays as it is.
    #[test]
    fn a_child_that_is_forked_meanwhile_ends_at_once() {
        let _running = Running::new();
        // SAFETY: the child calls nothing that another thread may have locked, and ends without exit handlers.
        let status = unsafe {
            PROCESS.store(libc::getpid(), Ordering::SeqCst);
            let child = libc::fork();
            if child == 0 {
                // A signal ends it if it waits.
                libc::alarm(5);
                wait();
                libc::_exit(0);
            }
            let mut status = -1;
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
            status
        };
        assert_eq!(status, 0);
    }

    #[test]
    fn what_fails_ends_nothing_else() {
        static FAILED: AtomicBool = AtomicBool::new(false);
        let fails = || {
            // SAFETY: a C string.
            unsafe { fatal(c"it is wrong".as_ptr()) };
            Ok(1)
        };
        assert_eq!(run_within(MOST, &FAILED, fails), Err("LLVM has failed".to_owned()));
        static PANICKED: AtomicBool = AtomicBool::new(false);
        let panics = || -> Result<u32, String> { panic!("a mistake of ours") };
        assert_eq!(run_within(MOST, &PANICKED, panics), Err("LLVM's thread has panicked".to_owned()));
    }
}
