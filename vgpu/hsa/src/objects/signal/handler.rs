//! Functions that are called when a signal's value meets a condition (`hsa_amd_signal_async_handler`),
//! or as soon as may be (`hsa_amd_async_function`): by one thread, in turn, as in ROCm.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use super::wait::{Condition, watch};
use super::{Signal, wake_watchers};
use crate::abi::pointer::Opaque;
use crate::abi::{Result, Status};

/// `hsa_amd_signal_handler`: whether it is to be called again.
pub type Handler = extern "C" fn(i64, Opaque) -> bool;
/// The function of `hsa_amd_async_function`.
pub type Function = extern "C" fn(Opaque);

#[derive(Clone, Copy, Debug)]
struct Waiting {
    signal: Signal,
    condition: Condition,
    handler: Handler,
    argument: Opaque,
}

enum Due {
    Handler(Waiting, i64),
    Function(Function, Opaque),
}

struct Handlers {
    waiting: Vec<Waiting>,
    functions: VecDeque<(Function, Opaque)>,
}

static HANDLERS: Mutex<Handlers> = Mutex::new(Handlers { waiting: Vec::new(), functions: VecDeque::new() });

fn handlers() -> MutexGuard<'static, Handlers> {
    HANDLERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has a function called when a condition holds.
pub fn add(signal: Signal, condition: Condition, handler: Handler, argument: Opaque) -> Result {
    start()?;
    signal.be_watched();
    handlers().waiting.push(Waiting { signal, condition, handler, argument });
    wake_watchers();
    Ok(())
}

/// Has a function called.
pub fn call(function: Function, argument: Opaque) -> Result {
    start()?;
    handlers().functions.push_back((function, argument));
    wake_watchers();
    Ok(())
}

/// Nothing that was asked for is called any more.
pub fn forget_all() {
    let mut handlers = handlers();
    handlers.waiting.clear();
    handlers.functions.clear();
}

/// Starts the thread; once in a process.
fn start() -> Result {
    static ONCE: Once = Once::new();
    let mut started = true;
    ONCE.call_once(|| {
        let thread = std::thread::Builder::new().name("gangway-hsa-events".to_owned());
        started = thread.spawn(run).is_ok();
    });
    if started { Ok(()) } else { Err(Status::ERROR_OUT_OF_RESOURCES) }
}

fn run() {
    loop {
        let due = watch(|| !handlers().waiting.is_empty(), next);
        match due {
            // No lock is held: the function may call whatever it likes.
            Due::Handler(waiting, value) => {
                if (waiting.handler)(value, waiting.argument) {
                    handlers().waiting.push(waiting);
                }
            }
            Due::Function(function, argument) => function(argument),
        }
    }
}

/// Takes what is to be called out of its list.
fn next() -> Option<Due> {
    let mut handlers = handlers();
    if let Some((function, argument)) = handlers.functions.pop_front() {
        return Some(Due::Function(function, argument));
    }
    let held = |waiting: &Waiting| {
        let value = waiting.signal.load();
        waiting.condition.holds(value).then_some(value)
    };
    let (at, value) =
        handlers.waiting.iter().enumerate().find_map(|(at, waiting)| Some((at, held(waiting)?)))?;
    Some(Due::Handler(handlers.waiting.remove(at), value))
}
