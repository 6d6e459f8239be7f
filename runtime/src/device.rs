//! One numbered device: its back end, opened on first use, and its present table.

use crate::error::{Error, ErrorKind, HostRange, Result};
use crate::events;
use crate::pool::Pool;
use crate::staging::Staging;
use crate::turn::Turn;
use gangway_backend::{Backend, Capabilities, Copies, Stream};
use gangway_host_calls::Connection;
use gangway_present::PresentTable;
use gangway_present::StreamRef;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

mod calling;
mod fork;
mod heap;
mod idle_streams;
mod inspect;
mod load;
mod marker;
mod queues;
pub(crate) use fork::DeviceLocks;
use heap::Heap;
use idle_streams::IdleStreams;
pub(crate) use load::Load;
pub(crate) use marker::Event;
pub use marker::Marker;
pub(crate) use queues::DeviceQueue;

/// A device the program can name. Devices are made when the first image for
/// their type is registered and live as long as the process.
pub struct Device {
    number: i32,
    ordinal: usize,
    backend: &'static dyn Backend,
    /// Which back end that is, among those of its runtime. Addresses do not tell: all
    /// objects without fields may be at the same one.
    backend_index: usize,
    /// What opening has led to; null before. Leaked, like the device.
    opened: AtomicPtr<std::result::Result<Opened, gangway_backend::Error>>,
    opening: Turn,
    /// It was open when the process was forked, which it does not survive.
    lost: AtomicBool,
    /// Set when a library has been registered whose image is not loaded here yet.
    pub(crate) images_pending: AtomicBool,
    /// Whose turn it is to load images.
    pub(crate) loading: Turn,
    idle_streams: IdleStreams,
    /// Queues that the program owns.
    queues: Mutex<Vec<Arc<dyn DeviceQueue>>>,
    /// How many of them there are, and how many are blocking: most programs have none, and no
    /// construct looks for any.
    queue_count: AtomicUsize,
    blocking_queues: AtomicUsize,
    /// An image could not be loaded: some regions cannot run here.
    pub(crate) lacks_images: AtomicBool,
    /// What is queued, as far as it is counted.
    pub(crate) load: Load,
    /// What of the host has storage here.
    pub table: PresentTable,
}

/// A device after its first use.
pub(crate) struct Opened {
    pub(crate) device: Box<dyn gangway_backend::Device>,
    pub(crate) capabilities: Capabilities,
    /// Memory for mapped data, if the back end wants the runtime to keep some.
    pub(crate) pool: Option<Pool>,
    /// Host memory for packed data, if the back end wants it pinned.
    pub(crate) staging: Option<Staging>,
    /// What its kernels call the host through.
    pub(crate) host_calls: Connection,
    /// What device code has allocated by its host.
    heap: Heap,
}

impl Opened {
    /// Where operations of a construct go that has this stream; it has none on synchronous devices.
    #[inline]
    pub(crate) fn at(&self, stream: Option<StreamRef>) -> &dyn Stream {
        match stream {
            Some(stream) => stream.get(),
            None => self.device.immediate(),
        }
    }

    /// Does something whose copies and waits are somebody's affair, for devices that look for mistakes of programs.
    pub(crate) fn on_behalf<T>(&self, copies: Copies, work: impl FnOnce() -> T) -> T {
        let (mut work, mut done) = (Some(work), None);
        let mut once = || done = work.take().map(|work| work());
        self.device.immediate().on_behalf(copies, &mut once);
        done.expect("a stream does the work that it is given")
    }
}

impl Device {
    pub(crate) fn new(
        number: i32,
        backend: &'static dyn Backend,
        backend_index: usize,
        ordinal: usize,
    ) -> Self {
        Self {
            number,
            ordinal,
            backend,
            backend_index,
            opened: AtomicPtr::new(std::ptr::null_mut()),
            opening: Turn::default(),
            lost: AtomicBool::new(false),
            images_pending: AtomicBool::new(false),
            loading: Turn::default(),
            idle_streams: IdleStreams::new(),
            queues: Mutex::new(Vec::new()),
            queue_count: AtomicUsize::new(0),
            blocking_queues: AtomicUsize::new(0),
            lacks_images: AtomicBool::new(false),
            load: Load::default(),
            table: PresentTable::new(),
        }
    }

    /// The number programs use.
    #[must_use]
    pub fn number(&self) -> i32 {
        self.number
    }

    /// The number among the devices of its back end.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// The back end.
    #[must_use]
    pub fn backend(&self) -> &'static dyn Backend {
        self.backend
    }

    /// Index of its back end in the runtime.
    pub(crate) fn backend_index(&self) -> usize {
        self.backend_index
    }

    /// Whether the other device is one of the same back end.
    pub(crate) fn shares_backend(&self, other: &Self) -> bool {
        self.backend_index == other.backend_index
    }

    /// Opens the device if it is not open.
    ///
    /// # Errors
    /// It cannot be opened (the same answer every time).
    #[inline]
    pub(crate) fn open(&self) -> Result<&Opened> {
        let opened = match self.opened_already() {
            Some(opened) => opened,
            None => self.open_now(),
        };
        opened.as_ref().map_err(|error| {
            let lost = self.lost.load(Ordering::Relaxed);
            let kind = if lost { ErrorKind::Forked } else { ErrorKind::DeviceOpen(error.clone()) };
            Error::new(kind, self.number, None)
        })
    }

    #[inline]
    fn opened_already(&self) -> Option<&std::result::Result<Opened, gangway_backend::Error>> {
        // SAFETY: what has been published is never freed.
        unsafe { self.opened.load(Ordering::Acquire).as_ref() }
    }

    #[cold]
    fn open_now(&self) -> &std::result::Result<Opened, gangway_backend::Error> {
        let _turn = self.opening.take();
        if let Some(opened) = self.opened_already() {
            return opened;
        }
        let opened = self.backend.open(self.ordinal).map(|device| {
            let mut capabilities = device.capabilities();
            capabilities.packed_transfers &= !events::contents_are_waited_for();
            if events::observed() {
                let architecture = device.architecture();
                events::tell(|observer| observer.opened(self.number, &architecture));
                gangway_trace::device(self.number, &self.in_words(&*device, &architecture));
            }
            let pool = capabilities.pooled_memory.then(Pool::default);
            let staging = capabilities.pinned_staging.then(Staging::default);
            Opened {
                device,
                capabilities,
                pool,
                staging,
                host_calls: Connection::default(),
                heap: Heap::default(),
            }
        });
        let mine = Box::into_raw(Box::new(opened));
        let published =
            self.opened.compare_exchange(std::ptr::null_mut(), mine, Ordering::AcqRel, Ordering::Acquire);
        let current = match published {
            Ok(_) => mine,
            Err(theirs) => {
                // SAFETY: made above, and nobody has seen it. Closes the device once more.
                drop(unsafe { Box::from_raw(mine) });
                theirs
            }
        };
        // SAFETY: what has been published is never freed.
        unsafe { &*current }
    }

    /// What it is, for reports.
    fn in_words(&self, device: &dyn gangway_backend::Device, architecture: &str) -> String {
        let facts = device.describe();
        let name = facts.iter().find(|(key, _)| key == "Name").map(|(_, name)| format!(", {name}"));
        format!("{}, {architecture}{}", self.backend.name(), name.unwrap_or_default())
    }

    /// Whether it has been used.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.opened_already(), Some(Ok(_)))
    }

    /// What the device can do; opens it.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn capabilities(&self) -> Result<Capabilities> {
        Ok(self.open()?.capabilities)
    }

    /// Lines that describe it; opens it.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn describe(&self) -> Result<Vec<(String, String)>> {
        Ok(self.open()?.device.describe())
    }

    /// A stream for one job, recycled where possible. `None` on synchronous devices.
    #[inline]
    pub(crate) fn take_stream(&self, opened: &Opened) -> Result<Option<StreamRef>> {
        self.idle_stream(opened).map_err(|error| self.backend_error(error))
    }

    #[inline]
    fn idle_stream(&self, opened: &Opened) -> std::result::Result<Option<StreamRef>, gangway_backend::Error> {
        if !opened.capabilities.asynchronous {
            return Ok(None);
        }
        self.pooled_stream(opened).map(Some)
    }

    // Not in its callers: devices without streams share those with this.
    #[inline(never)]
    fn pooled_stream(&self, opened: &Opened) -> std::result::Result<StreamRef, gangway_backend::Error> {
        self.idle_streams.take().map_or_else(|| opened.device.open_stream().map(StreamRef::new), Ok)
    }

    /// Keeps a stream for the next job.
    #[inline(never)]
    pub(crate) fn give_stream_back(&self, stream: StreamRef) {
        self.idle_streams.put(stream);
    }

    /// Waits for a stream and keeps it for the next job: after a failure, too,
    /// which is told once.
    pub(crate) fn finish_stream(&self, stream: StreamRef) -> std::result::Result<(), gangway_backend::Error> {
        let waited = stream.synchronize();
        self.give_stream_back(stream);
        waited
    }

    /// Takes the streams that no construct uses.
    pub(crate) fn take_idle_streams(&self) -> Vec<StreamRef> {
        self.idle_streams.take_all()
    }

    /// What it was opened with, if it is open and can be used.
    pub(crate) fn opened_if_usable(&self) -> Option<&Opened> {
        self.opened_already()?.as_ref().ok()
    }

    /// Runs an operation in a stream of the pool, or at once on synchronous devices, and waits for it.
    pub(crate) fn at_once(
        &self,
        opened: &Opened,
        operation: impl FnOnce(&dyn Stream) -> std::result::Result<(), gangway_backend::Error>,
    ) -> std::result::Result<(), gangway_backend::Error> {
        let stream = self.idle_stream(opened)?;
        let issued = operation(opened.at(stream));
        let waited = stream.map_or(Ok(()), |stream| self.finish_stream(stream));
        issued.and(waited)
    }

    /// Wraps a failure of the back end that has no better name.
    pub(crate) fn backend_error(&self, error: gangway_backend::Error) -> Box<Error> {
        self.error(ErrorKind::Backend(error), None)
    }

    /// Mapped ranges near an address, for messages.
    pub(crate) fn near(&self, host: usize) -> Vec<HostRange> {
        let range = |entry: gangway_present::EntryRef<'_>| HostRange {
            begin: entry.host_begin(),
            size: entry.host_end() - entry.host_begin(),
            label: entry.label(),
        };
        self.table.neighbours(host, 3).into_iter().map(range).collect()
    }

    /// Whether an image could not be loaded.
    pub(crate) fn lacks_images(&self) -> bool {
        self.lacks_images.load(Ordering::Relaxed)
    }

    /// Constructs that are under way, if they are counted ([`balance`](crate::placement::balance)).
    #[must_use]
    pub fn queued(&self) -> usize {
        self.load.constructs()
    }

    /// Whether images wait to be loaded at the next use.
    #[inline]
    #[must_use]
    pub fn has_pending_images(&self) -> bool {
        self.images_pending.load(Ordering::Acquire)
    }
}
