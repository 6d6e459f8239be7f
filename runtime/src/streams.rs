//! Streams that the program owns, for front ends whose interface hands them out
//! (OpenMP `interop` objects).
//!
//! The streams of jobs never come here: they belong to the device's pool.

use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use gangway_backend::{ForeignRuntime, StreamHandle};

/// A stream of a device that nothing of the runtime's own goes through.
pub struct Stream {
    device: &'static Device,
    handle: StreamHandle,
}

impl Stream {
    /// Creates a stream; `None` on synchronous devices, which have none.
    ///
    /// # Errors
    /// The device cannot be opened, or what the driver says.
    pub fn create(device: &'static Device) -> Result<Option<Self>> {
        let opened = device.open()?;
        if !opened.capabilities.asynchronous {
            return Ok(None);
        }
        let handle = opened.device.create_stream().map_err(|error| device.backend_error(error))?;
        Ok(Some(Self { device, handle }))
    }

    /// The foreign runtime's handle of it.
    #[must_use]
    pub fn foreign(&self) -> usize {
        self.device.open().map_or(0, |opened| opened.device.foreign_stream(self.handle))
    }

    /// Waits until all operations in it are done.
    ///
    /// # Errors
    /// One of them failed.
    pub fn synchronize(&self) -> Result<()> {
        self.device
            .open()?
            .device
            .synchronize(self.handle)
            .map_err(|error| Error::new(ErrorKind::Backend(error), self.device.number(), None))
    }

    /// Waits for the stream and destroys it. It is destroyed even if one of its
    /// operations failed.
    ///
    /// # Errors
    /// An operation failed, or what the driver says.
    pub fn destroy(self) -> Result<()> {
        let waited = self.synchronize();
        let destroyed = self.device.open()?.device.destroy_stream(self.handle);
        waited.and(destroyed.map_err(|error| self.device.backend_error(error)))
    }
}

/// The runtime underneath a device's back end, if programs can call it; opens
/// the device.
///
/// # Errors
/// The device cannot be opened.
pub fn foreign_runtime(device: &'static Device) -> Result<Option<ForeignRuntime>> {
    Ok(device.open()?.device.foreign_runtime())
}
