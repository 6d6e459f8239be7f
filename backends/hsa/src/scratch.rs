//! What kernels of one stream use besides the program's data. They run one after the other, and share it.

use crate::agent::Agent;
use crate::arguments::HEAD;
use crate::driver::types::Handle;
use crate::memory;
use crate::output::Output;
use crate::signal::{Signal, Signals};
use gangway_backend::{DevicePtr, Error, Result, VisibleMemory};
use gangway_device_code::StreamMemory;
use gangway_device_code::gcc::Arenas;
use gangway_device_code::llvm::{Reductions, Replacements};
use std::cell::RefCell;
use std::ptr::NonNull;
use std::sync::Arc;

/// What a stream keeps for its kernels.
#[derive(Default)]
pub(crate) struct Scratch {
    /// Of GCC's.
    pub arenas: Arenas,
    pub output: Option<Output>,
    /// Of LLVM's.
    pub reductions: Reductions,
    pub replacements: Replacements,
}

impl Scratch {
    /// Frees it.
    ///
    /// # Safety
    /// The stream is idle.
    pub unsafe fn free(self, agent: &Agent) {
        // SAFETY: the caller's promise. A failure has nobody to be told to.
        unsafe {
            let _ = self.arenas.free(agent);
            let _ = self.reductions.free(agent);
            let _ = self.replacements.free(agent);
            if let Some(output) = self.output {
                output.free(agent);
            }
        }
    }
}

/// Memory that nothing under way uses: copies are done at once.
impl StreamMemory for Agent {
    fn allocate(&self, bytes: usize) -> Result<u64> {
        Ok(memory::from_pool(self, self.pools.device, bytes)?.0 as u64)
    }

    unsafe fn free(&self, address: u64) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { memory::free(self, DevicePtr(address as usize)) }
    }

    unsafe fn copy(&self, to: u64, from: &[u8]) -> Result<()> {
        let to = std::ptr::with_exposed_provenance_mut(to as usize);
        // SAFETY: the caller's promise.
        unsafe { memory::copy(self, to, from.as_ptr(), from.len()) }
    }

    unsafe fn copy_kept(&self, to: u64, from: &[u8]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { StreamMemory::copy(self, to, from) }
    }

    fn allocate_visible(&self, bytes: usize) -> Result<VisibleMemory> {
        let device = memory::visible(self, self.pools.host, bytes)?;
        let host = NonNull::new(std::ptr::with_exposed_provenance_mut(device.0));
        Ok(VisibleMemory { host: host.ok_or(Error::OutOfMemory { requested: bytes })?, device })
    }

    unsafe fn free_visible(&self, memory: VisibleMemory) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { memory::free(self, memory.device) }
    }
}

/// Memory as a launch sees it: copies come behind what is under way in its stream.
pub(crate) struct InOrder<'a> {
    agent: &'a Agent,
    signals: &'a Arc<Signals>,
    behind: &'a [Arc<Signal>],
    /// [`HEAD`] bytes that both sides see, until the kernel is done.
    staging: usize,
    copies: RefCell<Vec<Arc<Signal>>>,
}

/// What a copy of a launch has at most.
const COPY: usize = HEAD / 2;

impl<'a> InOrder<'a> {
    pub fn new(
        agent: &'a Agent,
        signals: &'a Arc<Signals>,
        behind: &'a [Arc<Signal>],
        staging: usize,
    ) -> Self {
        Self { agent, signals, behind, staging, copies: RefCell::default() }
    }

    /// The copies that are under way.
    pub fn into_copies(self) -> Vec<Arc<Signal>> {
        self.copies.into_inner()
    }

    pub fn agent(&self) -> &'a Agent {
        self.agent
    }
}

impl StreamMemory for InOrder<'_> {
    fn allocate(&self, bytes: usize) -> Result<u64> {
        StreamMemory::allocate(self.agent, bytes)
    }

    unsafe fn free(&self, address: u64) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { StreamMemory::free(self.agent, address) }
    }

    unsafe fn copy(&self, to: u64, from: &[u8]) -> Result<()> {
        if self.behind.is_empty() {
            // SAFETY: the caller's promise.
            return unsafe { StreamMemory::copy(self.agent, to, from) };
        }
        let mut copies = self.copies.borrow_mut();
        let at = copies.len() * COPY;
        if from.len() > COPY || at + from.len() > HEAD {
            return Err(Error::Unsupported { operation: "copies of a launch of more bytes" });
        }
        let staged = std::ptr::with_exposed_provenance_mut::<u8>(self.staging + at);
        let to = std::ptr::with_exposed_provenance_mut(to as usize);
        let signal = self.signals.take()?;
        let behind: Vec<Handle> = self.behind.iter().map(|signal| signal.handle).collect();
        // SAFETY: the place has room, and is the launch's; the rest is the caller's promise.
        unsafe {
            staged.copy_from_nonoverlapping(from.as_ptr(), from.len());
            memory::copy_behind(
                self.agent,
                to,
                staged,
                from.len(),
                self.agent.handle,
                &behind,
                signal.handle,
            )?;
        }
        copies.push(signal);
        Ok(())
    }

    unsafe fn copy_kept(&self, to: u64, from: &[u8]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy(to, from) }
    }

    fn allocate_visible(&self, bytes: usize) -> Result<VisibleMemory> {
        self.agent.allocate_visible(bytes)
    }

    unsafe fn free_visible(&self, memory: VisibleMemory) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.agent.free_visible(memory) }
    }
}
