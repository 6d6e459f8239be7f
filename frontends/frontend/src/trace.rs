//! `GANGWAY_TRACE` and `GANGWAY_REPORT`: the runtime's steps as spans of the recorder, and the
//! regions that the host runs.

use crate::environment::file_variable;
use crate::host::Offload;
use crate::policy;
use crate::state::RUNTIME;
use gangway_backend::SourceLocation;
use gangway_runtime::events::{Site, Step};
use gangway_runtime::{Error, ErrorKind};
use gangway_trace::{Kind, Location, Resources, Running, Shape, Span};
use std::time::Instant;

/// Reads the environment; called once at start-up. Answers whether steps are wanted.
pub(crate) fn start() -> bool {
    if file_variable("GANGWAY_TRACE").or_else(|| file_variable("GANGWAY_REPORT")).is_some() {
        gangway_trace::configure_from_env();
    }
    gangway_trace::enabled()
}

/// A step begins, for the trace and the report.
pub(crate) fn begin(device: i32, site: &Site, step: &Step<'_>, start: Instant) -> Option<Running> {
    if !gangway_trace::enabled() {
        return None;
    }
    let (kind, name, _) = span(step)?;
    gangway_trace::begin(&Span {
        location: site.location().map(in_trace),
        shape: shape(step),
        resources: resources(step),
        ..Span::new(kind, device, name, gangway_trace::at(start))
    })
}

/// Records a step for the trace and the report.
pub(crate) fn record(device: i32, site: &Site, step: &Step<'_>, start: Instant, end: Instant) {
    if !gangway_trace::enabled() {
        return;
    }
    let Some((kind, name, bytes)) = span(step) else { return };
    if matches!(step, Step::Allocate { device: None, .. }) {
        // It has failed.
        return;
    }
    gangway_trace::record(&Span {
        location: site.location().map(in_trace),
        shape: shape(step),
        resources: resources(step),
        bytes: bytes as u64,
        end: gangway_trace::at(end),
        ..Span::new(kind, device, name, gangway_trace::at(start))
    });
}

/// Counts a region that the host runs, for the report; `error` is why no device does, if one was
/// to. Called where the host's version is about to run, with its address.
#[cold]
pub fn ran_on_host(host: usize, site: &Site, error: Option<&Error>) {
    if !gangway_trace::enabled() {
        return;
    }
    let reason = match error {
        Some(error) => first_line(&error.kind),
        None if policy::offload() == Offload::Disabled => "OMP_TARGET_OFFLOAD is DISABLED".to_owned(),
        None if RUNTIME.device_count() == 0 => first_line(&RUNTIME.why_no_devices(site).kind),
        None => gangway_trace::HOST_WAS_ASKED_FOR.to_owned(),
    };
    let location = site.location();
    let name = match (RUNTIME.region_name(host), &location) {
        (Some(name), _) => name.to_owned(),
        (None, Some(at)) => format!("{}:{}", at.function, at.line),
        (None, None) => format!("{host:#x}"),
    };
    gangway_trace::record(&Span {
        location: location.map(in_trace),
        detail: &reason,
        ..Span::new(Kind::OnHost, -1, &name, gangway_trace::now())
    });
}

fn first_line(kind: &ErrorKind) -> String {
    kind.to_string().lines().next().unwrap_or_default().to_owned()
}

fn in_trace(at: SourceLocation<'_>) -> Location<'_> {
    Location { file: at.file, function: at.function, line: at.line, column: at.column }
}

/// The blocks and threads of a launch, on a device that has them.
fn shape(step: &Step<'_>) -> Option<Shape> {
    match step {
        Step::Launch { shape: Some(shape), .. } => Some(Shape { grid: shape.teams, block: shape.threads }),
        _ => None,
    }
}

/// What a kernel takes of its device.
fn resources(step: &Step<'_>) -> Resources {
    match step {
        Step::Launch { launch, .. } => {
            let of = launch.kernel.resources;
            let shared = of.group_memory.map(|fixed| fixed.saturating_add(launch.dynamic_group_memory));
            Resources { registers: of.registers, shared }
        }
        _ => Resources::default(),
    }
}

/// What a step is in the trace's terms.
fn span<'a>(step: &Step<'a>) -> Option<(Kind, &'a str, usize)> {
    Some(match *step {
        Step::Launch { launch, .. } => (Kind::Kernel, launch.name, 0),
        Step::ToDevice { size, label, .. } => (Kind::ToDevice, label.name().unwrap_or(""), size),
        Step::FromDevice { size, label, .. } => (Kind::FromDevice, label.name().unwrap_or(""), size),
        Step::BetweenDevices { size, .. } => (Kind::DeviceToDevice, "", size),
        Step::Allocate { size, label, .. } => (Kind::Allocate, label.name().unwrap_or(""), size),
        Step::Deallocate { .. } => (Kind::Free, "", 0),
        Step::Fill { size, .. } => (Kind::ToDevice, "fill", size),
        Step::Load { image, .. } => (Kind::LoadImage, "", image.len()),
        Step::Associate { .. } | Step::Disassociate { .. } => return None,
    })
}
