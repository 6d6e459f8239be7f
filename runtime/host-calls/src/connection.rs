//! What one device calls the host through.

use crate::channel::Serve;
use crate::device::CallingDevice;
use crate::function_table::FunctionTable;
use crate::mailboxes::{Held, Serving};
use crate::workers::Workers;
use crate::{functions, system};
use gangway_backend::{
    DevicePtr, Error as BackendError, HostCallHandler, HostCallLink, HostCallOutcome, HostCallService,
    HostCalls, Module, Stream,
};
use gangway_host_channel::Channel;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The host calls of one device: none until an image makes some.
#[derive(Default)]
pub struct Connection(AtomicPtr<Service>);

/// What a device's host calls are served with. Leaked, as kernels may call at any time.
struct Service {
    device: i32,
    /// On devices that call through memory.
    workers: Option<&'static Workers<Memory>>,
}

/// What calls through the channel of a device need of it.
struct Memory(&'static dyn CallingDevice);

impl HostCallHandler for Service {
    fn call(&self, function: u64, block: &mut [u8]) -> HostCallOutcome {
        functions::run(self.device, function, block, None)
    }

    fn ring(&self) {
        if let Some(workers) = self.workers {
            workers.ring();
        }
    }

    fn launched(&self) {
        if let Some(workers) = self.workers {
            workers.launched();
        }
    }
}

impl Serve for Memory {
    fn run(&self, function: u64, block: &mut [u8], since: Option<u64>) -> HostCallOutcome {
        functions::run(self.0.number(), function, block, since)
    }

    fn fetch(&self, address: u64, block: &mut [u8]) -> bool {
        let (from, to) = (DevicePtr(address as usize), block.as_mut_ptr());
        // SAFETY: the block outlives the copy; what is no memory of the device the back end
        // refuses.
        let mut copy = |stream: &dyn Stream| unsafe { stream.copy_from_device(to, from, block.len()) };
        self.0.run_at_once(&mut copy).is_ok()
    }

    fn give(&self, address: u64, block: &[u8]) -> bool {
        let (to, from) = (DevicePtr(address as usize), block.as_ptr());
        // SAFETY: as above.
        let mut copy = |stream: &dyn Stream| unsafe { stream.copy_to_device(to, from, block.len()) };
        self.0.run_at_once(&mut copy).is_ok()
    }

    fn is_quiet(&self) -> bool {
        self.0.opened().is_some_and(|opened| opened.is_quiet())
    }
}

/// The functions of the host that code on a device waits for, for messages.
pub fn under_way(device: i32) -> Vec<String> {
    let mut counts = BTreeMap::<String, usize>::new();
    for name in system::device(device).map(CallingDevice::calls_under_way).unwrap_or_default() {
        *counts.entry(name).or_default() += 1;
    }
    let line = |(name, count): (String, usize)| match count {
        1 => name,
        _ => format!("{name}, by {count} threads"),
    };
    counts.into_iter().map(line).collect()
}

/// A device is lost, so that its kernels go on with nothing that they have begun.
pub fn forget_lost(device: i32) {
    system::forget(device);
}

impl Connection {
    fn get(&self) -> Option<&'static Service> {
        // SAFETY: what has been published is never freed.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// Whether threads of this process serve a channel: a forked child has none of them.
    pub fn has_workers(&self) -> bool {
        self.get().is_some_and(|service| service.workers.is_some())
    }

    /// The functions that kernels wait for, one name for each call.
    pub fn under_way(&self) -> Vec<String> {
        self.get().and_then(|service| service.workers).map(Workers::under_way).unwrap_or_default()
    }

    /// Whether kernels of the device may call the host.
    #[inline]
    pub fn is_connected(&self) -> bool {
        self.get().is_some()
    }

    /// Connects an image that has been loaded, if its kernels call the host.
    ///
    /// # Errors
    /// What the back end says.
    pub fn connect(
        &self,
        device: &'static dyn CallingDevice,
        opened: &dyn gangway_backend::Device,
        module: &dyn Module,
    ) -> Result<(), BackendError> {
        if opened.capabilities().host_calls == HostCalls::None {
            return Ok(());
        }
        let link = module.host_calls()?;
        if link == HostCallLink::Unused {
            return Ok(());
        }
        let service = match self.get() {
            Some(service) => service,
            None => self.make(device, opened),
        };
        system::serve(device);
        let channel = service.channel(opened)?;
        service.begin(opened)?;
        let HostCallLink::Global(place) = link else { return Ok(()) };
        let Some(channel) = channel else {
            let message = "the image looks for a channel, and the device has none".to_owned();
            return Err(BackendError::Device { code: 0, message });
        };
        let word = channel.0.to_ne_bytes();
        // SAFETY: the back end says that a pointer stands there; the word outlives the copy.
        let mut copy =
            |stream: &dyn Stream| unsafe { stream.copy_to_device(place, word.as_ptr(), word.len()) };
        device.run_at_once(&mut copy)
    }

    /// Connects an image that calls through a mailbox, if its kernels call at all.
    ///
    /// # Errors
    /// What the back end says.
    pub fn connect_mailbox(
        &self,
        device: &'static dyn CallingDevice,
        opened: &dyn gangway_backend::Device,
        module: &dyn Module,
        functions: &FunctionTable,
        pointer: &CStr,
        serve: Serving,
    ) -> Result<Option<Held>, BackendError> {
        let functions = functions.read(device, module)?;
        if functions.is_empty() {
            return Ok(None);
        }
        let name = pointer.to_string_lossy();
        let place = match module.global(&name, size_of::<DevicePtr>()) {
            Ok(place) => place,
            // The code that calls has not been linked in.
            Err(BackendError::NoSuchSymbol { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let service = match self.get() {
            Some(service) => service,
            None => self.make(device, opened),
        };
        let Some(workers) = service.workers else {
            return Err(BackendError::Unsupported { operation: "calls of the host through memory" });
        };
        system::serve(device);
        let held = workers.mailboxes().hold(device.number(), opened, functions, serve)?;
        service.begin(opened)?;
        let word = held.address().0.to_ne_bytes();
        // SAFETY: a pointer stands there; the word outlives the copy.
        let mut copy =
            |stream: &dyn Stream| unsafe { stream.copy_to_device(place, word.as_ptr(), word.len()) };
        device.run_at_once(&mut copy)?;
        Ok(Some(held))
    }

    /// Makes the service, unless another thread is faster.
    #[cold]
    fn make(
        &self,
        device: &'static dyn CallingDevice,
        opened: &dyn gangway_backend::Device,
    ) -> &'static Service {
        let workers = match opened.capabilities().host_calls {
            HostCalls::Channel { rings } => Some(&*Box::leak(Box::new(Workers::new(Memory(device), rings)))),
            HostCalls::Direct | HostCalls::None => None,
        };
        let mine = Box::into_raw(Box::new(Service { device: device.number(), workers }));
        let published =
            self.0.compare_exchange(std::ptr::null_mut(), mine, Ordering::AcqRel, Ordering::Acquire);
        match published {
            // SAFETY: published, and never freed from here on.
            Ok(_) => unsafe { &*mine },
            Err(theirs) => {
                // SAFETY: nobody has seen mine, and theirs is never freed.
                unsafe {
                    drop(Box::from_raw(mine));
                    &*theirs
                }
            }
        }
    }
}

impl Service {
    /// Where the device sees the channel, on devices that call through one.
    fn channel(&self, opened: &dyn gangway_backend::Device) -> Result<Option<DevicePtr>, BackendError> {
        let Some(workers) = self.workers else { return Ok(None) };
        if let Some(channel) = workers.channel() {
            return Ok(Some(channel));
        }
        let memory = opened.allocate_visible(size_of::<Channel>())?;
        // SAFETY: the memory has this size, is zero, aligned to a page, and freed below at most,
        // where nobody has seen it.
        let channel: &'static Channel = unsafe { memory.host.cast().as_ref() };
        if !workers.open(channel, memory.device) {
            // SAFETY: another thread has been faster.
            unsafe { opened.deallocate_visible(memory)? };
        }
        Ok(workers.channel())
    }

    /// Has calls served, from before a kernel makes the first one.
    fn begin(&'static self, opened: &dyn gangway_backend::Device) -> Result<(), BackendError> {
        if let Some(workers) = self.workers
            && let Err(error) = workers.ensure()
        {
            let message = format!("no thread can be started that serves host calls: {error}");
            return Err(BackendError::Device { code: 0, message });
        }
        let channel = self.workers.and_then(Workers::channel);
        opened.connect_host_calls(HostCallService::new(self, channel))
    }
}
