//! The program's own accesses to memory that devices use as well.
//!
//! All its threads are one here, and what they do is one launch after the other: a new one begins where the program
//! may have learned something, or has submitted something that does not know of what it does next.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::block::{Access, Block};
use crate::device::{Device, Launch, Past};
use crate::finding::{By, Finding, Place};

/// The program, as a device sees it beside its own launches.
#[derive(Debug)]
pub struct Host {
    device: Arc<Device>,
    now: Mutex<Now>,
}

/// The launch that the program is in.
#[derive(Debug, Default)]
struct Now {
    moment: (u64, u64),
    /// The round of the device's numbers.
    round: u64,
    launch: Option<Arc<Launch>>,
    block: Block,
}

/// An access of the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostAccess {
    pub address: u64,
    pub size: u64,
    pub write: bool,
    /// The instruction, by its address.
    pub code: u64,
}

impl Host {
    #[must_use]
    pub fn new(device: &Arc<Device>) -> Self {
        Self { device: device.clone(), now: Mutex::default() }
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program accesses memory, at a moment of its own. `past` is asked for what comes before that moment, that
    /// itself included, when it is new. The races that are new, of the moment before.
    #[must_use]
    pub fn accesses(
        &self,
        access: &HostAccess,
        moment: (u64, u64),
        past: impl FnOnce() -> Arc<dyn Past>,
    ) -> Vec<Finding> {
        let now = &mut *self.now();
        let mut found = Vec::new();
        if now.launch.is_none() || now.moment != moment || now.round != self.device.round() {
            found = now.end();
            let Some(launch) = self.device.launch(1, 1, false, Some(past())) else { return found };
            launch.is_open();
            now.block.start(&launch, 0, 1, 0);
            (now.moment, now.round, now.launch) = (moment, self.device.round(), Some(launch));
        }
        let &HostAccess { address, size, write, code } = access;
        let place = || Place { by: By::Host { code }, ..Place::default() };
        // No program of the device has this number.
        let site = self.device.site(u64::MAX - 1, code, place);
        let (warp, lane, shared, strong, bytes) = (0, 0, false, false, None);
        now.block.access(&Access {
            warp,
            lane,
            address,
            size,
            shared,
            write,
            strong,
            narrow: false,
            bytes,
            site,
        });
        found
    }

    /// The races that are new of the moment that the program is in.
    #[must_use]
    pub fn found(&self) -> Vec<Finding> {
        self.now().end()
    }
}

impl Now {
    fn end(&mut self) -> Vec<Finding> {
        self.launch.take().map_or_else(Vec::new, |launch| launch.end())
    }
}
