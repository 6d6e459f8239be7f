//! Contexts; `stack` has those of each thread, `primary` the one that each device has by itself.
//!
//! A context owns streams, modules and memory of one device, and fails as a whole. After a kernel's
//! fault every call that works with it answers the fault's error until it is gone. What streams and
//! modules are is decided above this room. A context knows them only as [`Dependent`]s, which it
//! ends with itself.

mod primary;
mod stack;

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use gangway_device_memory::{AllocationKind, Request};

use crate::abi::number::{context_flags, last_config, limit};
use crate::abi::{CUcontext, CUdevice, Handle, Result, Status, kind};
use crate::objects::device::{Device, HEAP};
use crate::objects::memory::{self, Owner};
use crate::objects::process::state;
use crate::objects::table::backed;

pub use primary::{Primary, active_primary, destroy_primary};
pub use stack::{create_current, current, destroy, find, pop, push, set_current};

/// Something that a program has made in a context, and that ends with it.
pub trait Dependent: Debug + Send + Sync {
    /// The context is being destroyed; nothing runs in it any more.
    fn context_ends(&self);
}

/// As hardware has them after a context was made. They are the sizes of stack, printf buffer and
/// heap, and the depth and number of launches by kernels. The last two are of the second-level
/// cache: its granularity, and how much of it persists.
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
    /// What ends with the context, by handle.
    dependents: Mutex<HashMap<usize, Weak<dyn Dependent>>>,
    /// Devices whose memory `cuCtxEnablePeerAccess` has made accessible.
    peers: Mutex<Vec<CUdevice>>,
}

/// What `cuCtxGetApiVersion` answers for contexts of current functions.
pub const API_VERSION: u32 = 3020;

backed!(kind::Context, Context);

/// Numbers of contexts, from 1.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Whether this process has had a context at all.
#[must_use]
pub fn has_been_created() -> bool {
    NEXT_ID.load(Ordering::Relaxed) > 1
}

impl Context {
    /// A new context, current nowhere.
    pub fn create(device: &'static Device, flags: u32, primary: bool, api_version: u32) -> Result<Arc<Self>> {
        CUcontext::insert_with(|handle| {
            Arc::new(Self::with_handle(handle, device, flags, primary, api_version))
        })
    }

    /// A device's primary context again, after it was destroyed: under the same handle, as with a
    /// real driver.
    fn renew(handle: CUcontext, device: &'static Device, flags: u32) -> Result<Arc<Self>> {
        let context = Arc::new(Self::with_handle(handle, device, flags, true, API_VERSION));
        handle.replace(Arc::clone(&context)).map_err(|_| Status::UNKNOWN)?;
        Ok(context)
    }

    fn with_handle(
        handle: CUcontext,
        device: &'static Device,
        flags: u32,
        primary: bool,
        api_version: u32,
    ) -> Self {
        Self {
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
            dependents: Mutex::default(),
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

    #[must_use]
    pub fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed)
    }

    pub fn set_flags(&self, flags: u32) {
        self.flags.store(flags, Ordering::Relaxed);
    }

    #[must_use]
    pub fn cache_config(&self) -> u32 {
        self.cache_config.load(Ordering::Relaxed)
    }

    pub fn set_cache_config(&self, config: u32) -> Result {
        if config > last_config::CACHE_PREFER_EQUAL {
            return Err(Status::INVALID_VALUE);
        }
        self.cache_config.store(config, Ordering::Relaxed);
        Ok(())
    }

    #[must_use]
    pub fn shared_config(&self) -> u32 {
        self.shared_config.load(Ordering::Relaxed)
    }

    pub fn set_shared_config(&self, config: u32) -> Result {
        if config > last_config::SHARED_EIGHT_BYTE_BANK {
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
            limit::MALLOC_HEAP_SIZE | limit::PRINTF_FIFO_SIZE if value as u64 > self.device.memory() => {
                return Err(Status::OUT_OF_MEMORY);
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

    fn dependents<T>(&self, work: impl FnOnce(&mut HashMap<usize, Weak<dyn Dependent>>) -> T) -> T {
        work(&mut self.dependents.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Has something end with the context. Refused once the context is being destroyed.
    pub fn adopt<K, T: Dependent + 'static>(&self, handle: Handle<K>, dependent: &Arc<T>) -> Result {
        let dependent: Weak<dyn Dependent> = Arc::<T>::downgrade(dependent);
        self.dependents(|dependents| {
            // Looked at under the lock, so that `destroy` finds what comes before.
            if self.is_destroyed() {
                return Err(Status::CONTEXT_IS_DESTROYED);
            }
            dependents.insert(handle.raw(), dependent);
            Ok(())
        })
    }

    /// Something that it has adopted has ended by itself.
    pub fn forget<K>(&self, handle: Handle<K>) {
        self.dependents(|dependents| dependents.remove(&handle.raw()));
    }

    fn owner(&self, flags: u32) -> Owner {
        Owner { context: self.handle, context_id: self.id, flags }
    }

    /// Allocates in the name of the context; `call` is the function that the program has called.
    pub fn allocate(&self, size: usize, kind: AllocationKind, flags: u32, call: &str) -> Result<u64> {
        if size == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let request = Request::new(self.device.ordinal(), size as u64, kind).name(call);
        let address = memory::allocate(&request, self.owner(flags))?;
        // Another thread may have destroyed the context, and what it had, in between.
        self.usable().inspect_err(|_| {
            let _ = memory::free(address, &[kind]);
        })?;
        Ok(address)
    }

    /// Registers host memory in the name of the context.
    pub fn register(&self, address: u64, size: usize, flags: u32) -> Result {
        memory::register(address, size, self.owner(flags))?;
        self.usable().inspect_err(|_| {
            let _ = memory::unregister(address);
        })
    }

    /// `cuCtxEnablePeerAccess`
    pub fn enable_peer(&self, peer: &Self) -> Result {
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

    pub fn disable_peer(&self, peer: &Self) -> Result {
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
            let _ = self.handle.remove();
        }
        // What has been submitted is waited for: it works on memory that is about to go. From a
        // host function that is not possible, and the memory stays.
        let ended = self.queues.finish().is_ok();
        for dependent in self.dependents(std::mem::take).into_values() {
            if let Some(dependent) = dependent.upgrade() {
                dependent.context_ends();
            }
        }
        if ended {
            memory::release_all(self.id, self.device.checks() && !state::has_failed());
        }
    }
}

/// At most one way to wait may be chosen.
fn is_scheduling(flags: u32) -> bool {
    matches!(flags & context_flags::SCHEDULING, 0 | 1 | 2 | 4)
}
