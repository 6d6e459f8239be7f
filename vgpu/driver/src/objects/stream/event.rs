//! Events as the driver API knows them: a handle, flags, and the context they were made in.

use std::sync::{Arc, Weak};

use crate::abi::status::{Result, Status};
use crate::abi::types::CUevent;
use crate::objects::context::Context;
use crate::objects::stream::StreamRef;
use crate::objects::table::{Object, object};

/// `CUevent_flags`
pub mod flags {
    pub const BLOCKING_SYNC: u32 = 1;
    pub const DISABLE_TIMING: u32 = 2;
    pub const INTERPROCESS: u32 = 4;
}

/// An event that a program has created.
#[derive(Debug)]
pub struct Event {
    pub handle: CUevent,
    pub event: Arc<gangway_streams::Event>,
    context: Weak<Context>,
}

object!(Event, 8);

impl Event {
    /// How a program waits for it (`BLOCKING_SYNC`) makes no difference here: a wait that takes long always sleeps.
    pub fn create(context: &Arc<Context>, flags: u32) -> Result<Arc<Event>> {
        let known = flags::BLOCKING_SYNC | flags::DISABLE_TIMING | flags::INTERPROCESS;
        let timed = flags & flags::DISABLE_TIMING == 0;
        // Events that processes share have no times.
        if flags & !known != 0 || (flags & flags::INTERPROCESS != 0 && timed) {
            return Err(Status::INVALID_VALUE);
        }
        let context = Arc::downgrade(context);
        Event::table().insert_with(|handle| {
            let event = gangway_streams::Event::with_tag(timed, handle.raw());
            Arc::new(Event { handle, event, context })
        })
    }

    /// The handle of an event, valid or not any more.
    pub fn handle_of(event: &gangway_streams::Event) -> CUevent {
        CUevent::from_raw(event.tag())
    }

    /// An event is only recorded in streams of its own context.
    pub fn check_recordable(&self, stream: &StreamRef) -> Result {
        let own = self.context.upgrade().ok_or(Status::CONTEXT_IS_DESTROYED)?;
        if Arc::ptr_eq(&own, &stream.context) { Ok(()) } else { Err(Status::INVALID_HANDLE) }
    }
}
