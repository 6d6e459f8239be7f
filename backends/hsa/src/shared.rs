//! What a device and its streams have in common.

use crate::agent::Agent;
use crate::arguments::Arguments;
use crate::fault::Faults;
use crate::memory::Memory;
use crate::queue::Queue;
use crate::settings::Settings;
use crate::signal::Signals;
use gangway_backend::{Error, HostCallService, Result, Suspect};
use gangway_device_code::Wishes;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// Queues that are kept for later streams: a device has few of them in hardware.
const KEPT_QUEUES: usize = 8;

/// A stream, as those see it who look for the kernel that has failed.
pub(crate) trait Running: Send + Sync {
    /// The kernel that may be under way, if the stream has the queue.
    fn suspect(&self, queue: Option<u64>) -> Option<Suspect>;

    /// Whether no kernel is under way.
    fn is_quiet(&self) -> bool;
}

/// What they have in common.
pub(crate) struct Shared {
    pub agent: Arc<Agent>,
    pub faults: Arc<Faults>,
    pub signals: Arc<Signals>,
    pub memory: Memory,
    pub arguments: Arguments,
    pub wishes: Wishes,
    pub forced_teams: Option<NonZeroU32>,
    pub forced_threads: Option<NonZeroU32>,
    /// Bytes of dynamic group memory that every team of LLVM's kernels gets at least.
    pub group_memory: u32,
    /// Whoever serves host calls, and looks for them while kernels are under way.
    pub looks: OnceLock<HostCallService>,
    pub ordinal: usize,
    /// Queues without a stream.
    queues: Mutex<Vec<Queue>>,
    streams: Mutex<Vec<Weak<dyn Running>>>,
}

impl Shared {
    pub fn new(agent: Agent, ordinal: usize, settings: &Settings) -> Arc<Self> {
        let agent = Arc::new(agent);
        Arc::new(Self {
            faults: Faults::of(agent.driver, agent.handle),
            signals: Signals::new(agent.driver),
            memory: Memory::default(),
            arguments: Arguments::default(),
            wishes: settings.kernels.wishes,
            group_memory: settings.kernels.shared_memory,
            looks: OnceLock::new(),
            forced_teams: settings.forced_teams,
            forced_threads: settings.forced_threads,
            ordinal,
            queues: Mutex::default(),
            streams: Mutex::default(),
            agent,
        })
    }

    /// A queue for a stream.
    pub fn take_queue(&self) -> Result<Queue> {
        let kept = self.queues.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.map_or_else(|| Queue::create(&self.agent, &self.faults), Ok)
    }

    /// A stream's queue, in which nothing is left, is free.
    pub fn give_queue_back(&self, queue: Queue) {
        if !self.faults.has() {
            let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
            if queues.len() < KEPT_QUEUES {
                queues.push(queue);
                return;
            }
        }
        // SAFETY: nothing is in it, or the device is lost.
        unsafe { queue.destroy(&self.agent) };
    }

    fn streams(&self) -> MutexGuard<'_, Vec<Weak<dyn Running>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps account of a stream.
    pub fn add_stream(&self, stream: Weak<dyn Running>) {
        let mut streams = self.streams();
        streams.retain(|known| known.strong_count() > 0);
        streams.push(stream);
    }

    fn running(&self) -> Vec<Arc<dyn Running>> {
        self.streams().iter().filter_map(Weak::upgrade).collect()
    }

    /// Whether no kernel is under way.
    pub fn is_quiet(&self) -> bool {
        self.running().iter().all(|stream| stream.is_quiet())
    }

    /// The fault that has put an end to the device. The caller has no stream's lock.
    #[cold]
    pub fn fault(&self) -> Error {
        let streams = self.running();
        self.faults.error(self.agent.driver, |queue| {
            streams.iter().filter_map(|stream| stream.suspect(queue)).collect()
        })
    }

    /// Whether the device can be used.
    ///
    /// # Errors
    /// It is lost.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.faults.has() { Err(self.fault()) } else { Ok(()) }
    }

    /// Gives the library what is kept.
    pub fn trim(&self) {
        let queues = std::mem::take(&mut *self.queues.lock().unwrap_or_else(PoisonError::into_inner));
        for queue in queues {
            // SAFETY: nothing is in it.
            unsafe { queue.destroy(&self.agent) };
        }
        self.signals.trim();
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.trim();
        // SAFETY: the device and its streams have gone.
        unsafe { self.arguments.free(&self.agent) };
    }
}
