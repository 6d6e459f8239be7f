//! `GANGWAY_TRACE` and `GANGWAY_REPORT`: the runtime's steps as spans of the recorder.

use crate::environment::file_variable;
use gangway_backend::DevicePtr;
use gangway_runtime::events::{self, Observer, Site, Step};
use std::cell::RefCell;

/// Reads the environment; called once at start-up.
pub(crate) fn start() {
    static TRACE: Trace = Trace;
    if file_variable("GANGWAY_TRACE").or_else(|| file_variable("GANGWAY_REPORT")).is_some() {
        gangway_trace::configure_from_env();
        if gangway_trace::enabled() {
            events::observe(&TRACE);
        }
    }
}

/// Records steps for the trace and the report.
struct Trace;

thread_local! {
    /// Start times of the steps this thread is in.
    static STARTS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

impl Observer for Trace {
    fn begin(&self, _device: i32, _site: &Site, _step: &Step<'_>) {
        let _ = STARTS.try_with(|starts| starts.borrow_mut().push(gangway_trace::now()));
    }

    fn end(&self, device: i32, site: &Site, step: &Step<'_>) {
        let end = gangway_trace::now();
        let Ok(Some(start)) = STARTS.try_with(|starts| starts.borrow_mut().pop()) else { return };
        let Some((kind, name, bytes)) = span(step) else { return };
        let location = site.location().map(|at| gangway_trace::Location {
            file: at.file,
            function: at.function,
            line: at.line,
            column: at.column,
        });
        gangway_trace::record(&gangway_trace::Span {
            kind,
            device,
            name,
            location,
            bytes: bytes as u64,
            start,
            end,
        });
    }
}

/// What a step is in the trace's terms.
fn span<'a>(step: &Step<'a>) -> Option<(gangway_trace::Kind, &'a str, usize)> {
    use gangway_trace::Kind;
    Some(match *step {
        Step::Launch(launch) => (Kind::Kernel, launch.name, 0),
        Step::ToDevice { size, label, .. } => (Kind::ToDevice, label.name().unwrap_or(""), size),
        Step::FromDevice { size, label, .. } => (Kind::FromDevice, label.name().unwrap_or(""), size),
        Step::BetweenDevices { size, .. } => (Kind::DeviceToDevice, "", size),
        Step::Allocate { size, label, device, .. } if device != DevicePtr::NULL => {
            (Kind::Allocate, label.name().unwrap_or(""), size)
        }
        Step::Deallocate { .. } => (Kind::Free, "", 0),
        Step::Fill { size, .. } => (Kind::ToDevice, "fill", size),
        Step::Load { image, .. } => (Kind::LoadImage, "", image.len()),
        Step::Allocate { .. } | Step::Associate { .. } | Step::Disassociate { .. } => return None,
    })
}
