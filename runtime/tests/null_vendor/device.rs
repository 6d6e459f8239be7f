//! The back end: the vendor's driver behind the traits of `gangway-backend`.

use crate::card::{Card, VERSION};
use crate::code::{CodeObject, MAGIC};
use crate::ring::{Dispatch, Packet, Task};
use gangway_backend::{
    AllocationKind, ArgumentForm, ArgumentTable, Backend, Capabilities, Completion, Device, DevicePtr, Error,
    EventHandle, HostCallLink, HostCallService, HostCalls, Kernel, KernelHandle, Launch, LaunchShape, Module,
    Rank, Result, Session, SessionState, Stream, TableRequest,
};
use std::num::NonZeroU32;
use std::sync::Arc;

/// Threads that a team can have.
const MOST_THREADS: u32 = 256;

/// The vendor's cards; `None`: one that does not answer.
pub struct Vendor(pub Vec<Option<Arc<Card>>>);

impl Backend for Vendor {
    fn name(&self) -> &str {
        "null-vendor"
    }

    fn recognises(&self, image: &[u8]) -> bool {
        image.starts_with(MAGIC.as_bytes())
    }

    fn device_count(&self) -> usize {
        self.0.len()
    }

    fn open(&self, ordinal: usize) -> Result<Box<dyn Device>> {
        let Some(card) = &self.0[ordinal] else {
            return Err(Error::Device { code: 0x1005, message: "the card does not answer".to_owned() });
        };
        card.start();
        let own = Queue { card: card.clone(), number: card.create_queue()? };
        Ok(Box::new(OpenCard { card: card.clone(), own }))
    }
}

/// An opened card.
struct OpenCard {
    card: Arc<Card>,
    /// The driver's own queue.
    own: Queue,
}

impl Device for OpenCard {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            asynchronous: true,
            events: true,
            completions: true,
            host_calls: HostCalls::Direct,
            sessions: Some(0),
            ..Capabilities::default()
        }
    }

    fn architecture(&self) -> String {
        format!("null{VERSION}")
    }

    fn fitness(&self, image: &[u8]) -> Result<Rank> {
        match CodeObject::read(image)?.version {
            version if version <= VERSION => Ok(Rank(version)),
            version => {
                let reason = format!("it is for version {version} of the card, which has version {VERSION}");
                Err(Error::InvalidImage { reason })
            }
        }
    }

    fn load(&self, image: &[u8]) -> Result<Box<dyn Module>> {
        Ok(Box::new(Loaded::of(&self.card, CodeObject::read(image)?)?))
    }

    fn allocate(&self, size: usize, kind: AllocationKind, _overwritten: bool) -> Result<DevicePtr> {
        if kind != AllocationKind::Device {
            return Err(Error::Unsupported { operation: "memory of the host" });
        }
        self.card.check()?;
        self.card.memory().allocate(size).ok_or(Error::OutOfMemory { requested: size })
    }

    unsafe fn deallocate(&self, pointer: DevicePtr, _kind: AllocationKind) -> Result<()> {
        self.card.free(pointer);
        self.card.check()
    }

    fn session_end(&self, session: &mut SessionState) {
        self.card.kernargs.lock().unwrap().give_back(segment(session));
    }

    fn launch_shape(&self, launch: &Launch<'_>) -> Option<LaunchShape> {
        Some(shape(launch))
    }

    fn immediate(&self) -> &dyn Stream {
        &self.own
    }

    fn open_stream(&self) -> Result<Box<dyn Stream>> {
        Ok(Box::new(Queue { card: self.card.clone(), number: self.card.create_queue()? }))
    }

    fn destroy_event(&self, event: EventHandle) -> Result<()> {
        self.card.destroy_signal(event.0);
        Ok(())
    }

    fn connect_host_calls(&self, service: HostCallService) -> Result<()> {
        self.card.service.get_or_init(|| service);
        Ok(())
    }
}

/// The kernarg segment of a session.
fn segment(session: &SessionState) -> usize {
    session.backend_words[0] as usize
}

/// What the card makes of what a launch leaves open.
fn shape(launch: &Launch<'_>) -> LaunchShape {
    let [x, y, z] = launch.teams;
    let [width, height, depth] = launch.thread_limit;
    let or = |count: u32, usual: u32| if count == 0 { usual } else { count };
    LaunchShape {
        teams: [or(x, 4), or(y, 1), or(z, 1)],
        threads: [or(width, 64), or(height, 1), or(depth, 1)],
    }
}

/// A code object on a card.
struct Loaded {
    card: Arc<Card>,
    code: CodeObject,
    /// Kernel objects, in the order of the kernels.
    objects: Vec<usize>,
    globals: DevicePtr,
}

impl Loaded {
    fn of(card: &Arc<Card>, code: CodeObject) -> Result<Self> {
        let values: Vec<u8> = code.globals.iter().flat_map(|global| global.value.to_ne_bytes()).collect();
        // A buffer has a byte at least.
        let size = values.len().max(1);
        let mut memory = card.memory();
        let globals = memory.allocate(size).ok_or(Error::OutOfMemory { requested: size })?;
        let bytes = memory.bytes(globals, values.len()).expect("just allocated");
        bytes.copy_from_slice(&values);
        drop(memory);
        let object = |kernel: &crate::code::KernelCode| card.create_object(kernel.code, globals);
        let objects = code.kernels.iter().map(object).collect();
        Ok(Self { card: card.clone(), code, objects, globals })
    }
}

impl Module for Loaded {
    fn kernel(&self, name: &str) -> Result<Kernel> {
        let mut kernels = self.code.kernels.iter().zip(&self.objects);
        let found = kernels.find(|(kernel, _)| kernel.name == name);
        let (code, &object) = found.ok_or(Error::NoSuchSymbol { name: name.to_owned() })?;
        let kernel = Kernel::new(KernelHandle(object)).with_convention(code.convention.clone());
        let mut limits = kernel.limits;
        limits.threads = NonZeroU32::new(MOST_THREADS);
        Ok(Kernel { limits, ..kernel })
    }

    fn global(&self, name: &str, _size: usize) -> Result<DevicePtr> {
        let position = self.code.globals.iter().position(|global| global.name == name);
        let position = position.ok_or(Error::NoSuchSymbol { name: name.to_owned() })?;
        Ok(self.globals.offset(position as isize * 8))
    }

    fn constructors(&self) -> Result<Vec<Kernel>> {
        self.code.constructor.iter().map(|name| self.kernel(name)).collect()
    }

    fn host_calls(&self) -> Result<HostCallLink> {
        Ok(if self.code.calls_host { HostCallLink::Linked } else { HostCallLink::Unused })
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        self.objects.iter().for_each(|object| self.card.destroy_object(*object));
        self.card.free(self.globals);
    }
}

/// A queue of the card's.
struct Queue {
    card: Arc<Card>,
    number: usize,
}

impl Queue {
    fn push(&self, task: Task) -> Result<()> {
        let packet = Packet { task, signal: None, told: None };
        self.card.push(self.number, packet).map_err(|refused| refused.0)
    }
}

impl Stream for Queue {
    unsafe fn copy_to_device(&self, to: DevicePtr, from: *const u8, size: usize) -> Result<()> {
        self.push(Task::CopyIn { to, from: from.expose_provenance(), size })
    }

    unsafe fn copy_from_device(&self, to: *mut u8, from: DevicePtr, size: usize) -> Result<()> {
        self.push(Task::CopyOut { to: to.expose_provenance(), from, size })
    }

    unsafe fn copy_between(
        &self,
        _to_ordinal: usize,
        to: DevicePtr,
        from: DevicePtr,
        size: usize,
    ) -> Result<()> {
        // Cards cannot reach each other, which their capabilities say: it is this one.
        self.push(Task::CopyInside { to, from, size })
    }

    fn session_start(&self, session: &mut SessionState) -> Result<()> {
        session.backend_words[0] = self.card.kernargs.lock().unwrap().take() as u64;
        Ok(())
    }

    fn argument_table<'s>(
        &self,
        session: &'s mut Session,
        _kernel: &Kernel,
        request: TableRequest,
    ) -> Result<ArgumentTable<'s>> {
        let segment = segment(session.state());
        let memory = self.card.kernargs.lock().unwrap().room(segment, request.slots());
        // SAFETY: there is room, and the segment is the session's until it ends.
        Ok(unsafe { session.table_at(memory, request) })
    }

    unsafe fn launch(&self, launch: &Launch<'_>, mut table: ArgumentTable<'_>) -> Result<()> {
        let LaunchShape { teams, threads } = shape(launch);
        if let [hidden] = table.trailing() {
            *hidden = teams.iter().map(|count| u64::from(*count)).product();
        }
        let bytes = match &launch.kernel.convention.form {
            ArgumentForm::Packed(parameters) => table.pack(parameters).len(),
            ArgumentForm::Slots | ArgumentForm::DeviceTable => size_of_val(table.slots()),
        };
        self.push(Task::Dispatch(Dispatch {
            object: launch.kernel.handle.0,
            segment: segment(table.session()),
            bytes,
            teams,
            threads,
            name: launch.name.to_owned(),
            source: launch.source,
        }))
    }

    fn synchronize(&self) -> Result<()> {
        self.card.synchronize(self.number)
    }

    fn is_idle(&self) -> Result<bool> {
        self.card.is_idle(self.number)
    }

    fn record(&self) -> Result<EventHandle> {
        let signal = self.card.create_signal()?;
        let packet = Packet { task: Task::Wait(None), signal: Some(signal), told: None };
        match self.card.push(self.number, packet) {
            Ok(()) => Ok(EventHandle(signal)),
            Err(refused) => {
                self.card.destroy_signal(signal);
                Err(refused.0)
            }
        }
    }

    fn wait(&self, event: EventHandle) -> Result<()> {
        self.push(Task::Wait(Some(event.0)))
    }

    fn on_complete(&self, completion: Completion) -> Result<()> {
        let packet = Packet { task: Task::Wait(None), signal: None, told: Some(completion) };
        self.card.push(self.number, packet).map_err(|refused| {
            let (error, packet) = *refused;
            packet.told.into_iter().for_each(Completion::cancel);
            error
        })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.card.destroy_queue(self.number);
    }
}
