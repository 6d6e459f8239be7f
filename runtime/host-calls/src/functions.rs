//! The functions that devices can call, by number.

use crate::recorded::Recorded;
use gangway_backend::HostCallOutcome;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockWriteGuard};
use std::time::{Duration, Instant};

/// Who is told of calls of functions that are not there: the device, and the number.
pub type OnUnknown = fn(device: i32, function: u64);

static ON_UNKNOWN: OnceLock<OnUnknown> = OnceLock::new();
static ON_CALL: OnceLock<fn()> = OnceLock::new();

/// The functions by number.
pub(crate) type Functions = BTreeMap<u64, Arc<Function>>;

static FUNCTIONS: RwLock<Functions> = RwLock::new(BTreeMap::new());

/// How long a function that is taken away is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks whether it has ended.
const PAUSE: Duration = Duration::from_micros(100);

/// How many forks lead to this process.
static GENERATION: AtomicUsize = AtomicUsize::new(0);

fn generation() -> usize {
    GENERATION.load(Ordering::Relaxed)
}

thread_local! {
    /// Calls that the thread is inside of.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

pub(crate) struct Function {
    run: Box<dyn Fn(&mut HostCall<'_>) + Send + Sync>,
    /// For reports.
    name: Box<str>,
    /// Calls that have begun and have not ended.
    calls: AtomicUsize,
}

/// One call, as the function sees it.
#[derive(Debug)]
pub struct HostCall<'b> {
    /// Number of the device that calls.
    pub device: i32,
    /// What the caller has passed, and what it gets.
    pub block: &'b mut [u8],
}

impl HostCall<'_> {
    /// The block as words. Bytes before the first and behind the last whole one are left out.
    pub fn words(&mut self) -> &mut [u64] {
        // SAFETY: any bytes are a number.
        unsafe { self.block.align_to_mut().1 }
    }
}

/// A function that nobody can call any longer.
#[must_use = "calls of it may be under way"]
pub struct Removed(Arc<Function>);

impl fmt::Debug for Removed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Removed").field("calls", &self.0.calls).finish()
    }
}

impl Removed {
    /// Waits for the calls that are under way. False: some are still so, either because they have
    /// not ended for two seconds, or because the thread is inside of a call, which might be
    /// one of them.
    #[must_use]
    pub fn wait(self) -> bool {
        let begin = Instant::now();
        loop {
            if self.0.calls.load(Ordering::Acquire) == 0 {
                return true;
            }
            if DEPTH.get() != 0 || begin.elapsed() > PATIENCE {
                return false;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

fn write() -> RwLockWriteGuard<'static, Functions> {
    FUNCTIONS.write().unwrap_or_else(PoisonError::into_inner)
}

/// Has devices find a function under a number. It may run on any thread, and on several at
/// once. False: the number is taken.
pub fn register(number: u64, function: impl Fn(&mut HostCall<'_>) + Send + Sync + 'static) -> bool {
    register_as(number, &format!("number {number:#x}"), function)
}

/// Registers a function with a name for reports.
pub(crate) fn register_as(
    number: u64,
    name: &str,
    function: impl Fn(&mut HostCall<'_>) + Send + Sync + 'static,
) -> bool {
    let mut functions = write();
    if functions.contains_key(&number) {
        return false;
    }
    let (run, name, calls) = (Box::new(function), name.into(), AtomicUsize::new(0));
    functions.insert(number, Arc::new(Function { run, name, calls }));
    true
}

/// Takes a function away. None: there is none. Calls that are under way can be waited for.
pub fn remove(number: u64) -> Option<Removed> {
    write().remove(&number).map(Removed)
}

/// Takes a function away, and waits for its calls as [`Removed::wait`] does. False: there is none.
pub fn unregister(number: u64) -> bool {
    remove(number).map(Removed::wait).is_some()
}

/// Has somebody told of calls of functions that are not there; the first one stays.
pub fn on_unknown(tell: OnUnknown) {
    let _ = ON_UNKNOWN.set(tell);
}

/// Has somebody told that a function is about to run on this thread; the first one stays.
pub fn on_call(tell: fn()) {
    let _ = ON_CALL.set(tell);
}

/// A function is about to run on this thread.
pub(crate) fn begins() {
    if let Some(tell) = ON_CALL.get() {
        tell();
    }
}

/// A call that is under way, on this thread.
struct Running {
    function: Arc<Function>,
    /// In which process, as a child has none of the calls of its parent.
    generation: usize,
}

impl Running {
    /// None: there is no such function.
    fn begin(number: u64) -> Option<Self> {
        let functions = FUNCTIONS.read().unwrap_or_else(PoisonError::into_inner);
        let function = functions.get(&number)?.clone();
        // With the lock: whoever takes the function away sees the call.
        function.calls.fetch_add(1, Ordering::Relaxed);
        DEPTH.set(DEPTH.get() + 1);
        Some(Self { function, generation: generation() })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if self.generation == generation() {
            self.function.calls.fetch_sub(1, Ordering::Release);
        }
    }
}

/// What reports call a function.
pub(crate) fn name(number: u64) -> String {
    let functions = FUNCTIONS.read().unwrap_or_else(PoisonError::into_inner);
    functions.get(&number).map_or_else(|| format!("number {number:#x}"), |function| function.name.to_string())
}

/// Runs a function for a device. The call was found `since`, if it had to be.
pub(crate) fn run(device: i32, number: u64, block: &mut [u8], since: Option<u64>) -> HostCallOutcome {
    let Some(running) = Running::begin(number) else {
        if let Some(tell) = ON_UNKNOWN.get() {
            tell(device, number);
        }
        return HostCallOutcome::NoSuchFunction;
    };
    begins();
    let recorded = Recorded::begin(since);
    let bytes = block.len() as u64;
    let mut call = HostCall { device, block };
    // A panic must not reach the device's driver, nor end a worker.
    let outcome = match catch_unwind(AssertUnwindSafe(|| (running.function.run)(&mut call))) {
        Ok(()) => HostCallOutcome::Answered,
        Err(_) => HostCallOutcome::Failed,
    };
    recorded.end(device, &running.function.name, bytes);
    outcome
}

/// Takes the lock, for a fork.
pub(crate) fn hold() -> RwLockWriteGuard<'static, Functions> {
    write()
}

/// In a forked child: the calls that other threads were inside of will not end.
pub(crate) fn forget_calls(functions: &Functions) {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    functions.values().for_each(|function| function.calls.store(0, Ordering::Relaxed));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    static ENTERED: AtomicBool = AtomicBool::new(false);
    static LEFT: AtomicBool = AtomicBool::new(false);

    #[test]
    fn who_takes_a_function_away_waits_for_its_calls() {
        let number = 0x6e6f_7768_6572_6531;
        assert!(register(number, |_| {
            ENTERED.store(true, Ordering::Release);
            std::thread::sleep(Duration::from_millis(50));
            LEFT.store(true, Ordering::Release);
        }));
        let caller = std::thread::spawn(move || run(0, number, &mut [], None));
        while !ENTERED.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        assert!(remove(number).unwrap().wait());
        assert!(LEFT.load(Ordering::Acquire));
        assert_eq!(caller.join().unwrap(), HostCallOutcome::Answered);
        assert!(!unregister(number));
    }

    #[test]
    fn a_function_takes_itself_away() {
        let number = 0x6e6f_7768_6572_6532;
        assert!(register(number, move |_| assert!(!remove(number).unwrap().wait())));
        assert_eq!(run(0, number, &mut [], None), HostCallOutcome::Answered);
        assert_eq!(run(0, number, &mut [], None), HostCallOutcome::NoSuchFunction);
    }

    #[test]
    fn a_function_that_does_not_end_is_not_waited_for_long() {
        let number = 0x6e6f_7768_6572_6533;
        static STUCK: AtomicBool = AtomicBool::new(false);
        assert!(register(number, |_| {
            STUCK.store(true, Ordering::Release);
            loop {
                std::thread::park();
            }
        }));
        std::thread::spawn(move || run(0, number, &mut [], None));
        while !STUCK.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        assert!(!remove(number).unwrap().wait());
    }
}
