//! The runtime's steps as events of the construct or routine under way.

use super::abi::{API_CUDA, API_OTHER, Construct, Event, EventInfo};
use super::scope::{Told, with_outermost};
use crate::device_type::DeviceType;
use gangway_runtime::events::{self, MappingChange, MappingEvent, Observer, Site, Step};
use std::cell::RefCell;
use std::ffi::CString;

struct Steps;

thread_local! {
    /// The steps that this thread is in, with what the tool has left at their beginning.
    static UNDER_WAY: RefCell<Vec<Under>> = const { RefCell::new(Vec::new()) };
}

/// A step that has begun.
struct Under {
    about: EventInfo,
    /// What the information's name points to.
    #[expect(dead_code, reason = "kept until the step ends")]
    name: Option<CString>,
}

/// Has steps told from now on.
pub(super) fn watch() {
    static STEPS: Steps = Steps;
    events::observe(&STEPS);
}

/// The events of a step.
enum Kind {
    Launch,
    Upload,
    Download,
    Alloc,
    Free,
    Create,
    Delete,
}

fn kind(step: &Step<'_>) -> Option<Kind> {
    Some(match step {
        Step::Launch { .. } => Kind::Launch,
        Step::ToDevice { .. } => Kind::Upload,
        Step::FromDevice { .. } => Kind::Download,
        Step::Allocate { .. } => Kind::Alloc,
        Step::Deallocate { .. } => Kind::Free,
        Step::Associate { .. } => Kind::Create,
        Step::Disassociate { .. } => Kind::Delete,
        _ => return None,
    })
}

/// What follows from a construct is implicit; what a routine does is what its caller has asked for.
fn of(construct: Construct) -> EventInfo {
    EventInfo::new(construct, construct != Construct::RuntimeApi)
}

/// What is told of a step of a construct or routine.
fn about(step: &Step<'_>, construct: Construct) -> Under {
    let plain = of(construct);
    let null = std::ptr::null();
    let (about, name) = match *step {
        Step::Launch { launch, .. } => {
            let name = CString::new(launch.name).ok();
            let size = |size: u32| size.max(1) as usize;
            let gangs = launch.teams.iter().fold(1, |all: u32, count| all.saturating_mul((*count).max(1)));
            let words = [gangs, launch.thread_limit[1], launch.thread_limit[0]].map(size);
            (plain.with(name.as_ref().map_or(null, |name| name.as_ptr()), words), name)
        }
        Step::ToDevice { host, device, size, .. } | Step::FromDevice { host, device, size, .. } => {
            (plain.with(null, [size, host, device.0]), None)
        }
        Step::Allocate { device, size, .. } => {
            (plain.with(null, [size, 0, device.map_or(0, |device| device.0)]), None)
        }
        Step::Deallocate { device } => (plain.with(null, [usize::MAX, 0, device.0]), None),
        Step::Associate { host, device, size } => (plain.with(null, [size, host, device.0]), None),
        Step::Disassociate { host, removed: Some((device, size)) } => {
            (plain.with(null, [size, host, device.0]), None)
        }
        _ => (plain, None),
    };
    Under { about, name }
}

fn dispatch(told: &mut Told, event: Event, about: &mut EventInfo) {
    let is_amds = told.api.device_type == DeviceType::Radeon as i32;
    told.api.device_api = if is_amds { API_OTHER } else { API_CUDA };
    told.dispatch(event, about);
}

impl Observer for Steps {
    fn mapping(&self, _device: i32, mapping: &MappingEvent) {
        let event = match mapping.change {
            MappingChange::Created => Event::Create,
            MappingChange::Removed => Event::Delete,
            _ => return,
        };
        with_outermost(|told| {
            let name = mapping.label.name().and_then(|name| CString::new(name).ok());
            let name = name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
            let words = [mapping.size, mapping.host, mapping.device.0];
            dispatch(told, event, &mut of(told.construct).with(name, words));
        });
    }

    fn begin(&self, _device: i32, _site: &Site, step: &Step<'_>) {
        with_outermost(|told| {
            let Some(kind) = kind(step) else { return };
            let event = match kind {
                Kind::Launch => Event::EnqueueLaunchStart,
                Kind::Upload => Event::EnqueueUploadStart,
                Kind::Download => Event::EnqueueDownloadStart,
                // Told when it has happened.
                Kind::Alloc | Kind::Free | Kind::Create | Kind::Delete => return,
            };
            if matches!(kind, Kind::Launch) {
                told.end_of_entering();
            }
            let mut under = about(step, told.construct);
            dispatch(told, event, &mut under.about);
            UNDER_WAY.with_borrow_mut(|steps| steps.push(under));
        });
    }

    fn end(&self, _device: i32, _site: &Site, step: &Step<'_>) {
        with_outermost(|told| {
            let Some(kind) = kind(step) else { return };
            let event = match kind {
                Kind::Alloc => {
                    if matches!(step, Step::Allocate { device: Some(_), .. }) {
                        dispatch(told, Event::Alloc, &mut about(step, told.construct).about);
                    }
                    return;
                }
                Kind::Free => return dispatch(told, Event::Free, &mut about(step, told.construct).about),
                Kind::Create => return dispatch(told, Event::Create, &mut about(step, told.construct).about),
                Kind::Delete => {
                    if matches!(step, Step::Disassociate { removed: Some(_), .. }) {
                        dispatch(told, Event::Delete, &mut about(step, told.construct).about);
                    }
                    return;
                }
                Kind::Launch => Event::EnqueueLaunchEnd,
                Kind::Upload => Event::EnqueueUploadEnd,
                Kind::Download => Event::EnqueueDownloadEnd,
            };
            if let Some(mut under) = UNDER_WAY.with_borrow_mut(Vec::pop) {
                dispatch(told, event, &mut under.about);
            }
            if matches!(kind, Kind::Launch) {
                told.start_of_exiting();
            }
        });
    }
}
