//! One opened device: its memory, its images, its streams, and what runs in them.

use crate::arguments::{ArgumentTable, TableRequest};
use crate::completion::Completion;
use crate::error::{Error, Result};
use crate::foreign::ForeignRuntime;
use crate::handles::{DevicePtr, EventHandle, StreamHandle};
use crate::host_call::{HostCallService, VisibleMemory};
use crate::kernel::{Kernel, Occupancy};
use crate::module::Module;
use crate::session::{Session, SessionState};
use crate::types::{AllocationKind, Capabilities, Launch, LaunchShape, Properties, RangeNotice, Rank};

/// One opened device.
///
/// Methods that take a `stream` may return before the operation is done if
/// [`Capabilities::asynchronous`] is set; operations of one stream happen in
/// order. Synchronous devices always get `None`.
pub trait Device: Send + Sync {
    /// What this device can do.
    fn capabilities(&self) -> Capabilities;

    /// Tells what programs call this device (`omp_get_device_num`), and how many devices they
    /// know (`omp_get_num_devices`): before images are loaded, each time that some are.
    fn numbered(&self, _number: i32, _devices: i32) {}

    /// `(key, value)` lines for `__tgt_print_device_info` and `gangway info`.
    fn describe(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The kind of processor, as compilers and LLVM's runtime name it
    /// (`generic-64bit`, `sm_90`, `gfx90a`); tools are told.
    fn architecture(&self) -> String {
        "unknown".to_owned()
    }

    /// What programs ask about this device; `None` if it does not say.
    fn properties(&self) -> Option<Properties> {
        None
    }

    /// The launch of a kernel that keeps this device busiest, with teams of `most_threads`
    /// threads at most (0: as many as it can have).
    ///
    /// # Errors
    /// [`Error::Unsupported`]: whoever asks decides without, or what the driver says.
    fn occupancy(&self, _kernel: &Kernel, _most_threads: u32) -> Result<Occupancy> {
        Err(Error::Unsupported { operation: "questions for the occupancy" })
    }

    /// The runtime underneath, for programs that mix OpenMP with it (`interop`
    /// constructs); `None` if there is none that a program could call.
    fn foreign_runtime(&self) -> Option<ForeignRuntime> {
        None
    }

    /// Has calls of the foreign runtime that the program makes on this thread go to this device.
    fn make_current(&self) {}

    /// What the foreign runtime calls a stream of this device (a `CUstream`, an
    /// `hsa_queue_t *`, …).
    fn foreign_stream(&self, stream: StreamHandle) -> usize {
        stream.0
    }

    /// How well an image that the back end [recognises](crate::Backend::recognises) suits this very
    /// device: of a binary with code for several architectures, which is the best.
    ///
    /// # Errors
    /// It cannot run here: [`Error::InvalidImage`] with what the image is for and what the
    /// device is.
    fn fitness(&self, _image: &[u8]) -> Result<Rank> {
        Ok(Rank::default())
    }

    /// Loads an image. If that fails, the runtime tries the next best one of the program.
    ///
    /// # Errors
    /// [`Error::InvalidImage`] with what is wrong with it, or what the driver says.
    fn load(&self, image: &[u8]) -> Result<Box<dyn Module>>;

    /// Allocates `size` bytes, aligned for any scalar and at least to 16.
    /// `overwritten` promises that all of it is about to be written, so that a
    /// back end which poisons new memory need not.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Unsupported`] for a kind it lacks.
    fn allocate(&self, size: usize, kind: AllocationKind, overwritten: bool) -> Result<DevicePtr>;

    /// Frees what [`allocate`](Self::allocate) returned with the same kind.
    ///
    /// # Safety
    /// `pointer` came from this device's `allocate`, has not been freed, and no
    /// operation in flight uses it.
    ///
    /// # Errors
    /// What the driver says.
    unsafe fn deallocate(&self, pointer: DevicePtr, kind: AllocationKind) -> Result<()>;

    /// Allocates `size` bytes of device memory in the order of a stream: for its operations
    /// from here on, and for those of other streams behind an event of it.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate). Only called if
    /// [`Capabilities::stream_ordered_memory`] is set.
    fn allocate_in_stream(&self, _size: usize, _stream: StreamHandle) -> Result<DevicePtr> {
        Err(Error::Unsupported { operation: "stream-ordered memory" })
    }

    /// The same for memory that a kernel waits for, so that neither this call nor the stream may wait
    /// for kernels.
    ///
    /// # Errors
    /// As [`allocate_in_stream`](Self::allocate_in_stream).
    fn allocate_promptly(&self, size: usize, stream: StreamHandle) -> Result<DevicePtr> {
        self.allocate_in_stream(size, stream)
    }

    /// Frees what [`allocate_in_stream`](Self::allocate_in_stream) and
    /// [`allocate_promptly`](Self::allocate_promptly) returned, behind the
    /// operations of a stream of the device, which need not be the same.
    ///
    /// # Safety
    /// `pointer` came from this device's `allocate_in_stream`, has not been freed, and no
    /// operation that may still be under way uses it, but those before in this stream.
    ///
    /// # Errors
    /// What the driver says.
    unsafe fn deallocate_in_stream(&self, _pointer: DevicePtr, _stream: StreamHandle) -> Result<()> {
        Err(Error::Unsupported { operation: "stream-ordered memory" })
    }

    /// Copies `size` bytes from the host to the device.
    ///
    /// # Safety
    /// Both ranges are valid and stay so until the operation is done.
    ///
    /// # Errors
    /// What the driver says.
    unsafe fn copy_to_device(
        &self,
        to: DevicePtr,
        from: *const u8,
        size: usize,
        stream: Option<StreamHandle>,
    ) -> Result<()>;

    /// Copies `size` bytes from the device to the host.
    ///
    /// # Safety
    /// As [`copy_to_device`](Self::copy_to_device).
    ///
    /// # Errors
    /// What the driver says.
    unsafe fn copy_from_device(
        &self,
        to: *mut u8,
        from: DevicePtr,
        size: usize,
        stream: Option<StreamHandle>,
    ) -> Result<()>;

    /// Copies within this device, or to device `to_ordinal` of the same back end.
    ///
    /// # Safety
    /// As [`copy_to_device`](Self::copy_to_device).
    ///
    /// # Errors
    /// [`Error::Unsupported`]: the runtime then goes through host memory.
    unsafe fn copy_between(
        &self,
        _to_ordinal: usize,
        _to: DevicePtr,
        _from: DevicePtr,
        _size: usize,
        _stream: Option<StreamHandle>,
    ) -> Result<()> {
        Err(Error::Unsupported { operation: "copies between devices" })
    }

    /// Sets `size` bytes to `byte`.
    ///
    /// # Safety
    /// As [`copy_to_device`](Self::copy_to_device).
    ///
    /// # Errors
    /// [`Error::Unsupported`]: the runtime then copies from a filled buffer.
    unsafe fn fill(
        &self,
        _to: DevicePtr,
        _byte: u8,
        _size: usize,
        _stream: Option<StreamHandle>,
    ) -> Result<()> {
        Err(Error::Unsupported { operation: "memory fill" })
    }

    /// A job is about to launch a kernel. Only called if [`Capabilities::sessions`] is set.
    ///
    /// # Errors
    /// The device has nothing left that a launch needs. The session has not started then.
    fn session_start(&self, _session: &mut SessionState) -> Result<()> {
        Ok(())
    }

    /// A session that has [started](Self::session_start) is over: its kernel is done, has failed
    /// or was never launched. Comes on any thread.
    fn session_end(&self, _session: &mut SessionState) {}

    /// Memory for the arguments of this session's launch of `kernel`.
    ///
    /// # Errors
    /// No kernel-argument memory left.
    #[inline]
    fn argument_table<'s>(
        &self,
        session: &'s mut Session,
        _kernel: &Kernel,
        request: TableRequest,
    ) -> Result<ArgumentTable<'s>> {
        Ok(session.host_table(request))
    }

    /// Runs a kernel with the arguments in `table`, in the stream of its session. They
    /// have the form of the kernel's calling convention. The table's memory is the
    /// session's again when this returns.
    ///
    /// # Safety
    /// The table came from this device's [`argument_table`](Self::argument_table). The
    /// arguments are what the kernel expects; pointers among them are valid on the
    /// device until the kernel is done.
    ///
    /// # Errors
    /// The kernel could not be started, or (synchronous devices) failed.
    unsafe fn launch(&self, launch: &Launch<'_>, table: ArgumentTable<'_>) -> Result<()>;

    /// The shape that a launch will have, for those who watch. `None`: the device has no blocks
    /// of threads, or does not say.
    fn launch_shape(&self, _launch: &Launch<'_>) -> Option<LaunchShape> {
        None
    }

    /// Creates a stream.
    ///
    /// # Errors
    /// What the driver says.
    fn create_stream(&self) -> Result<StreamHandle> {
        Err(Error::Unsupported { operation: "streams" })
    }

    /// Makes a stream of one of the foreign runtime's, which stays the program's: destroying it
    /// leaves that alone.
    ///
    /// # Safety
    /// It is a stream of this device, and stays one until ours is destroyed.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    unsafe fn adopt_stream(&self, _foreign: usize) -> Result<StreamHandle> {
        Err(Error::Unsupported { operation: "streams of the program's" })
    }

    /// Destroys an idle stream.
    ///
    /// # Errors
    /// What the driver says.
    fn destroy_stream(&self, _stream: StreamHandle) -> Result<()> {
        Ok(())
    }

    /// Gives the driver what is kept for later work of a stream, unless work is under way in it.
    /// The stream stays.
    fn trim_stream(&self, _stream: StreamHandle) {}

    /// Gives the driver what is kept for later work of the device, beyond that of streams.
    fn trim(&self) {}

    /// Waits until all operations of the stream are done; reports the first that
    /// failed. The stream can be used again.
    ///
    /// # Errors
    /// The failure of one of the operations.
    fn synchronize(&self, _stream: StreamHandle) -> Result<()> {
        Ok(())
    }

    /// Whether all operations of the stream are done.
    ///
    /// # Errors
    /// The failure of one of the operations.
    fn is_idle(&self, stream: StreamHandle) -> Result<bool> {
        self.synchronize(stream).map(|()| true)
    }

    /// Records an event at the end of the stream.
    ///
    /// # Errors
    /// What the driver says. Only called if [`Capabilities::events`] is set.
    fn record_event(&self, _stream: StreamHandle) -> Result<EventHandle> {
        Err(Error::Unsupported { operation: "events" })
    }

    /// Makes the stream wait for an event of any stream of this device.
    ///
    /// # Errors
    /// What the driver says.
    fn wait_event(&self, _stream: StreamHandle, _event: EventHandle) -> Result<()> {
        Err(Error::Unsupported { operation: "events" })
    }

    /// Destroys an event, for which no stream waits any more.
    ///
    /// # Errors
    /// What the driver says.
    fn destroy_event(&self, _event: EventHandle) -> Result<()> {
        Ok(())
    }

    /// Has `completion` called when all operations that are in the stream now are done, or
    /// have failed: once, on any thread, which may be one of the driver's.
    ///
    /// # Errors
    /// What the driver says; then the back end has
    /// [cancelled](Completion::cancel) it. Only called if [`Capabilities::completions`]
    /// is set.
    fn on_complete(&self, _stream: StreamHandle, completion: Completion) -> Result<()> {
        completion.cancel();
        Err(Error::Unsupported { operation: "completion callbacks" })
    }

    /// Pins host memory and gives the address the device reaches it by.
    ///
    /// # Safety
    /// The range is valid host memory until unpinned.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    unsafe fn pin_host(&self, _host: *mut u8, _size: usize) -> Result<DevicePtr> {
        Err(Error::Unsupported { operation: "pinned host memory" })
    }

    /// Undoes [`pin_host`](Self::pin_host).
    ///
    /// # Safety
    /// The address was given to `pin_host` and is not in use.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    unsafe fn unpin_host(&self, _host: *mut u8) -> Result<()> {
        Err(Error::Unsupported { operation: "pinned host memory" })
    }

    /// Memory for a channel of host calls. It is zero.
    ///
    /// # Errors
    /// What the driver says. Only called if [`Capabilities::host_calls`] is a channel.
    fn allocate_visible(&self, _size: usize) -> Result<VisibleMemory> {
        Err(Error::Unsupported { operation: "memory that host and device see" })
    }

    /// Frees what [`allocate_visible`](Self::allocate_visible) gave.
    ///
    /// # Safety
    /// It came from there, has not been freed, and neither side uses it any more.
    ///
    /// # Errors
    /// What the driver says.
    unsafe fn deallocate_visible(&self, _memory: VisibleMemory) -> Result<()> {
        Err(Error::Unsupported { operation: "memory that host and device see" })
    }

    /// Gives the device what it serves the host calls of its kernels with: when the first
    /// image that makes some has been loaded, before a kernel of it runs. A second call
    /// brings the same.
    ///
    /// # Errors
    /// The device cannot serve them; the image is not used then. Only called if
    /// [`Capabilities::host_calls`] says that it can.
    fn connect_host_calls(&self, _service: HostCallService) -> Result<()> {
        Err(Error::Unsupported { operation: "host calls" })
    }

    /// Whether no kernel runs that has been launched here, so that none calls the host before
    /// [`HostCallService::launched`]. False where that is not known. Any thread may ask, at any time.
    fn is_quiet(&self) -> bool {
        false
    }

    /// Whether an address lies in memory or in an image of the device; `None` if the back end
    /// does not know. Asked only where the program wants to be told what it did not map.
    fn is_device_memory(&self, _address: usize) -> Option<bool> {
        None
    }

    /// Whether kernels can access all `size` bytes at an address, taken as one of the device's.
    fn reaches(&self, _address: DevicePtr, _size: usize) -> bool {
        self.capabilities().unified_memory
    }

    /// Tells that a range of host memory is mapped, is no longer mapped, or is used in place.
    /// It is a hint: what the back end makes of it cannot fail the program. Comes on the
    /// thread of the construct, with its `stream` where operations of it follow. Only called if
    /// [`Capabilities::mapping_notices`] is set.
    fn host_range(&self, _notice: RangeNotice, _stream: Option<StreamHandle>) {}
}
