//! Primary contexts: the one of a device that everything in a process shares.
//!
//! It is there while it is retained. Its handle stays the same when it is made again.

use std::sync::{Arc, Mutex, PoisonError};

use gangway_device_memory::MAX_DEVICES;

use super::{API_VERSION, Context, is_scheduling};
use crate::abi::number::context_flags;
use crate::abi::{CUcontext, Result, Status};
use crate::objects::device::Device;

/// Those of all devices, by ordinal.
static PRIMARIES: [Mutex<Primary>; MAX_DEVICES] =
    [const { Mutex::new(Primary { context: None, handle: None, retained: 0, flags: 0 }) }; MAX_DEVICES];

/// A device's primary context.
#[derive(Debug)]
pub struct Primary {
    context: Option<Arc<Context>>,
    /// The same for as long as the process.
    handle: Option<CUcontext>,
    retained: u64,
    flags: u32,
}

impl Primary {
    /// Works on what a device has. The lock is held meanwhile: nothing in there may wait.
    pub fn of<T>(device: &Device, work: impl FnOnce(&mut Self) -> T) -> T {
        let primary = &PRIMARIES[device.ordinal() as usize];
        work(&mut primary.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[must_use]
    pub fn active(&self) -> Option<&Arc<Context>> {
        self.context.as_ref()
    }

    #[must_use]
    pub fn flags(&self) -> u32 {
        self.context.as_ref().map_or(self.flags, |context| context.flags())
    }

    pub fn retain(&mut self, device: &'static Device) -> Result<CUcontext> {
        let context = match (&self.context, self.handle) {
            (Some(context), _) => context,
            (None, Some(handle)) => self.context.insert(Context::renew(handle, device, self.flags)?),
            (None, None) => self.context.insert(Context::create(device, self.flags, true, API_VERSION)?),
        };
        self.handle = Some(context.handle);
        self.retained += 1;
        Ok(context.handle)
    }

    /// Gives back what `retain` took; the context that is to be destroyed with the last.
    pub fn release(&mut self) -> Result<Option<Arc<Context>>> {
        self.retained = self.retained.checked_sub(1).ok_or(Status::INVALID_CONTEXT)?;
        Ok(if self.retained == 0 { self.context.take() } else { None })
    }

    /// Forgets the context, even if it is retained.
    pub fn reset(&mut self) -> Option<Arc<Context>> {
        self.retained = 0;
        self.context.take()
    }

    pub fn set_flags(&mut self, flags: u32) -> Result {
        if flags & !context_flags::ALL != 0 || !is_scheduling(flags) {
            return Err(Status::INVALID_VALUE);
        }
        self.flags = flags;
        if let Some(context) = &self.context {
            context.set_flags(flags);
        }
        Ok(())
    }
}

/// A device's primary context, if it is active.
#[must_use]
pub fn active_primary(device: &Device) -> Option<Arc<Context>> {
    Primary::of(device, |primary| primary.active().cloned())
}

/// Destroys a primary context that is not retained any more.
pub fn destroy_primary(context: Option<Arc<Context>>) {
    if let Some(context) = context {
        context.destroy();
    }
}
