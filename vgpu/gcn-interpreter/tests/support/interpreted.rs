//! Launches on the interpreter.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use gangway_code_object::CodeObject;
use gangway_gcn_interpreter::{Fault, launch};

use crate::support::{Device, Heap, Size};

/// How long a kernel may run, as a rule.
pub const LIMIT: Duration = Duration::from_secs(120);

/// Launches a kernel with 64-bit arguments, for so long.
pub fn run(
    device: &Device<impl Heap>,
    object: &CodeObject<'_>,
    kernel: &str,
    size: Size,
    arguments: &[u64],
    limit: Duration,
) -> Result<(), Box<Fault>> {
    let dispatch = device.dispatch(object, kernel, size, arguments);
    // A kernel that does not end is stopped.
    let (stop, (ended, end)) = (AtomicBool::new(false), mpsc::channel::<()>());
    std::thread::scope(|scope| {
        let stop = &stop;
        scope.spawn(move || {
            let waited = end.recv_timeout(limit);
            stop.store(waited == Err(RecvTimeoutError::Timeout), Ordering::Relaxed);
        });
        let found = launch(&device.memory, &dispatch, stop);
        drop(ended);
        found
    })
}
