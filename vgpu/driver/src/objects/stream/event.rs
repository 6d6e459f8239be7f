//! Events as the driver API knows them: a handle, flags, and the context they were made in.

use std::sync::{Arc, Weak};

use super::StreamRef;
use crate::abi::number::event_flags;
use crate::abi::{CUevent, Result, Status, kind};
use crate::objects::context::Context;
use crate::objects::table::backed;

/// An event that a program has created.
#[derive(Debug)]
pub struct Event {
    pub handle: CUevent,
    pub event: Arc<gangway_streams::Event>,
    context: Weak<Context>,
}

backed!(kind::Event, Event);

impl Event {
    /// How a program waits for it (`BLOCKING_SYNC`) makes no difference here: a wait that takes
    /// long always sleeps.
    pub fn create(context: &Arc<Context>, flags: u32) -> Result<Arc<Self>> {
        let known = event_flags::BLOCKING_SYNC | event_flags::DISABLE_TIMING | event_flags::INTERPROCESS;
        let timed = flags & event_flags::DISABLE_TIMING == 0;
        // Events that processes share have no times.
        if flags & !known != 0 || (flags & event_flags::INTERPROCESS != 0 && timed) {
            return Err(Status::INVALID_VALUE);
        }
        let context = Arc::downgrade(context);
        CUevent::insert_with(|handle| {
            let event = gangway_streams::Event::with_tag(timed, handle.raw());
            Arc::new(Self { handle, event, context })
        })
    }

    /// The handle of an event, valid or not any more.
    #[must_use]
    pub fn handle_of(event: &gangway_streams::Event) -> CUevent {
        CUevent::from_raw(event.tag())
    }

    /// An event is only recorded in streams of its own context.
    pub fn check_recordable(&self, stream: &StreamRef) -> Result {
        let own = self.context.upgrade().ok_or(Status::CONTEXT_IS_DESTROYED)?;
        if Arc::ptr_eq(&own, &stream.context) { Ok(()) } else { Err(Status::INVALID_HANDLE) }
    }
}
