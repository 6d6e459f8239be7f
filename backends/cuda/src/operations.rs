//! The operations of a stream: what the runtime asks of it, handed to the driver and to the rooms that
//! do it.

use crate::driver::types::Address;
use crate::shared::Shared;
use crate::stream::Stream;
use gangway_backend::{
    ArgumentTable, Completion, Copies, DevicePtr, Error, EventHandle, HostCopy, Launch, Origin, RangeChange,
    RangeNotice, Result, SourceLocation,
};
use std::sync::Arc;

/// The variable that a range is.
fn in_words(notice: &RangeNotice) -> String {
    let name = notice.variable.name.map_or_else(|| "what is mapped".to_owned(), |name| format!("`{name}`"));
    let place = notice
        .variable
        .location
        .map_or_else(String::new, |at| format!(" (declared at {}:{})", at.file, at.line));
    format!("{name} of {} bytes{place}", notice.size)
}

/// A stream of a device.
pub(crate) struct OpenStream {
    device: Arc<Shared>,
    /// `None`: the driver's own stream of the context, which is not ours to make or to destroy.
    stream: Option<Box<Stream>>,
}

impl OpenStream {
    /// Makes a stream.
    pub fn create(device: &Arc<Shared>) -> Result<Self> {
        Ok(Self { stream: Some(Stream::create(&device.context)?), device: Arc::clone(device) })
    }

    /// Makes a stream of one of the program's.
    pub fn adopt(device: &Arc<Shared>, foreign: usize) -> Self {
        Self { stream: Some(Stream::adopt(&device.context, foreign)), device: Arc::clone(device) }
    }

    /// Where operations go without a stream.
    pub fn immediate(device: &Arc<Shared>) -> Self {
        Self { stream: None, device: Arc::clone(device) }
    }

    /// The driver's handle; null for its own stream.
    #[inline]
    fn handle(&self) -> usize {
        self.stream.as_ref().map_or(0, |stream| stream.handle)
    }

    fn stream(&self, operation: &'static str) -> Result<&Stream> {
        self.stream.as_deref().ok_or(Error::Unsupported { operation })
    }

    fn destroy(&mut self) -> Result<()> {
        self.stream.take().map_or(Ok(()), |stream| stream.destroy(&self.device.context))
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.destroy();
    }
}

impl gangway_backend::Stream for OpenStream {
    unsafe fn copy_to_device(&self, to: DevicePtr, from: *const u8, size: usize) -> Result<()> {
        self.device.context.with("cuMemcpyHtoDAsync", |api| {
            // SAFETY: the caller's promise.
            unsafe { (api.copy_to_device)(to.0 as Address, from.cast(), size, self.handle()) }
        })
    }

    unsafe fn copy_from_device(&self, to: *mut u8, from: DevicePtr, size: usize) -> Result<()> {
        self.device.context.with("cuMemcpyDtoHAsync", |api| {
            // SAFETY: the caller's promise.
            unsafe { (api.copy_from_device)(to.cast(), from.0 as Address, size, self.handle()) }
        })
    }

    unsafe fn copy_between(
        &self,
        to_ordinal: usize,
        to: DevicePtr,
        from: DevicePtr,
        size: usize,
    ) -> Result<()> {
        let Shared { context, peers, ordinal, .. } = &*self.device;
        let (to, from) = (to.0 as Address, from.0 as Address);
        if to_ordinal == *ordinal {
            // SAFETY: the caller's promise.
            return context.with("cuMemcpyDtoDAsync", |api| unsafe {
                (api.copy_within_device)(to, from, size, self.handle())
            });
        }
        let Some(peer) = peers.reach(context, *ordinal, to_ordinal) else {
            return Err(Error::Unsupported { operation: "copies to a device that is not open" });
        };
        context.with("cuMemcpyPeerAsync", |api| {
            // SAFETY: the caller's promise; both contexts are retained.
            unsafe { (api.copy_to_peer)(to, peer, from, context.handle, size, self.handle()) }
        })
    }

    unsafe fn fill(&self, to: DevicePtr, byte: u8, size: usize) -> Result<()> {
        self.device.context.with("cuMemsetD8Async", |api| {
            // SAFETY: the caller's promise.
            unsafe { (api.fill_bytes)(to.0 as Address, byte, size, self.handle()) }
        })
    }

    fn allocate_in_order(&self, size: usize) -> Result<DevicePtr> {
        let stream = self.stream("stream-ordered memory")?;
        self.device.memory.allocate_in(&self.device.context, size, stream.handle)
    }

    fn allocate_promptly(&self, size: usize) -> Result<DevicePtr> {
        let stream = self.stream("stream-ordered memory")?;
        self.device.memory.allocate_promptly(&self.device.context, size, stream.handle)
    }

    unsafe fn deallocate_in_order(&self, pointer: DevicePtr) -> Result<()> {
        let stream = self.stream("stream-ordered memory")?;
        // SAFETY: the caller's promise.
        unsafe { self.device.memory.free_in(&self.device.context, pointer, stream.handle) }
    }

    #[inline]
    unsafe fn launch(&self, launch: &Launch<'_>, table: ArgumentTable<'_>) -> Result<()> {
        let Shared { context, properties, launcher, looks, .. } = &*self.device;
        let stream = self.stream("launches without a stream")?;
        // SAFETY: the caller's promise.
        unsafe { launcher.launch(context, properties, stream, launch, table) }?;
        if let Some(service) = looks.get() {
            service.launched();
        }
        Ok(())
    }

    #[inline]
    fn synchronize(&self) -> Result<()> {
        let context = &self.device.context;
        match &self.stream {
            Some(stream) => stream.synchronize(context),
            // SAFETY: the driver's own stream is always there.
            None => context.with("cuStreamSynchronize", |api| unsafe { (api.stream_synchronize)(0) }),
        }
    }

    fn is_idle(&self) -> Result<bool> {
        match &self.stream {
            Some(stream) => stream.is_idle(&self.device.context),
            None => self.synchronize().map(|()| true),
        }
    }

    fn record(&self) -> Result<EventHandle> {
        self.device.events.record(&self.device.context, self.stream("events")?)
    }

    fn wait(&self, event: EventHandle) -> Result<()> {
        self.device.events.wait(&self.device.context, self.stream("events")?, event)
    }

    fn on_complete(&self, completion: Completion) -> Result<()> {
        match self.stream("completion callbacks") {
            Ok(stream) => stream.on_complete(&self.device.context, completion),
            Err(error) => {
                completion.cancel();
                Err(error)
            }
        }
    }

    fn host_range(&self, notice: RangeNotice) {
        if let RangeChange::Mapped(storage) = notice.change
            && let Some(gpu) = self.device.context.driver.virtual_gpu
        {
            let name = in_words(&notice);
            gpu.name(storage.0 as Address, notice.size, &name);
            if self.device.properties.looks_for_races {
                gpu.name(notice.begin as Address, notice.size, &name);
            }
        }
    }

    fn on_behalf(&self, copies: Copies, work: &mut dyn FnMut()) {
        match self.device.context.driver.virtual_gpu {
            Some(gpu) => gpu.on_behalf(copies, work),
            None => work(),
        }
    }

    fn memory_given_up(&self, memory: DevicePtr, size: usize, by: &Origin) {
        if let Some(gpu) = self.device.context.driver.virtual_gpu {
            gpu.given_up(self.handle(), memory.0 as Address, size, by);
        }
    }

    fn host_copy(&self, copy: &HostCopy, construct: Option<SourceLocation<'_>>) {
        if let Some(gpu) = self.device.context.driver.virtual_gpu {
            gpu.host_copied(self.handle(), copy, construct);
        }
    }

    fn foreign(&self) -> usize {
        self.handle()
    }

    fn trim(&self) {
        self.stream.iter().for_each(|stream| stream.trim(&self.device.context));
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.destroy()
    }
}
