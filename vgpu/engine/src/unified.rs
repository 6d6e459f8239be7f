//! Accesses of the host's memory that only a device with unified memory takes: check mode tells
//! them, each line of source once.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use gangway_device_memory::{Space, host_mapping, is_device_address};

use crate::output;

/// How many are told; more are one thing many times.
const MOST: usize = 16;

/// The lines that have been told, or addresses of code where no lines are known.
static TOLD: Mutex<Option<HashSet<(String, u64)>>> = Mutex::new(None);

/// File, line and column of the program's own source.
type Source = (String, u32, u32);

/// An access that the device has made.
#[derive(Clone, Copy)]
pub(crate) struct Made {
    pub address: u64,
    pub size: u64,
    pub write: bool,
}

impl Made {
    /// Whether a device without unified memory would refuse it.
    fn is_refused_elsewhere(self, space: &Space) -> bool {
        let Self { address, size, .. } = self;
        space.shares_host() && !is_device_address(address) && !space.is_host_registered(address, size)
    }

    /// Tells an access of a kernel's in check mode, if it is one to tell: by the code at `pc`, of
    /// which `source` says where it comes from.
    #[cold]
    pub fn tell(self, kernel: &str, pc: u64, source: impl FnOnce() -> Option<Source>) {
        let Ok(space) = Space::get() else { return };
        if !self.is_refused_elsewhere(space) {
            return;
        }
        let source = source();
        let line = source.as_ref().map(|(file, line, _)| (file.clone(), u64::from(*line)));
        // Where the host has no memory, the access is about to fail.
        if let Some(what) = host_mapping(self.address)
            && let Some(last) = is_new(line.unwrap_or((String::new(), pc)))
        {
            output::complain(&self.text(&what, Some(kernel), source.as_ref(), last));
        }
    }

    /// The same where nothing is known about the place, as of what is interpreted: the first one.
    #[cold]
    pub fn tell_first(self, space: &Space) {
        if self.is_refused_elsewhere(space)
            && let Some(what) = host_mapping(self.address)
            && let Some(last) = is_new((String::new(), 0))
        {
            output::complain(&self.text(&what, None, None, last));
        }
    }

    fn text(self, what: &str, kernel: Option<&str>, source: Option<&Source>, last: bool) -> String {
        let Self { address, size, write } = self;
        let kernel = kernel.map_or("a kernel".to_owned(), |kernel| format!("kernel '{kernel}'"));
        let does = if write { "writes" } else { "reads" };
        let mut text = format!(
            "gangway: {kernel} {does} {size} bytes of the host's memory at {address:#x}, {what}: a device \
             without unified memory refuses that\n"
        );
        if let Some((file, line, column)) = source {
            // Writing to a string does not fail.
            let _ = writeln!(text, "  at {file}:{line}:{column}");
        }
        if last {
            text.push_str("  more such accesses are not told\n");
        }
        text
    }
}

/// Whether a place has not been told yet, and is to be: whether it is the last one then.
fn is_new(place: (String, u64)) -> Option<bool> {
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    let told = told.get_or_insert_default();
    (told.len() < MOST && told.insert(place)).then_some(told.len() == MOST)
}
