//! `GANGWAY_TRACE` and `GANGWAY_REPORT`: the runtime's steps as spans of the recorder.

use crate::environment::file_variable;
use gangway_runtime::events::{Site, Step};
use gangway_trace::Span;
use std::time::Instant;

/// Reads the environment; called once at start-up. Answers whether steps are wanted.
pub(crate) fn start() -> bool {
    if file_variable("GANGWAY_TRACE").or_else(|| file_variable("GANGWAY_REPORT")).is_some() {
        gangway_trace::configure_from_env();
    }
    gangway_trace::enabled()
}

/// Records a step for the trace and the report.
pub(crate) fn record(device: i32, site: &Site, step: &Step<'_>, start: Instant, end: Instant) {
    if !gangway_trace::enabled() {
        return;
    }
    let Some((kind, name, bytes)) = span(step) else { return };
    let location = site.location().map(|at| gangway_trace::Location {
        file: at.file,
        function: at.function,
        line: at.line,
        column: at.column,
    });
    gangway_trace::record(&Span {
        location,
        bytes: bytes as u64,
        end: gangway_trace::at(end),
        ..Span::new(kind, device, name, gangway_trace::at(start))
    });
}

/// What a step is in the trace's terms.
fn span<'a>(step: &Step<'a>) -> Option<(gangway_trace::Kind, &'a str, usize)> {
    use gangway_trace::Kind;
    Some(match *step {
        Step::Launch { launch, .. } => (Kind::Kernel, launch.name, 0),
        Step::ToDevice { size, label, .. } => (Kind::ToDevice, label.name().unwrap_or(""), size),
        Step::FromDevice { size, label, .. } => (Kind::FromDevice, label.name().unwrap_or(""), size),
        Step::BetweenDevices { size, .. } => (Kind::DeviceToDevice, "", size),
        Step::Allocate { size, label, device: Some(_), .. } => {
            (Kind::Allocate, label.name().unwrap_or(""), size)
        }
        Step::Deallocate { .. } => (Kind::Free, "", 0),
        Step::Fill { size, .. } => (Kind::ToDevice, "fill", size),
        Step::Load { image, .. } => (Kind::LoadImage, "", image.len()),
        Step::Allocate { .. } | Step::Associate { .. } | Step::Disassociate { .. } => return None,
    })
}
