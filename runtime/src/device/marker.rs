//! Points in the queues of a device.

use super::Device;
use crate::error::Result;
use gangway_backend::{EventHandle, Stream};
use std::sync::Arc;

/// An event, destroyed with its last user.
pub(crate) struct Event {
    pub(crate) device: &'static Device,
    pub(crate) handle: EventHandle,
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(opened) = self.device.open() {
            // Nothing can be done about an event that cannot be destroyed.
            let _ = opened.device.destroy_event(self.handle);
        }
    }
}

/// A point in a queue, for other queues of the device to wait for.
pub struct Marker {
    pub(crate) device: &'static Device,
    /// `None`: what was before it is done.
    pub(crate) event: Option<Arc<Event>>,
}

impl Marker {
    /// Waits until what was issued before it is done: in a stream of the device's pool,
    /// which comes behind it.
    ///
    /// # Errors
    /// What the driver says.
    pub fn wait(&self) -> Result<()> {
        let Some(event) = &self.event else { return Ok(()) };
        let opened = self.device.open()?;
        let behind = |stream: &dyn Stream| stream.wait(event.handle);
        self.device.at_once(opened, behind).map_err(|error| self.device.backend_error(error))
    }
}
