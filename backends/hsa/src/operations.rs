//! What is asked of a stream.

use crate::arguments::Block;
use crate::kernel::LoadedKernel;
use crate::shared::Shared;
use crate::signal::Signal;
use crate::stream::{Copy, GccArguments, Pageable, Stream};
use gangway_backend::{
    ArgumentTable, DevicePtr, Error, EventHandle, Kernel, Launch, LaunchShape, Result, Session, SessionState,
    TableRequest,
};
use gangway_device_code::{Asked, Geometry};
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

/// The shape of a launch.
pub(crate) fn geometry(shared: &Shared, kernel: &LoadedKernel, launch: &Launch<'_>) -> Geometry {
    let asked = Asked { teams: launch.teams, threads: launch.thread_limit, trip_count: launch.trip_count };
    let mut geometry = if kernel.is_openacc {
        kernel.bounds.openacc(&asked)
    } else {
        kernel.bounds.openmp(&asked, &shared.wishes, shared.agent.properties.compute_units)
    };
    // What runs constructors has no name, and one thread.
    if !launch.name.is_empty() {
        if let Some(teams) = shared.forced_teams {
            geometry.teams[0] = teams.get();
        }
        if let Some(threads) = shared.forced_threads {
            geometry.threads[2] = threads.get().min(kernel.bounds.most_waves());
        }
    }
    geometry
}

/// What the user is told of a shape: lanes and threads of a team are in its first two dimensions, as of other devices.
pub(crate) fn told_shape(Geometry { teams, threads: [_, lanes, waves] }: Geometry) -> LaunchShape {
    LaunchShape { teams, threads: [lanes, waves, 1] }
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
        unsafe { self.0.copy(&Copy { to, from, size, pageable: Some(Pageable::From) }) }
    }

    unsafe fn copy_from_device(&self, to: *mut u8, from: DevicePtr, size: usize) -> Result<()> {
        let from = std::ptr::with_exposed_provenance(from.0);
        // SAFETY: the caller's promise.
        unsafe { self.0.copy(&Copy { to, from, size, pageable: Some(Pageable::To) }) }
    }

    unsafe fn copy_between(
        &self,
        to_ordinal: usize,
        to: DevicePtr,
        from: DevicePtr,
        size: usize,
    ) -> Result<()> {
        if to_ordinal != self.shared().ordinal {
            return Err(Error::Unsupported { operation: "copies between devices" });
        }
        let to = std::ptr::with_exposed_provenance_mut(to.0);
        let from = std::ptr::with_exposed_provenance(from.0);
        // SAFETY: the caller's promise.
        unsafe { self.0.copy(&Copy { to, from, size, pageable: None }) }
    }

    fn session_start(&self, _session: &mut SessionState) -> Result<()> {
        Ok(())
    }

    fn argument_table<'s>(
        &self,
        session: &'s mut Session,
        _kernel: &Kernel,
        request: TableRequest,
    ) -> Result<ArgumentTable<'s>> {
        let Shared { agent, arguments, .. } = self.shared();
        if let Some(block) = block_of(session.state()) {
            arguments.give_back(block);
        }
        match arguments.take(agent, request.slots()) {
            Ok(block) => {
                keep_block(session.state(), block);
                let table = std::ptr::with_exposed_provenance_mut(block.table());
                let memory = NonNull::new(table).ok_or(Error::OutOfMemory { requested: block.room * 8 })?;
                // SAFETY: the block has room for so many pointers, and is the session's until it ends, when the
                // kernel is done. Both sides see it.
                Ok(unsafe { session.visible_table_at(memory, DevicePtr(block.table()), request) })
            }
            // The runtime puts the table into the device's memory; what the kernel is given besides stands here.
            Err(Error::OutOfMemory { .. }) => {
                let block = arguments.take(agent, 0)?;
                keep_block(session.state(), block);
                Ok(session.host_table(request))
            }
            Err(error) => Err(error),
        }
    }

    unsafe fn launch(&self, launch: &Launch<'_>, mut table: ArgumentTable<'_>) -> Result<()> {
        // SAFETY: the runtime launches kernels of loaded modules.
        let kernel = unsafe { LoadedKernel::of(launch.kernel.handle) };
        let address = table.slots().first().copied().unwrap_or(0);
        let block = block_of(table.session()).and_then(|block| {
            NonNull::new(std::ptr::with_exposed_provenance_mut::<GccArguments>(block.address))
        });
        let arguments =
            block.ok_or(Error::Device { code: 0, message: "a launch without a session".to_owned() })?;
        // SAFETY: the block is the session's.
        unsafe {
            let none = GccArguments { table: address, reserved: 0, output: 0, heap: 0, arena: 0 };
            arguments.write(none);
        }
        let geometry = geometry(self.shared(), kernel, launch);
        // SAFETY: the caller's promise.
        unsafe { self.0.launch(kernel, geometry, launch.dynamic_group_memory, arguments, launch.source) }
    }

    fn synchronize(&self) -> Result<()> {
        self.0.synchronize()
    }

    fn is_idle(&self) -> Result<bool> {
        self.0.is_idle()
    }

    fn record(&self) -> Result<EventHandle> {
        let event: Box<Event> = Box::new(self.0.front());
        Ok(EventHandle(Box::into_raw(event).expose_provenance()))
    }

    fn wait(&self, event: EventHandle) -> Result<()> {
        // SAFETY: the runtime's events are those of `record`, and alive.
        let event = unsafe { &*std::ptr::with_exposed_provenance::<Event>(event.0) };
        self.0.wait_behind(event);
        Ok(())
    }
}
