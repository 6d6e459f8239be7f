//! What callbacks are told of one construct or routine.

use super::abi::{API_NONE, ApiInfo, Construct, Event, EventInfo, ProfInfo};
use super::registry;
use std::cell::Cell;
use std::ptr::NonNull;

/// Of the construct or routine.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) information: ProfInfo,
    pub(super) api: ApiInfo,
    /// What of the specification's it is.
    pub(super) construct: Construct,
    /// The data of the compute construct under way.
    data: Option<EventInfo>,
}

thread_local! {
    /// That of the outermost one that this thread is in.
    static OUTERMOST: Cell<Option<NonNull<Told>>> = const { Cell::new(None) };
}

impl Told {
    pub(super) fn new() -> Self {
        let null = std::ptr::null();
        Self {
            information: ProfInfo {
                event_type: -1,
                valid_bytes: size_of::<ProfInfo>() as i32,
                // Callbacks are told that of their own headers.
                version: 0,
                device_type: -1,
                device_number: -1,
                thread_id: -1,
                asynchronous: 0,
                queue: 0,
                source_file: std::ptr::null(),
                function: std::ptr::null(),
                lines: [-1; 4],
            },
            api: ApiInfo {
                device_api: API_NONE,
                valid_bytes: size_of::<ApiInfo>() as i32,
                device_type: -1,
                vendor: -1,
                device_handle: null,
                context_handle: null,
                async_handle: null,
            },
            construct: Construct::RuntimeApi,
            data: None,
        }
    }

    /// The data of a compute construct is there: its kernel is launched.
    pub(super) fn end_of_entering(&mut self) {
        if let Some(mut data) = self.data.take() {
            self.dispatch(Event::EnterDataEnd, &mut data);
            self.data = Some(data);
        }
    }

    /// The kernel has been launched: the data of its construct is given up.
    pub(super) fn start_of_exiting(&mut self) {
        if let Some(mut data) = self.data.take() {
            data.tool_info = std::ptr::null_mut();
            self.dispatch(Event::ExitDataStart, &mut data);
            self.data = Some(data);
        }
    }

    /// Calls the callbacks of an event that is about a queue.
    pub(super) fn dispatch_for(&mut self, queue: i32, event: Event, about: &mut EventInfo) {
        let queue = queue as isize;
        let own = (self.information.asynchronous, self.information.queue);
        (self.information.asynchronous, self.information.queue) = (queue, queue);
        self.dispatch(event, about);
        (self.information.asynchronous, self.information.queue) = own;
    }

    /// Calls the callbacks of an event.
    pub(super) fn dispatch(&mut self, event: Event, about: &mut EventInfo) {
        if !registry::is_enabled() {
            return;
        }
        // A callback may call routines, of which there are events, too.
        let outer = std::mem::replace(&mut self.information.event_type, event as i32);
        about.event_type = event as i32;
        // SAFETY: of all events but errors it is this.
        unsafe { registry::call(&mut self.information, about, &mut self.api) };
        self.information.event_type = outer;
    }
}

/// What callbacks are told as long as a construct or routine lasts; nothing if no tool is there.
#[derive(Debug)]
pub struct Scope {
    told: Option<NonNull<Told>>,
    /// It is the thread's outermost one.
    outermost: bool,
}

/// Something with a beginning and an end.
#[derive(Debug)]
pub struct Span(Option<EventInfo>);

impl Scope {
    /// Begins a scope on a device, by type and number.
    #[inline]
    #[must_use]
    pub fn begin(device: (i32, i32), asynchronous: i32) -> Self {
        if registry::is_enabled() { Self::begin_told(device, asynchronous) } else { Self::NONE }
    }

    /// Nothing is told.
    const NONE: Self = Self { told: None, outermost: false };

    #[cold]
    fn begin_told((device_type, device_number): (i32, i32), asynchronous: i32) -> Self {
        // A routine that a construct calls is part of the construct.
        if OUTERMOST.get().is_some() {
            return Self::NONE;
        }
        let mut told = Told::new();
        told.information.device_type = device_type;
        told.information.device_number = device_number;
        told.api.device_type = device_type;
        let told = NonNull::from(Box::leak(Box::new(told)));
        OUTERMOST.set(Some(told));
        let mut scope = Self { told: Some(told), outermost: true };
        scope.set_asynchronous(asynchronous);
        scope
    }

    /// A scope of its own, of which the steps of the runtime are no events: a device's start.
    #[must_use]
    pub fn apart(device_type: i32, device_number: i32, asynchronous: i32) -> Self {
        if !registry::is_enabled() {
            return Self::NONE;
        }
        let mut told = Told::new();
        told.information.device_type = device_type;
        told.information.device_number = device_number;
        told.api.device_type = device_type;
        let mut scope = Self { told: Some(NonNull::from(Box::leak(Box::new(told)))), outermost: false };
        scope.set_asynchronous(asynchronous);
        scope
    }

    fn told(&mut self) -> Option<&mut Told> {
        // SAFETY: leaked when the scope was made, freed when it is dropped, and of this thread.
        self.told.map(|mut told| unsafe { told.as_mut() })
    }

    /// The queue has become known.
    #[inline]
    pub fn set_asynchronous(&mut self, asynchronous: i32) {
        if let Some(told) = self.told() {
            told.information.asynchronous = asynchronous as isize;
            told.information.queue = asynchronous as isize;
        }
    }

    /// It is part of a construct, of which nothing else is told.
    pub fn set_construct(&mut self, construct: Construct) {
        if let Some(told) = self.told() {
            told.construct = construct;
        }
    }

    /// It runs on a device of another type.
    pub fn set_device_type(&mut self, device_type: i32) {
        if let Some(told) = self.told() {
            told.information.device_type = device_type;
            told.api.device_type = device_type;
        }
    }

    /// Tells that something begins.
    #[inline]
    pub fn start(&mut self, event: Event, parent: Construct, implicit: bool) -> Span {
        let Some(told) = self.told() else { return Span(None) };
        told.construct = parent;
        let mut about = EventInfo::new(parent, implicit);
        told.dispatch(event, &mut about);
        Span(Some(about))
    }

    /// Tells that it ends. The tool finds what it has left with its beginning.
    #[inline]
    pub fn end(&mut self, event: Event, span: &mut Span) {
        if let (Some(told), Span(Some(about))) = (self.told(), span) {
            told.dispatch(event, about);
        }
    }

    /// Tells that the data of a compute construct is entered. Its launch, as a step of the
    /// runtime's, tells that this ends and that the data is given up again.
    #[inline]
    pub fn begin_data(&mut self) {
        if let Some(told) = self.told() {
            let mut about = EventInfo::new(told.construct, true);
            told.dispatch(Event::EnterDataStart, &mut about);
            told.data = Some(about);
        }
    }

    /// Tells that the data has been given up.
    #[inline]
    pub fn end_data(&mut self) {
        if let Some(told) = self.told()
            && let Some(mut about) = told.data.take()
        {
            told.dispatch(Event::ExitDataEnd, &mut about);
        }
    }
}

impl Drop for Scope {
    #[inline]
    fn drop(&mut self) {
        if let Some(told) = self.told {
            if self.outermost {
                OUTERMOST.set(None);
            }
            // SAFETY: leaked when the scope was made.
            drop(unsafe { Box::from_raw(told.as_ptr()) });
        }
    }
}

/// Does something with what the thread's outermost scope is told, if it is in one.
pub(super) fn with_outermost(then: impl FnOnce(&mut Told)) {
    if let Some(mut told) = OUTERMOST.get() {
        // SAFETY: set as long as the scope lives, which is of this thread.
        then(unsafe { told.as_mut() });
    }
}
