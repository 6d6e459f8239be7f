//! The back end for tests.

use super::memory::DeviceMemory;
pub use super::options::{Call, Options, Passing, Timing};
use super::streams::{Access, Operation, Queues};
use gangway_backend::{
    AllocationKind, ArgumentForm, ArgumentTable, Backend, CallingConvention, Capabilities, Completion,
    Device, DevicePtr, Error, EventHandle, Kernel, KernelHandle, Launch, Module, Parameter, Parameters,
    RangeChange, RangeNotice, Rank, Result, Session, Stream, TableRequest,
};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, Weak};
use std::time::Duration;

/// What the back end writes into the slots that are its own.
const OWN_SLOTS: [u64; 3] = [0xe0, 0xe1, 0xe2];

/// Names of the kernels an image has.
pub const INCREMENT: &std::ffi::CStr = c"increment";

/// The device, and how tests look into it.
pub struct Mock {
    options: Options,
    queues: Mutex<Queues>,
    changed: Condvar,
    calls: Mutex<Calls>,
    /// What is to happen before a call, see [`before`](Mock::before).
    hook: Mutex<Option<(Call, Hook)>>,
    /// The runtime's device of it.
    pub device: OnceLock<&'static gangway_runtime::Device>,
}

/// Something that happens in the middle of a call.
type Hook = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Calls {
    made: BTreeMap<Call, usize>,
    /// Which call is to fail: the one after so many successful ones.
    fault: Option<(Call, usize)>,
    failed: bool,
    /// Images that are loaded.
    images: usize,
    /// Images whose constructor has run.
    constructed: usize,
    /// Images whose destructor has run.
    destroyed: usize,
    /// What the image that was loaded last has been told of indirect calls.
    indirect: Vec<(usize, DevicePtr)>,
    /// Images that were to be loaded, in order.
    tried: Vec<Vec<u8>>,
    /// An image was unloaded while a kernel, of whichever image, was under way.
    unloaded_busy: bool,
    /// Upper bounds of threads that the last launch came with.
    thread_limit: [u32; 3],
    /// What the last kernel that takes slots has been given.
    slots: Vec<u64>,
    /// Tables that kernels read from memory of the back end, by device address.
    tables: BTreeMap<usize, &'static [AtomicU64]>,
    notices: Vec<RangeNotice>,
    /// Pinned memory of the host, by address, and who has copied beside it.
    pinned: BTreeMap<usize, Box<[u8]>>,
    pageable: usize,
}

impl Mock {
    pub fn new(options: Options) -> Arc<Self> {
        let mock = Arc::new(Self {
            options,
            queues: Mutex::new(Queues::new(DeviceMemory::new(options.memory))),
            changed: Condvar::new(),
            calls: Mutex::default(),
            hook: Mutex::default(),
            device: OnceLock::new(),
        });
        if options.timing == Timing::Worker {
            let device = Arc::downgrade(&mock);
            std::thread::spawn(move || work(&device));
        }
        mock
    }

    pub fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap()
    }

    /// Has something happen just before the next call of a kind: what another thread could
    /// do at that moment.
    pub fn before(&self, call: Call, hook: impl FnOnce() + Send + 'static) {
        *self.hook.lock().unwrap() = Some((call, Box::new(hook)));
    }

    /// Makes one call fail: the one after `successes` more successful ones.
    pub fn fail(&self, call: Call, successes: usize) {
        let mut calls = self.calls.lock().unwrap();
        calls.fault = Some((call, successes));
        calls.failed = false;
    }

    /// Whether the call that was to fail has.
    pub fn stop_failing(&self) -> bool {
        let mut calls = self.calls.lock().unwrap();
        calls.fault = None;
        calls.failed
    }

    /// How often a call has been made.
    pub fn made(&self, call: Call) -> usize {
        self.calls.lock().unwrap().made.get(&call).copied().unwrap_or(0)
    }

    /// How many images are loaded; each has one block of globals.
    pub fn images(&self) -> usize {
        self.calls.lock().unwrap().images
    }

    /// How many images have been destroyed, by a kernel of theirs.
    pub fn destroyed(&self) -> usize {
        self.calls.lock().unwrap().destroyed
    }

    /// Images that were to be loaded since the last time, in order.
    pub fn tried(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.calls.lock().unwrap().tried)
    }

    /// What the image that was loaded last has been told of indirect calls.
    pub fn indirect(&self) -> Vec<(usize, DevicePtr)> {
        self.calls.lock().unwrap().indirect.clone()
    }

    /// How many images have been constructed.
    pub fn constructed(&self) -> usize {
        self.calls.lock().unwrap().constructed
    }

    /// Whether an image was unloaded while a kernel, of whichever image, was under way.
    pub fn unloaded_busy(&self) -> bool {
        self.calls.lock().unwrap().unloaded_busy
    }

    /// Upper bounds of threads that the last launch came with.
    pub fn thread_limit(&self) -> [u32; 3] {
        self.calls.lock().unwrap().thread_limit
    }

    /// What it has been told of ranges of the host since the last time.
    pub fn notices(&self) -> Vec<RangeNotice> {
        std::mem::take(&mut self.calls.lock().unwrap().notices)
    }

    /// Whether the runtime keeps memory of it.
    pub fn is_pooled(&self) -> bool {
        self.options.pooled
    }

    /// Whether nothing is left to do in any stream.
    pub fn is_all_done(&self) -> bool {
        self.queues().is_all_done()
    }

    /// How many copies came from or went to memory of the host that is not pinned.
    pub fn pageable(&self) -> usize {
        self.calls.lock().unwrap().pageable
    }

    /// Notes where a copy has its host side.
    fn look_at(&self, host: usize, size: usize) {
        let mut calls = self.calls.lock().unwrap();
        let block = calls.pinned.range(..=host).next_back();
        if block.is_none_or(|(begin, bytes)| host + size > begin + bytes.len()) {
            calls.pageable += 1;
        }
    }

    /// The contents of device memory.
    pub fn read(&self, pointer: DevicePtr, size: usize) -> Vec<u8> {
        self.queues().memory.bytes(pointer, size, "the test's reading").expect("allocated memory").to_vec()
    }

    /// What the last kernel has been given; it takes slots.
    pub fn last_slots(&self) -> Vec<u64> {
        self.calls.lock().unwrap().slots.clone()
    }

    /// Nothing was done against the rules.
    #[track_caller]
    pub fn assert_rules_kept(&self) {
        let violations = std::mem::take(&mut self.queues().memory.violations);
        assert!(violations.is_empty(), "{violations:#?}");
    }

    /// ... and nothing is left over, when the runtime has given back what it keeps.
    #[track_caller]
    pub fn assert_all_freed(&self) {
        if let Some(device) = self.device.get() {
            device.release_idle();
        }
        self.assert_rules_kept();
        let queues = self.queues();
        assert_eq!(queues.leftovers(), Vec::<String>::new());
        assert_eq!(queues.memory.alive(), self.images(), "memory that was not freed");
        assert_eq!(self.calls.lock().unwrap().pinned.len(), 0, "pinned memory that was not freed");
    }

    fn call(&self, call: Call) -> Result<()> {
        let hook = self.hook.lock().unwrap().take_if(|(awaited, _)| *awaited == call);
        if let Some((_, hook)) = hook {
            hook();
        }
        let mut calls = self.calls.lock().unwrap();
        *calls.made.entry(call).or_default() += 1;
        match &mut calls.fault {
            Some((faulty, 0)) if *faulty == call => {
                calls.fault = None;
                calls.failed = true;
                Err(Error::Device { code: 7, message: format!("{call:?} was made to fail") })
            }
            Some((faulty, successes)) if *faulty == call => {
                *successes -= 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Writes the slots that are the back end's; answers the only one that is not.
    fn own_slots_around(&self, table: &mut ArgumentTable<'_>) -> u64 {
        table.leading().copy_from_slice(&OWN_SLOTS[..1]);
        table.trailing().copy_from_slice(&OWN_SLOTS[1..]);
        let &[first, arguments, second, third] = table.slots() else {
            panic!("a kernel that takes a pointer to a table got {:?}", table.slots())
        };
        assert_eq!([first, second, third], OWN_SLOTS);
        arguments
    }

    fn issue(&self, operation: Operation, stream: Option<usize>) {
        let mut queues = self.queues();
        match (self.options.timing, stream) {
            (Timing::Synchronous, None) => queues.perform_now(operation),
            (Timing::Lazy | Timing::Worker, Some(stream)) => {
                queues.push(stream, operation);
                self.changed.notify_all();
            }
            (timing, stream) => {
                queues.memory.violations.push(format!("{timing:?} device got stream {stream:?}"));
            }
        }
    }
}

/// The device's own thread, until the device is gone.
fn work(device: &Weak<Mock>) {
    while let Some(mock) = device.upgrade() {
        let mut queues = mock.queues();
        if queues.step_any() {
            mock.changed.notify_all();
        } else {
            drop(mock.changed.wait_timeout(queues, Duration::from_millis(20)).unwrap());
        }
    }
}

/// The back end: one device.
pub struct MockBackend(pub Arc<Mock>);

impl Backend for MockBackend {
    fn name(&self) -> &str {
        "mock"
    }

    fn recognises(&self, image: &[u8]) -> bool {
        image.starts_with(b"MOCK")
    }

    fn device_count(&self) -> usize {
        1
    }

    fn open(&self, _ordinal: usize) -> Result<Box<dyn Device>> {
        let immediate = MockStream { mock: self.0.clone(), number: None };
        Ok(Box::new(MockDevice(self.0.clone(), immediate)))
    }
}

/// The device, and where operations go without a stream.
struct MockDevice(Arc<Mock>, MockStream);

/// A loaded image: the kernel, a global `counter` of 8 bytes that holds [`COUNTER`],
/// a global `function` that holds the address of a function, and a `constant` that
/// must not be written.
struct MockModule {
    mock: Arc<Mock>,
    globals: DevicePtr,
}

/// What tells the address at which the device sees memory of the host.
const VISIBLE: usize = 1 << 62;

/// What the device's `counter` begins with.
pub const COUNTER: u64 = 0x1234_5678;

/// What the device's `constant` holds.
pub const CONSTANT: u64 = 0x8765_4321;

/// What the device's `function` holds.
pub const FUNCTION: usize = 0xf00d_0000;

/// A kernel that runs when an image has been loaded: it counts.
const CONSTRUCTOR: KernelHandle = KernelHandle(2);

/// A kernel that runs when an image is about to be unloaded: it counts.
const DESTRUCTOR: KernelHandle = KernelHandle(3);

impl MockModule {
    fn load(mock: &Arc<Mock>) -> Self {
        let mut queues = mock.queues();
        let globals = queues.memory.place(24);
        let bytes = queues.memory.bytes(globals, 24, "the image").unwrap();
        bytes[..8].copy_from_slice(&COUNTER.to_ne_bytes());
        bytes[8..16].copy_from_slice(&FUNCTION.to_ne_bytes());
        bytes[16..].copy_from_slice(&CONSTANT.to_ne_bytes());
        drop(queues);
        mock.calls.lock().unwrap().images += 1;
        Self { mock: mock.clone(), globals }
    }
}

impl Drop for MockModule {
    fn drop(&mut self) {
        let mut queues = self.mock.queues();
        let busy = queues.has_kernels();
        queues.memory.displace(self.globals);
        drop(queues);
        self.mock.calls.lock().unwrap().unloaded_busy |= busy;
        self.mock.calls.lock().unwrap().images -= 1;
    }
}

impl Module for MockModule {
    fn kernel(&self, name: &str) -> Result<Kernel> {
        if name.as_bytes() == INCREMENT.to_bytes() {
            let convention = match self.mock.options.passing {
                Passing::Slots => CallingConvention::SLOTS,
                Passing::Packed(places) => {
                    let parameter = |&(offset, size)| Parameter { offset, size };
                    let list: Vec<Parameter> = places.iter().map(parameter).collect();
                    CallingConvention::packed(Parameters::new(list).unwrap())
                }
                Passing::Table(_) | Passing::VisibleTable(_) => {
                    CallingConvention { leading: Some(1), trailing: 2, ..CallingConvention::DEVICE_TABLE }
                }
            };
            let limits = self.mock.options.limits;
            // Any number is a handle.
            Ok(Kernel { convention, limits, ..Kernel::new(KernelHandle(0)) })
        } else {
            Err(Error::NoSuchSymbol { name: name.to_owned() })
        }
    }

    fn global(&self, name: &str, _size: usize) -> Result<DevicePtr> {
        match name {
            "counter" => Ok(self.globals),
            "function" => Ok(self.globals.offset(8)),
            "constant" => Ok(self.globals.offset(16)),
            _ => Err(Error::NoSuchSymbol { name: name.to_owned() }),
        }
    }

    fn is_writable(&self, global: DevicePtr, _size: usize) -> bool {
        global != self.globals.offset(16)
    }

    fn indirect_calls(&self, pairs: &[(usize, DevicePtr)]) -> Result<()> {
        self.mock.calls.lock().unwrap().indirect = pairs.to_vec();
        Ok(())
    }

    fn constructors(&self) -> Result<Vec<Kernel>> {
        Ok(vec![Kernel::new(CONSTRUCTOR)])
    }

    fn destructors(&self) -> Result<Vec<Kernel>> {
        Ok(vec![Kernel::new(DESTRUCTOR)])
    }
}

impl Device for MockDevice {
    fn capabilities(&self) -> Capabilities {
        let Options { timing, events, completions, pooled, stream_ordered, packed, .. } = self.0.options;
        let Options { notices, unified_memory, pinned, .. } = self.0.options;
        Capabilities {
            asynchronous: timing != Timing::Synchronous,
            events,
            completions,
            pooled_memory: pooled,
            stream_ordered_memory: stream_ordered,
            packed_transfers: packed,
            pinned_staging: pinned,
            mapping_notices: notices,
            unified_memory,
            ..Capabilities::default()
        }
    }

    /// The digit behind `MOCK` is the image's rank; `X` is for another device.
    fn fitness(&self, image: &[u8]) -> Result<Rank> {
        match image.get(4) {
            Some(b'X') => Err(Error::InvalidImage { reason: "it is for another mock".to_owned() }),
            Some(digit @ b'0'..=b'9') => Ok(Rank((digit - b'0').into())),
            _ => Ok(Rank::default()),
        }
    }

    fn load(&self, image: &[u8]) -> Result<Box<dyn Module>> {
        self.0.calls.lock().unwrap().tried.push(image.to_vec());
        if image.ends_with(b"BAD") {
            return Err(Error::InvalidImage { reason: "it says so".to_owned() });
        }
        Ok(Box::new(MockModule::load(&self.0)))
    }

    fn allocate(&self, size: usize, kind: AllocationKind, _overwritten: bool) -> Result<DevicePtr> {
        if kind == AllocationKind::Host && self.0.options.pinned {
            self.0.call(Call::Pin)?;
            let block = vec![0xee; size].into_boxed_slice();
            let address = block.as_ptr().expose_provenance();
            self.0.calls.lock().unwrap().pinned.insert(address, block);
            return Ok(DevicePtr(address));
        }
        self.0.call(Call::Allocate)?;
        self.0.queues().memory.allocate(size).ok_or(Error::OutOfMemory { requested: size })
    }

    unsafe fn deallocate(&self, pointer: DevicePtr, kind: AllocationKind) -> Result<()> {
        if kind == AllocationKind::Host && self.0.options.pinned {
            self.0.call(Call::Unpin)?;
            let block = self.0.calls.lock().unwrap().pinned.remove(&pointer.0);
            assert!(block.is_some(), "{pointer:?} is not pinned");
            return Ok(());
        }
        self.0.call(Call::Deallocate)?;
        self.0.queues().free(pointer);
        Ok(())
    }

    fn immediate(&self) -> &dyn Stream {
        &self.1
    }

    fn open_stream(&self) -> Result<Box<dyn Stream>> {
        self.0.call(Call::CreateStream)?;
        let number = self.0.queues().create_stream();
        Ok(Box::new(MockStream { mock: self.0.clone(), number: Some(number) }))
    }

    fn destroy_event(&self, event: EventHandle) -> Result<()> {
        self.0.call(Call::DestroyEvent)?;
        self.0.queues().destroy_event(event.0);
        self.0.changed.notify_all();
        Ok(())
    }
}

/// A stream; without a number, where operations of a synchronous device go.
struct MockStream {
    mock: Arc<Mock>,
    number: Option<usize>,
}

impl MockStream {
    fn number(&self) -> usize {
        self.number.expect("a synchronous device is not asked about streams")
    }
}

impl Stream for MockStream {
    fn allocate_in_order(&self, size: usize) -> Result<DevicePtr> {
        self.mock.call(Call::Allocate)?;
        let mut queues = self.mock.queues();
        let reserved = queues.memory.reserve(size).ok_or(Error::OutOfMemory { requested: size })?;
        queues.push(self.number(), Operation::Allocate { memory: reserved, size });
        self.mock.changed.notify_all();
        Ok(reserved)
    }

    unsafe fn deallocate_in_order(&self, pointer: DevicePtr) -> Result<()> {
        self.mock.call(Call::Deallocate)?;
        self.mock.queues().push(self.number(), Operation::Free { memory: pointer });
        self.mock.changed.notify_all();
        Ok(())
    }

    unsafe fn copy_to_device(&self, to: DevicePtr, from: *const u8, size: usize) -> Result<()> {
        self.mock.call(Call::ToDevice)?;
        self.mock.look_at(from.addr(), size);
        self.mock.issue(Operation::ToDevice { to, from: from.addr(), size }, self.number);
        Ok(())
    }

    unsafe fn copy_from_device(&self, to: *mut u8, from: DevicePtr, size: usize) -> Result<()> {
        self.mock.call(Call::FromDevice)?;
        self.mock.look_at(to.addr(), size);
        self.mock.issue(Operation::FromDevice { to: to.addr(), from, size }, self.number);
        Ok(())
    }

    fn argument_table<'s>(
        &self,
        session: &'s mut Session,
        kernel: &Kernel,
        request: TableRequest,
    ) -> Result<ArgumentTable<'s>> {
        if [CONSTRUCTOR, DESTRUCTOR].contains(&kernel.handle)
            || !matches!(self.mock.options.passing, Passing::VisibleTable(_))
        {
            return Ok(session.host_table(request));
        }
        let memory: &'static [AtomicU64] =
            (0..request.slots()).map(|_| AtomicU64::new(0)).collect::<Vec<_>>().leak();
        let address = DevicePtr(memory.as_ptr().addr() ^ VISIBLE);
        self.mock.calls.lock().unwrap().tables.insert(address.0, memory);
        let first = NonNull::from(memory).cast();
        // SAFETY: the memory is never used for anything else, and is never freed.
        Ok(unsafe { session.visible_table_at(first, address, request) })
    }

    unsafe fn launch(&self, launch: &Launch<'_>, mut table: ArgumentTable<'_>) -> Result<()> {
        if launch.kernel.handle == DESTRUCTOR {
            self.mock.calls.lock().unwrap().destroyed += 1;
            self.mock.issue(Operation::Kernel { accesses: Vec::new() }, self.number);
            return Ok(());
        }
        if launch.kernel.handle == CONSTRUCTOR {
            self.mock.calls.lock().unwrap().constructed += 1;
            self.mock.issue(Operation::Kernel { accesses: Vec::new() }, self.number);
            return Ok(());
        }
        self.mock.call(Call::Launch)?;
        self.mock.calls.lock().unwrap().thread_limit = launch.thread_limit;
        let operation = match self.mock.options.passing {
            Passing::Slots => {
                self.mock.calls.lock().unwrap().slots = table.slots().to_vec();
                Operation::Kernel { accesses: Access::list(table.slots()) }
            }
            Passing::Packed(places) => {
                let ArgumentForm::Packed(parameters) = &launch.kernel.convention.form else {
                    panic!("another kernel: {launch:?}")
                };
                let buffer = table.pack(parameters);
                let value = |&(offset, size): &(u32, u32)| {
                    let mut bytes = [0; 8];
                    bytes[..size as usize].copy_from_slice(&buffer[offset as usize..][..size as usize]);
                    u64::from_le_bytes(bytes)
                };
                Operation::Kernel { accesses: Access::list(&places.iter().map(value).collect::<Vec<_>>()) }
            }
            Passing::Table(count) => {
                let arguments = self.mock.own_slots_around(&mut table);
                Operation::TableKernel { table: DevicePtr(arguments as usize), count }
            }
            Passing::VisibleTable(count) => {
                let address = self.mock.own_slots_around(&mut table) as usize;
                let memory = self.mock.calls.lock().unwrap().tables[&address];
                let slots = memory[..count].iter().map(|slot| slot.load(Ordering::Relaxed));
                Operation::Kernel { accesses: Access::list(&slots.collect::<Vec<_>>()) }
            }
        };
        self.mock.issue(operation, self.number);
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        if self.number.is_none() {
            return Ok(());
        }
        let mut queues = self.mock.queues();
        if self.mock.options.timing == Timing::Lazy {
            queues.drain(self.number());
        } else {
            while !queues.is_idle(self.number()) {
                queues = self.mock.changed.wait(queues).unwrap();
            }
        }
        drop(queues);
        self.mock.call(Call::Synchronize)
    }

    fn is_idle(&self) -> Result<bool> {
        Ok(self.mock.queues().is_idle(self.number()))
    }

    fn record(&self) -> Result<EventHandle> {
        assert!(self.mock.options.events, "the device says that it has no events");
        self.mock.call(Call::RecordEvent)?;
        let event = self.mock.queues().record(self.number());
        self.mock.changed.notify_all();
        Ok(EventHandle(event))
    }

    fn wait(&self, event: EventHandle) -> Result<()> {
        self.mock.call(Call::WaitEvent)?;
        self.mock.queues().wait(self.number(), event.0);
        Ok(())
    }

    fn on_complete(&self, completion: Completion) -> Result<()> {
        if let Err(error) = self.mock.call(Call::OnComplete) {
            completion.cancel();
            return Err(error);
        }
        self.mock.queues().notify(self.number(), completion);
        self.mock.changed.notify_all();
        Ok(())
    }

    fn host_range(&self, notice: RangeNotice) {
        assert!(self.mock.options.notices, "the device has not asked");
        let synchronous = self.mock.options.timing == Timing::Synchronous;
        assert!(!synchronous || self.number.is_none(), "a stream of a synchronous device");
        let busy = self.mock.queues().uses_host(notice.begin, notice.size);
        if busy && matches!(notice.change, RangeChange::Unmapped(_)) {
            let early = format!("{notice:?} while an operation uses the range");
            self.mock.queues().memory.violations.push(early);
        }
        self.mock.calls.lock().unwrap().notices.push(notice);
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.mock.call(Call::DestroyStream)?;
        self.mock.queues().destroy_stream(self.number());
        Ok(())
    }
}
