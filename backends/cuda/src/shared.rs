//! What a device and its streams share.

use crate::context::Context;
use crate::event::Events;
use crate::launch::Launcher;
use crate::memory::Memory;
use crate::peers::Peers;
use crate::properties::Properties;
use gangway_backend::HostCallService;
use std::sync::{Arc, OnceLock};

/// The device, but for what the runtime alone asks of it. It is closed when the last stream has gone, too.
pub(crate) struct Shared {
    pub context: Arc<Context>,
    pub properties: Arc<Properties>,
    pub memory: Memory,
    pub events: Events,
    pub launcher: Launcher,
    pub peers: Arc<Peers>,
    pub ordinal: usize,
    /// Who looks for calls where no driver hears of them.
    pub looks: OnceLock<HostCallService>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.peers.closed(self.ordinal);
        self.events.clear(&self.context);
        self.memory.close(&self.context);
    }
}
