//! How a launch ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::fault::Fault;

/// Whether a launch is to end before its blocks have, and with which fault.
#[derive(Debug)]
pub(crate) struct Ending {
    cancelled: AtomicBool,
    /// Raised by the launching thread, to end it: its context has failed.
    stop: Option<Arc<AtomicBool>>,
    fault: Mutex<Option<Box<Fault>>>,
}

impl Ending {
    #[must_use]
    pub fn new(stop: Option<Arc<AtomicBool>>) -> Self {
        Ending { cancelled: AtomicBool::new(false), stop, fault: Mutex::new(None) }
    }

    /// Whether workers are to leave.
    #[must_use]
    pub fn has_come(&self) -> bool {
        let stopped = |stop: &Arc<AtomicBool>| stop.load(Ordering::Relaxed);
        self.cancelled.load(Ordering::Relaxed) || self.stop.as_ref().is_some_and(stopped)
    }

    /// Ends the launch; the first fault counts.
    pub fn fail(&self, fault: Box<Fault>) {
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(fault);
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// How it ended, once no worker is at it.
    pub fn result(&self) -> Result<(), Box<Fault>> {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.take().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::{Facts, Reason};

    fn fault(reason: Reason) -> Box<Fault> {
        Box::new(Fault { reason, report: String::new(), facts: Facts::default() })
    }

    #[test]
    fn the_first_fault_counts() {
        let ending = Ending::new(None);
        assert!(!ending.has_come() && ending.result().is_ok());
        ending.fail(fault(Reason::Assert));
        ending.fail(fault(Reason::Failed));
        assert!(ending.has_come());
        assert_eq!(ending.result().map_err(|fault| fault.reason), Err(Reason::Assert));
    }

    #[test]
    fn who_stops_a_launch_is_no_fault_of_it() {
        let stop = Arc::new(AtomicBool::new(false));
        let ending = Ending::new(Some(stop.clone()));
        assert!(!ending.has_come());
        stop.store(true, Ordering::Relaxed);
        assert!(ending.has_come() && ending.result().is_ok());
    }
}
