//! Contexts; `stack` has those of each thread, `primary` the one that each device has by itself.
//!
//! A context owns streams, modules and memory of one device, and fails as a whole: after a
//! kernel's fault every call that works with it answers the fault's error until it is gone.

mod primary;
mod stack;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use gangway_streams::Blocking;

use crate::abi::status::{Result, Status};
use crate::abi::types::{CUcontext, CUdevice, CUmodule, CUstream};
use crate::objects::device::{Device, HEAP};
use crate::objects::memory;
use crate::objects::program::module::Module;
use crate::objects::stream::Stream;
use crate::objects::table::{Object, object};

pub use primary::{Primary, destroy_primary};
pub use stack::{create_current, current, destroy, find, pop, push, set_current};

/// The flags that a context may have.
pub const FLAGS: u32 = 0xff;
const SCHEDULING: u32 = 0x07;

/// `CUlimit`
pub mod limit {
    pub const STACK_SIZE: u32 = 0;
    pub const MALLOC_HEAP_SIZE: u32 = 2;
    pub const MAX_L2_FETCH_GRANULARITY: u32 = 5;
    pub const COUNT: usize = 7;
}

/// As hardware has them after a context was made: sizes of stack, printf buffer and heap, depth and number of
/// launches by kernels, granularity of the second-level cache, and how much of it persists.
const DEFAULT_LIMITS: [usize; limit::COUNT] = [1024, 1 << 20, HEAP as usize, 2, 2048, 64, 0];

#[derive(Debug)]
pub struct Context {
    pub handle: CUcontext,
    pub device: &'static Device,
    /// The device's primary context, which `cuCtxDestroy` does not destroy.
    pub primary: bool,
    /// Unique in the process.
    pub id: u64,
    /// What `cuCtxGetApiVersion` answers: the version of the function that made it.
    pub api_version: u32,
    pub queues: gangway_streams::Context,
    flags: AtomicU32,
    cache_config: AtomicU32,
    shared_config: AtomicU32,
    destroyed: AtomicBool,
    limits: Mutex<[usize; limit::COUNT]>,
    /// Handles of what goes when the context goes.
    owned: Mutex<Owned>,
    /// Devices whose memory `cuCtxEnablePeerAccess` has made accessible.
    peers: Mutex<Vec<CUdevice>>,
}

#[derive(Debug, Default)]
struct Owned {
    modules: Vec<CUmodule>,
    streams: Vec<CUstream>,
}

/// What `cuCtxGetApiVersion` answers for contexts of current functions.
pub const API_VERSION: u32 = 3020;

object!(Context, 1, invalid: Status::INVALID_CONTEXT);

/// Numbers of contexts, from 1.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Whether this process has had a context at all.
pub fn has_been_created() -> bool {
    NEXT_ID.load(Ordering::Relaxed) > 1
}

impl Context {
    /// A new context, current nowhere.
    pub fn create(
        device: &'static Device,
        flags: u32,
        primary: bool,
        api_version: u32,
    ) -> Result<Arc<Context>> {
        Context::table()
            .insert_with(|handle| Arc::new(Context::with_handle(handle, device, flags, primary, api_version)))
    }

    /// A device's primary context again, after it was destroyed: under the same handle, as with a real driver.
    fn renew(handle: CUcontext, device: &'static Device, flags: u32) -> Result<Arc<Context>> {
        let context = Arc::new(Context::with_handle(handle, device, flags, true, API_VERSION));
        Context::table().replace(handle, Arc::clone(&context)).ok_or(Status::UNKNOWN)?;
        Ok(context)
    }

    fn with_handle(
        handle: CUcontext,
        device: &'static Device,
        flags: u32,
        primary: bool,
        api_version: u32,
    ) -> Context {
        Context {
            handle,
            device,
            primary,
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            api_version,
            queues: gangway_streams::Context::new(),
            flags: AtomicU32::new(flags),
            cache_config: AtomicU32::new(0),
            shared_config: AtomicU32::new(0),
            destroyed: AtomicBool::new(false),
            limits: Mutex::new(DEFAULT_LIMITS),
            owned: Mutex::default(),
            peers: Mutex::default(),
        }
    }

    fn is_destroyed(&self) -> bool {
        self.destroyed.load(Ordering::Acquire)
    }

    /// Whether calls may work with it: neither destroyed nor failed.
    #[inline]
    pub fn usable(&self) -> Result {
        if self.is_destroyed() {
            return Err(Status::CONTEXT_IS_DESTROYED);
        }
        match self.queues.failure() {
            None => Ok(()),
            Some(failure) => Err(Status(failure.code())),
        }
    }

    pub fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed)
    }

    pub fn set_flags(&self, flags: u32) {
        self.flags.store(flags, Ordering::Relaxed);
    }

    pub fn cache_config(&self) -> u32 {
        self.cache_config.load(Ordering::Relaxed)
    }

    pub fn set_cache_config(&self, config: u32) -> Result {
        // CU_FUNC_CACHE_PREFER_EQUAL is the last.
        if config > 3 {
            return Err(Status::INVALID_VALUE);
        }
        self.cache_config.store(config, Ordering::Relaxed);
        Ok(())
    }

    pub fn shared_config(&self) -> u32 {
        self.shared_config.load(Ordering::Relaxed)
    }

    pub fn set_shared_config(&self, config: u32) -> Result {
        if config > 2 {
            return Err(Status::INVALID_VALUE);
        }
        self.shared_config.store(config, Ordering::Relaxed);
        Ok(())
    }

    pub fn limit(&self, limit: u32) -> Result<usize> {
        let limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        limits.get(limit as usize).copied().ok_or(Status::UNSUPPORTED_LIMIT)
    }

    /// Stack and heap are those of the device, whichever of its contexts sets them.
    pub fn set_limit(&self, limit: u32, value: usize) -> Result {
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        let place = limits.get_mut(limit as usize).ok_or(Status::UNSUPPORTED_LIMIT)?;
        *place = match limit {
            limit::STACK_SIZE => {
                self.device.set_stack(value as u64)?;
                value.next_multiple_of(16)
            }
            limit::MALLOC_HEAP_SIZE => {
                self.device.set_heap(value as u64)?;
                value
            }
            limit::MAX_L2_FETCH_GRANULARITY if value > 128 => return Err(Status::INVALID_VALUE),
            _ => value,
        };
        Ok(())
    }

    pub fn add_module(&self, module: CUmodule) {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner).modules.push(module);
    }

    pub fn forget_module(&self, module: CUmodule) {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner).modules.retain(|&other| other != module);
    }

    pub fn add_stream(&self, stream: CUstream) {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner).streams.push(stream);
    }

    pub fn forget_stream(&self, stream: CUstream) {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner).streams.retain(|&other| other != stream);
    }

    /// A new stream with a handle of its own.
    pub fn create_stream(self: &Arc<Self>, blocking: Blocking, priority: i32) -> Result<Arc<Stream>> {
        let stream = Stream::create(self, self.queues.create_stream(blocking, priority))?;
        self.add_stream(stream.handle);
        Ok(stream)
    }

    /// `cuCtxEnablePeerAccess`
    pub fn enable_peer(&self, peer: &Context) -> Result {
        if std::ptr::eq(self.device, peer.device) {
            return Err(Status::INVALID_DEVICE);
        }
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.contains(&peer.device.number()) {
            return Err(Status::PEER_ACCESS_ALREADY_ENABLED);
        }
        peers.push(peer.device.number());
        Ok(())
    }

    pub fn disable_peer(&self, peer: &Context) -> Result {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let index = peers.iter().position(|&number| number == peer.device.number());
        peers.swap_remove(index.ok_or(Status::PEER_ACCESS_NOT_ENABLED)?);
        Ok(())
    }

    /// Ends what runs and takes back everything that the context owns.
    fn destroy(&self) {
        if self.destroyed.swap(true, Ordering::AcqRel) {
            return;
        }
        if !self.primary {
            let _ = Context::table().remove(self.handle);
        }
        // What has begun is waited for: it works on memory that is about to go. From a
        // host function that is not possible, and the memory stays.
        let ended = self.queues.cancel().is_ok();
        let owned = std::mem::take(&mut *self.owned.lock().unwrap_or_else(PoisonError::into_inner));
        for stream in owned.streams {
            let _ = stream.remove();
        }
        for module in owned.modules {
            let _ = Module::unload(module);
        }
        if ended {
            memory::release_all(self);
        }
    }
}

/// At most one way to wait may be chosen.
fn is_scheduling(flags: u32) -> bool {
    matches!(flags & SCHEDULING, 0 | 1 | 2 | 4)
}
