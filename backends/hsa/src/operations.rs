//! What is asked of a stream.

use crate::arguments::{Block, LARGEST_TABLE};
use crate::kernel::{Code, LoadedKernel};
use crate::launch;
use crate::memory;
use crate::shared::Shared;
use crate::signal::Signal;
use crate::stream::{Copy, Pageable, Stream};
use gangway_backend::{
    ArgumentTable, DevicePtr, Error, EventHandle, Kernel, Launch, Result, Session, SessionState, TableRequest,
};
use std::ptr::NonNull;
use std::sync::Arc;

/// A stream that the runtime has opened.
pub(crate) struct OpenStream(Arc<Stream>);

impl OpenStream {
    pub fn new(shared: &Arc<Shared>) -> Self {
        Self(Stream::new(Arc::clone(shared)))
    }

    fn shared(&self) -> &Shared {
        &self.0.shared
    }
}

/// The words of a session: the block that its arguments stand in. No block has the address 0.
pub(crate) fn block_of(session: &SessionState) -> Option<Block> {
    let [address, room, _] = session.backend_words;
    (address != 0).then_some(Block { address: address as usize, room: room as usize })
}

fn keep_block(session: &mut SessionState, block: Block) {
    session.backend_words = [block.address as u64, block.room as u64, 0];
}

/// An event: what to wait for.
type Event = Vec<Arc<Signal>>;

/// Takes an event of [`record`](gangway_backend::Stream::record) back.
///
/// # Safety
/// It came from there, and has not been taken back.
pub(crate) unsafe fn take_event(event: EventHandle) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut::<Event>(event.0)) });
}

impl gangway_backend::Stream for OpenStream {
    unsafe fn copy_to_device(&self, to: DevicePtr, from: *const u8, size: usize) -> Result<()> {
        let to = std::ptr::with_exposed_provenance_mut(to.0);
        // SAFETY: the caller's promise.
        unsafe { self.0.copy(&Copy { to, from, size, pageable: Some(Pageable::From), peer: None }) }
    }

    unsafe fn copy_from_device(&self, to: *mut u8, from: DevicePtr, size: usize) -> Result<()> {
        let from = std::ptr::with_exposed_provenance(from.0);
        // SAFETY: the caller's promise.
        unsafe { self.0.copy(&Copy { to, from, size, pageable: Some(Pageable::To), peer: None }) }
    }

    unsafe fn copy_between(
        &self,
        to_ordinal: usize,
        to: DevicePtr,
        from: DevicePtr,
        size: usize,
    ) -> Result<()> {
        let agent = &self.shared().agent;
        let mut peer = None;
        if to_ordinal != self.shared().ordinal {
            let other = agent.driver.gpus.get(to_ordinal).copied();
            let other =
                other.ok_or(Error::Unsupported { operation: "copies to a device that is not there" })?;
            memory::share(agent, other, to)?;
            memory::share(agent, other, from)?;
            peer = Some(other);
        }
        let to = std::ptr::with_exposed_provenance_mut(to.0);
        let from = std::ptr::with_exposed_provenance(from.0);
        // SAFETY: the caller's promise.
        unsafe { self.0.copy(&Copy { to, from, size, pageable: None, peer }) }
    }

    unsafe fn fill(&self, to: DevicePtr, byte: u8, size: usize) -> Result<()> {
        let to = std::ptr::with_exposed_provenance_mut(to.0);
        // SAFETY: the caller's promise.
        unsafe { self.0.fill(to, byte, size) }
    }

    fn session_start(&self, _session: &mut SessionState) -> Result<()> {
        Ok(())
    }

    fn argument_table<'s>(
        &self,
        session: &'s mut Session,
        kernel: &Kernel,
        request: TableRequest,
    ) -> Result<ArgumentTable<'s>> {
        let Shared { agent, arguments, .. } = self.shared();
        if let Some(block) = block_of(session.state()) {
            arguments.give_back(block);
        }
        // SAFETY: the runtime's kernels are of loaded modules.
        let is_given_the_table = matches!(unsafe { LoadedKernel::of(kernel.handle) }.code, Code::Llvm(_));
        if request.slots() > LARGEST_TABLE && !is_given_the_table {
            // The runtime puts the table into the device's memory; what the kernel is given besides stands here.
            keep_block(session.state(), arguments.take(agent, 0)?);
            return Ok(session.host_table(request));
        }
        let block = arguments.take(agent, request.slots())?;
        keep_block(session.state(), block);
        let table = std::ptr::with_exposed_provenance_mut(block.table());
        let memory = NonNull::new(table).ok_or(Error::OutOfMemory { requested: block.room * 8 })?;
        // SAFETY: the block has room for so many pointers, and is the session's until it ends, when the
        // kernel is done. Both sides see it.
        Ok(unsafe {
            match is_given_the_table {
                true => session.table_at(memory, request),
                false => session.visible_table_at(memory, DevicePtr(block.table()), request),
            }
        })
    }

    unsafe fn launch(&self, launch: &Launch<'_>, mut table: ArgumentTable<'_>) -> Result<()> {
        let block = block_of(table.session());
        let block =
            block.ok_or(Error::Device { code: 0, message: "a launch without a session".to_owned() })?;
        // SAFETY: the caller's promise; the block is the session's.
        unsafe { launch::launch(&self.0, launch, block, table) }?;
        if let Some(service) = self.shared().looks.get() {
            service.launched();
        }
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        self.0.synchronize()
    }

    fn is_idle(&self) -> Result<bool> {
        self.0.is_idle()
    }

    fn foreign(&self) -> usize {
        self.0.foreign().unwrap_or(0)
    }

    fn record(&self) -> Result<EventHandle> {
        let event: Box<Event> = Box::new(self.0.front()?);
        Ok(EventHandle(Box::into_raw(event).expose_provenance()))
    }

    fn wait(&self, event: EventHandle) -> Result<()> {
        // SAFETY: the runtime's events are those of `record`, and alive.
        let event = unsafe { &*std::ptr::with_exposed_provenance::<Event>(event.0) };
        self.0.wait_behind(event);
        Ok(())
    }
}
