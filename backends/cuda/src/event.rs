//! Events, which are used over and over: a construct records one, and destroying it gives
//! it back.

use crate::context::Context;
use crate::driver::types::{EVENT_WITHOUT_TIMING, Handle};
use crate::stream::Stream;
use gangway_backend::{EventHandle, Result};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Events that are kept.
const MOST: usize = 256;

/// Events that nobody uses.
#[derive(Default)]
pub(crate) struct Events {
    idle: Mutex<Vec<Handle>>,
}

impl Events {
    fn idle(&self) -> MutexGuard<'_, Vec<Handle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an event at the end of a stream.
    pub fn record(&self, context: &Context, stream: &Stream) -> Result<EventHandle> {
        let event = match self.take() {
            Some(event) => event,
            None => create(context)?,
        };
        // SAFETY: both are alive.
        let recorded =
            context.with("cuEventRecord", |api| unsafe { (api.event_record)(event, stream.handle) });
        match recorded {
            Ok(()) => Ok(EventHandle(event)),
            Err(error) => {
                self.idle().push(event);
                Err(error)
            }
        }
    }

    // The lock is not held while the driver is called.
    fn take(&self) -> Option<Handle> {
        self.idle().pop()
    }

    /// Makes a stream wait for an event.
    pub fn wait(&self, context: &Context, stream: &Stream, event: EventHandle) -> Result<()> {
        // SAFETY: both are alive.
        context.with("cuStreamWaitEvent", |api| unsafe { (api.stream_wait_event)(stream.handle, event.0, 0) })
    }

    /// Gives an event back.
    pub fn give_back(&self, context: &Context, event: EventHandle) -> Result<()> {
        let mut idle = self.idle();
        if idle.len() < MOST {
            idle.push(event.0);
            return Ok(());
        }
        drop(idle);
        // SAFETY: nothing waits for it.
        context.with("cuEventDestroy", |api| unsafe { (api.event_destroy)(event.0) })
    }

    /// Destroys what is kept.
    pub fn clear(&self, context: &Context) {
        for event in std::mem::take(&mut *self.idle()) {
            // SAFETY: nobody uses it.
            let _ = context.with("cuEventDestroy", |api| unsafe { (api.event_destroy)(event) });
        }
    }
}

fn create(context: &Context) -> Result<Handle> {
    let mut event = 0;
    let to = &raw mut event;
    // SAFETY: the driver writes one handle.
    context.within("cuEventCreate", |api| unsafe { (api.event_create)(to, EVENT_WITHOUT_TIMING) })?;
    Ok(event)
}
