//! Which side wrote mapped data last (`GANGWAY_CHECK=map`).
//!
//! An observer of the runtime tells a ledger (`gangway-freshness`) what is mapped, copied and launched. What the two
//! sides write is seen by comparing contents where constructs begin and end, and more exactly where that can be had:
//!
//! | side | how accesses are known |
//! |---|---|
//! | virtual GPU | its driver notes each access of a kernel |
//! | other devices | contents before and after a kernel; exactly in code that [tells](crate::host_accesses) them |
//! | host | contents where constructs begin; reads by [pages] that are closed while the device has something newer; exactly in code that [tells](crate::host_accesses) them |
//!
//! So that a launch costs what has changed and not what is mapped, only [pages that have been written](dirty) are compared
//! where the system tells them, and of the virtual GPU's memory only what its kernels say they have written.
//!
//! Mistakes are noted where they are seen, which may be a signal handler, and [told] at the next step of the runtime
//! or at the end.

mod accesses;
mod advice;
mod contents;
mod decode;
mod dirty;
mod handlers;
mod lock;
mod maps;
mod pages;
mod places;
mod told;
mod tracker;
mod uses;
mod watch;

use crate::host_accesses::{self, Heard};
use crate::message::print_line;
use gangway_runtime::events;
use std::sync::atomic::{AtomicU32, Ordering};
use tracker::TRACKER;

/// The process that began: a forked child has none of its findings.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Begins to look. Called once, before a device is opened.
pub(crate) fn start() {
    static WATCH: watch::Watch = watch::Watch;
    PROCESS.store(std::process::id(), Ordering::Relaxed);
    events::wait_for_contents();
    events::observe(&WATCH);
    let why = match host_accesses::tell(&accesses::Accesses) {
        Heard::All => None,
        Heard::Nothing => Some("the program was not started by `gangway run --check=map`"),
        Heard::NotFree => Some("the program has its own `free`"),
    };
    match why {
        None => pages::start(),
        Some(why) => print_line(format_args!(
            "gangway: note: --check=map: {why}; what the host reads is not looked at, but in code of \
             `gangway cc --check=map`"
        )),
    }
    // In the order in which they are taken elsewhere.
    extern "C" fn before() {
        watch::READING.acquire();
        dirty::hold();
        pages::hold();
        TRACKER.acquire();
        advice::hold();
    }
    extern "C" fn after() {
        advice::let_go();
        TRACKER.release();
        pages::let_go();
        dirty::let_go();
        watch::READING.release();
    }
    extern "C" fn after_in_child() {
        after();
        pages::forget_other_threads();
        dirty::stop();
    }
    // SAFETY: functions without parameters, of a library that stays loaded.
    unsafe {
        libc::pthread_atfork(Some(before), Some(after), Some(after_in_child));
        libc::atexit(at_exit);
    }
}

extern "C" fn at_exit() {
    if PROCESS.load(Ordering::Relaxed) != std::process::id() {
        return;
    }
    pages::stop();
    told::tell_waiting();
    advice::tell();
    if pages::were_given_up() {
        print_line(format_args!(
            "gangway: note: --check=map: pages were accessed too often; some reads of the host have not been looked at"
        ));
    }
    if let Some(text) = gangway_findings::told() {
        print_line(format_args!("gangway: {text}"));
    }
}
