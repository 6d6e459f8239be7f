//! A back end that does nothing but count: what a launch costs besides the device.

use gangway_backend::{
    AllocationKind, ArgumentTable, Backend, Capabilities, Device, DevicePtr, EventHandle, Kernel,
    KernelHandle, Launch, Module, Result, Stream,
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls of a null device. All devices count together.
#[derive(Debug, Default)]
pub struct Counts {
    pub allocations: AtomicUsize,
    pub deallocations: AtomicUsize,
    pub copies: AtomicUsize,
    pub launches: AtomicUsize,
    /// Sum of the arguments of the launches.
    pub arguments: AtomicUsize,
}

impl Counts {
    pub const fn new() -> Self {
        Self {
            allocations: AtomicUsize::new(0),
            deallocations: AtomicUsize::new(0),
            copies: AtomicUsize::new(0),
            launches: AtomicUsize::new(0),
            arguments: AtomicUsize::new(0),
        }
    }

    /// Allocations, deallocations, copies, launches.
    pub fn all(&self) -> [usize; 4] {
        [&self.allocations, &self.deallocations, &self.copies, &self.launches]
            .map(|count| count.load(Ordering::Relaxed))
    }
}

pub struct NullBackend(pub &'static Counts);

/// The same with streams, for which the runtime keeps memory and packs transfers.
pub struct NullStreams(pub &'static Counts);

struct NullDevice {
    counts: &'static Counts,
    capabilities: Capabilities,
    stream: NullStream,
}

#[derive(Clone, Copy)]
struct NullStream(&'static Counts);

struct NullModule;

fn count(what: &AtomicUsize) {
    what.fetch_add(1, Ordering::Relaxed);
}

impl Backend for NullBackend {
    fn name(&self) -> &str {
        "null"
    }

    fn recognises(&self, image: &[u8]) -> bool {
        image.starts_with(b"MOCK") || image.starts_with(b"NULL")
    }

    fn device_count(&self) -> usize {
        1
    }

    fn open(&self, _ordinal: usize) -> Result<Box<dyn Device>> {
        let capabilities = Capabilities { private_in_session: true, ..Capabilities::default() };
        Ok(Box::new(NullDevice { counts: self.0, capabilities, stream: NullStream(self.0) }))
    }
}

impl Backend for NullStreams {
    fn name(&self) -> &str {
        "null-streams"
    }

    fn recognises(&self, image: &[u8]) -> bool {
        image.starts_with(b"MOCK")
    }

    fn device_count(&self) -> usize {
        1
    }

    fn open(&self, _ordinal: usize) -> Result<Box<dyn Device>> {
        let capabilities = Capabilities {
            asynchronous: true,
            events: true,
            pooled_memory: true,
            packed_transfers: true,
            ..Capabilities::default()
        };
        Ok(Box::new(NullDevice { counts: self.0, capabilities, stream: NullStream(self.0) }))
    }
}

impl Module for NullModule {
    fn kernel(&self, _name: &str) -> Result<Kernel> {
        Ok(Kernel::new(KernelHandle(1)))
    }

    fn global(&self, _name: &str, _size: usize) -> Result<DevicePtr> {
        Ok(DevicePtr(0x1000))
    }
}

impl Device for NullDevice {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn immediate(&self) -> &dyn Stream {
        &self.stream
    }

    fn open_stream(&self) -> Result<Box<dyn Stream>> {
        Ok(Box::new(self.stream))
    }

    fn load(&self, _image: &[u8]) -> Result<Box<dyn Module>> {
        Ok(Box::new(NullModule))
    }

    fn allocate(&self, _size: usize, _kind: AllocationKind, _overwritten: bool) -> Result<DevicePtr> {
        let number = self.counts.allocations.fetch_add(1, Ordering::Relaxed);
        Ok(DevicePtr((number + 1) << 24))
    }

    unsafe fn deallocate(&self, _pointer: DevicePtr, _kind: AllocationKind) -> Result<()> {
        count(&self.counts.deallocations);
        Ok(())
    }
}

impl Stream for NullStream {
    fn record(&self) -> Result<EventHandle> {
        Ok(EventHandle(0))
    }

    fn wait(&self, _event: EventHandle) -> Result<()> {
        Ok(())
    }

    unsafe fn copy_to_device(&self, _to: DevicePtr, _from: *const u8, _size: usize) -> Result<()> {
        count(&self.0.copies);
        Ok(())
    }

    unsafe fn copy_from_device(&self, _to: *mut u8, _from: DevicePtr, _size: usize) -> Result<()> {
        count(&self.0.copies);
        Ok(())
    }

    unsafe fn launch(&self, _launch: &Launch<'_>, table: ArgumentTable<'_>) -> Result<()> {
        count(&self.0.launches);
        self.0.arguments.fetch_add(std::hint::black_box(table.slots()).len(), Ordering::Relaxed);
        Ok(())
    }
}
