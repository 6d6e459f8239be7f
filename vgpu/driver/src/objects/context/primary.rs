//! Primary contexts: the one of a device that everything in a process shares.
//!
//! It is there while somebody has retained it. Its handle stays the same when it is made again.

use std::sync::Arc;

use super::{API_VERSION, Context, FLAGS, is_scheduling};
use crate::abi::status::{Result, Status};
use crate::abi::types::CUcontext;
use crate::objects::device::Device;

/// A device's primary context.
#[derive(Debug, Default)]
pub struct Primary {
    context: Option<Arc<Context>>,
    /// The same for as long as the process.
    handle: Option<CUcontext>,
    retained: u64,
    flags: u32,
}

impl Primary {
    pub fn active(&self) -> Option<&Arc<Context>> {
        self.context.as_ref()
    }

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

    /// Forgets the context, whoever has retained it.
    pub fn reset(&mut self) -> Option<Arc<Context>> {
        self.retained = 0;
        self.context.take()
    }

    pub fn set_flags(&mut self, flags: u32) -> Result {
        if flags & !FLAGS != 0 || !is_scheduling(flags) {
            return Err(Status::INVALID_VALUE);
        }
        self.flags = flags;
        if let Some(context) = &self.context {
            context.set_flags(flags);
        }
        Ok(())
    }
}

/// Destroys a primary context that nobody has retained any more.
pub fn destroy_primary(context: Option<Arc<Context>>) {
    if let Some(context) = context {
        context.destroy();
    }
}
