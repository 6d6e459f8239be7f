//! The runtime's steps, timed once for all who record them.

use crate::{profile, trace};
use gangway_runtime::events::{self, Observer, Site, Step};
use gangway_trace::Running;
use std::cell::RefCell;
use std::time::Instant;

/// Reads the environment; called once at start-up.
pub(crate) fn start() {
    static STEPS: Steps = Steps;
    let (profiled, traced) = (profile::start(), trace::start());
    if profiled || traced {
        events::observe(&STEPS);
        events::wait_for_operations();
    }
}

struct Steps;

thread_local! {
    /// When the steps began that this thread is in, and what the recorder knows of them.
    static STARTS: RefCell<Vec<(Instant, Option<Running>)>> = const { RefCell::new(Vec::new()) };
}

impl Observer for Steps {
    fn begin(&self, device: i32, site: &Site, step: &Step<'_>) {
        let start = Instant::now();
        let running = trace::begin(device, site, step, start);
        let _ = STARTS.try_with(|starts| starts.borrow_mut().push((start, running)));
    }

    fn end(&self, device: i32, site: &Site, step: &Step<'_>) {
        let end = Instant::now();
        let Ok(Some((start, running))) = STARTS.try_with(|starts| starts.borrow_mut().pop()) else { return };
        drop(running);
        trace::record(device, site, step, start, end);
        profile::record(site, step, start, end);
    }
}
