//! A device for tests: its memory is a map of allocations that notices every
//! misuse, it does what it is told at the worst moment, and it fails on demand.
//!
//! | module | |
//! |---|---|
//! | [`memory`] | device memory, and the rules of the back-end interface |
//! | [`streams`] | asynchronous execution: as late as possible, or on a thread of its own |
//! | [`device`] | the back end itself |
//! | [`clauses`] | random programs of map clauses |
//! | [`comparison`] | such programs, run on a device and on the model |
//! | [`construct`] | list items and constructs, as a front end passes them |
//! | [`model`] | what the specification says should happen |
//! | [`null`] | a back end that only counts |
//! | [`options`] | kinds of devices, and the calls that they count |

#![allow(dead_code, reason = "each test program uses its part")]

pub mod clauses;
pub mod comparison;
pub mod construct;
pub mod device;
pub mod memory;
pub mod model;
pub mod null;
pub mod options;
pub mod streams;

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How many cases a property test tries: `PROPTEST_CASES`, if it is set, or `usual`.
pub fn cases(usual: u32) -> u32 {
    match std::env::var("PROPTEST_CASES") {
        Ok(cases) => cases.parse().expect("PROPTEST_CASES is a number"),
        Err(_) => usual,
    }
}

/// Runs a test that could hang, on a thread, with a limit.
///
/// # Panics
/// It panicked, or did not end in time.
pub fn within(seconds: u64, test: impl FnOnce() + Send + 'static) {
    let (done, wait) = channel();
    let thread = std::thread::spawn(move || {
        test();
        let _ = done.send(());
    });
    match wait.recv_timeout(Duration::from_secs(seconds)) {
        Ok(()) => thread.join().unwrap(),
        Err(RecvTimeoutError::Disconnected) => std::panic::resume_unwind(thread.join().unwrap_err()),
        Err(RecvTimeoutError::Timeout) => panic!("no end after {seconds} s: a deadlock"),
    }
}
