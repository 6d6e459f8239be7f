//! One opened device: its memory, its images and its streams.

use crate::accesses::{AccessPlace, Accesses};
use crate::error::{Error, Result};
use crate::foreign::ForeignRuntime;
use crate::handles::{DevicePtr, EventHandle};
use crate::host_call::{HostCallService, VisibleMemory};
use crate::kernel::{Kernel, Occupancy};
use crate::module::Module;
use crate::session_state::SessionState;
use crate::stream::Stream;
use crate::types::{AllocationKind, Capabilities, Launch, LaunchShape, Origin, Properties, Rank};

/// One opened device: what it is, its memory, its images. What runs on it goes through a [`Stream`].
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

    /// Tells what of the program has had memory allocated. Only called if
    /// [`Capabilities::mapping_notices`](crate::Capabilities::mapping_notices) is set.
    fn obtained(&self, _memory: DevicePtr, _origin: &Origin) {}

    /// Frees what [`allocate`](Self::allocate) returned with the same kind.
    ///
    /// # Safety
    /// `pointer` came from this device's `allocate`, has not been freed, and no
    /// operation in flight uses it.
    ///
    /// # Errors
    /// What the driver says.
    unsafe fn deallocate(&self, pointer: DevicePtr, kind: AllocationKind) -> Result<()>;

    /// A session that has [started](Stream::session_start) is over: its kernel is done, has failed
    /// or was never launched. Comes on any thread.
    fn session_end(&self, _session: &mut SessionState) {}

    /// The shape that a launch will have, for those who watch. `None`: the device has no blocks
    /// of threads, or does not say.
    fn launch_shape(&self, _launch: &Launch<'_>) -> Option<LaunchShape> {
        None
    }

    /// Where operations go without a stream. On synchronous devices it is where all go, and each is
    /// done when it returns; on others the runtime has none but [notices](Stream::host_range) here.
    fn immediate(&self) -> &dyn Stream;

    /// Opens a stream. Only called if [`Capabilities::asynchronous`] is set.
    ///
    /// # Errors
    /// What the driver says.
    fn open_stream(&self) -> Result<Box<dyn Stream>> {
        Err(Error::Unsupported { operation: "streams" })
    }

    /// Makes a stream of one of the foreign runtime's, which stays the program's: destroying ours
    /// leaves that alone.
    ///
    /// # Safety
    /// It is a stream of this device, and stays one until ours is destroyed.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    unsafe fn adopt_stream(&self, _foreign: usize) -> Result<Box<dyn Stream>> {
        Err(Error::Unsupported { operation: "streams of the program's" })
    }

    /// Destroys an event, for which no stream waits any more.
    ///
    /// # Errors
    /// What the driver says.
    fn destroy_event(&self, _event: EventHandle) -> Result<()> {
        Ok(())
    }

    /// Gives the driver what is kept for later work of the device, beyond that of streams.
    fn trim(&self) {}

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

    /// Which bytes of a range kernels have accessed since this was last asked, where the device notes every access.
    fn take_accesses(&self, _from: DevicePtr, _size: usize) -> Option<Accesses> {
        None
    }

    /// Has reads of a range told with their numbers, or only that there were some, where the device notes accesses.
    fn watch_reads(&self, _from: DevicePtr, _size: usize, _whether: bool) {}

    /// The place that a number of [`Accesses`] stands for.
    fn access_place(&self, _number: u32) -> Option<AccessPlace> {
        None
    }

    /// Whether kernels can access all `size` bytes at an address, taken as one of the device's.
    fn reaches(&self, _address: DevicePtr, _size: usize) -> bool {
        self.capabilities().unified_memory
    }
}
