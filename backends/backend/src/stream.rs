//! One ordered queue of a device's operations.

use crate::arguments::{ArgumentTable, TableRequest};
use crate::completion::Completion;
use crate::error::{Error, Result};
use crate::handles::{DevicePtr, EventHandle};
use crate::host_watch::HostCopy;
use crate::kernel::Kernel;
use crate::session::Session;
use crate::session_state::SessionState;
use crate::source::SourceLocation;
use crate::types::{Copies, Launch, Origin, RangeNotice};

/// An ordered queue of a device's operations: copies, launches, memory that comes and goes in its
/// order, and events.
///
/// Operations of one stream happen in the order in which they are given to it. Those of two streams
/// are ordered by [events](Self::record) alone. Methods return before the operation is done if
/// [`Capabilities::asynchronous`](crate::Capabilities::asynchronous) is set; what fails then is
/// told by whoever waits.
///
/// A synchronous device has one that is done with each operation when the method returns
/// ([`Device::immediate`](crate::Device::immediate)), and opens no others.
///
/// Dropping a stream destroys it. It is idle then.
pub trait Stream: Send + Sync {
    /// Copies `size` bytes from the host to the device.
    ///
    /// # Safety
    /// Both ranges are valid and stay so until the operation is done.
    ///
    /// # Errors
    /// What the driver says.
    unsafe fn copy_to_device(&self, to: DevicePtr, from: *const u8, size: usize) -> Result<()>;

    /// Copies `size` bytes from the device to the host.
    ///
    /// # Safety
    /// As [`copy_to_device`](Self::copy_to_device).
    ///
    /// # Errors
    /// What the driver says.
    unsafe fn copy_from_device(&self, to: *mut u8, from: DevicePtr, size: usize) -> Result<()>;

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
    unsafe fn fill(&self, _to: DevicePtr, _byte: u8, _size: usize) -> Result<()> {
        Err(Error::Unsupported { operation: "memory fill" })
    }

    /// Allocates `size` bytes of device memory for the operations of this stream from here on, and
    /// for those of other streams behind an event of it.
    ///
    /// # Errors
    /// As [`Device::allocate`](crate::Device::allocate). Only called if
    /// [`Capabilities::stream_ordered_memory`](crate::Capabilities::stream_ordered_memory) is set.
    fn allocate_in_order(&self, _size: usize) -> Result<DevicePtr> {
        Err(Error::Unsupported { operation: "stream-ordered memory" })
    }

    /// The same for memory that a kernel waits for, so that neither this call nor the stream may wait
    /// for kernels.
    ///
    /// # Errors
    /// As [`allocate_in_order`](Self::allocate_in_order).
    fn allocate_promptly(&self, size: usize) -> Result<DevicePtr> {
        self.allocate_in_order(size)
    }

    /// Frees what [`allocate_in_order`](Self::allocate_in_order) and
    /// [`allocate_promptly`](Self::allocate_promptly) of any stream of the device returned, behind the
    /// operations of this one.
    ///
    /// # Safety
    /// `pointer` came from there, has not been freed, and no operation that may still be under way
    /// uses it, but those before in this stream.
    ///
    /// # Errors
    /// What the driver says.
    unsafe fn deallocate_in_order(&self, _pointer: DevicePtr) -> Result<()> {
        Err(Error::Unsupported { operation: "stream-ordered memory" })
    }

    /// A job is about to launch a kernel here. Only called if
    /// [`Capabilities::sessions`](crate::Capabilities::sessions) is set.
    ///
    /// # Errors
    /// The device has nothing left that a launch needs. The session has not started then.
    fn session_start(&self, _session: &mut SessionState) -> Result<()> {
        Ok(())
    }

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

    /// Runs a kernel with the arguments in `table`. They have the form of the kernel's calling
    /// convention. The table's memory is the session's again when this returns.
    ///
    /// # Safety
    /// The table came from this stream's [`argument_table`](Self::argument_table). The
    /// arguments are what the kernel expects; pointers among them are valid on the
    /// device until the kernel is done.
    ///
    /// # Errors
    /// The kernel could not be started, or (synchronous devices) failed.
    unsafe fn launch(&self, launch: &Launch<'_>, table: ArgumentTable<'_>) -> Result<()>;

    /// Waits until all operations of the stream are done; reports the first that
    /// failed. The stream can be used again.
    ///
    /// # Errors
    /// The failure of one of the operations.
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    /// Whether all operations of the stream are done.
    ///
    /// # Errors
    /// The failure of one of the operations.
    fn is_idle(&self) -> Result<bool> {
        self.synchronize().map(|()| true)
    }

    /// Records an event at the end of the stream. It is the device's to
    /// [destroy](crate::Device::destroy_event).
    ///
    /// # Errors
    /// What the driver says. Only called if [`Capabilities::events`](crate::Capabilities::events) is
    /// set.
    fn record(&self) -> Result<EventHandle> {
        Err(Error::Unsupported { operation: "events" })
    }

    /// Has what follows in the stream wait for an event of any stream of this device.
    ///
    /// # Errors
    /// What the driver says.
    fn wait(&self, _event: EventHandle) -> Result<()> {
        Err(Error::Unsupported { operation: "events" })
    }

    /// Has `completion` called when all operations that are in the stream now are done, or
    /// have failed: once, on any thread, which may be one of the driver's.
    ///
    /// # Errors
    /// What the driver says; then the back end has [cancelled](Completion::cancel) it. Only called if
    /// [`Capabilities::completions`](crate::Capabilities::completions) is set.
    fn on_complete(&self, completion: Completion) -> Result<()> {
        completion.cancel();
        Err(Error::Unsupported { operation: "completion callbacks" })
    }

    /// Tells that a range of host memory is mapped, is no longer mapped, or is used in place.
    /// It is a hint: what the back end makes of it cannot fail the program. Comes on the
    /// thread of the construct, in whose stream operations of it follow. A range that is no longer
    /// mapped, and one of a program's own storage, comes in
    /// [`Device::immediate`](crate::Device::immediate).
    /// Only called if [`Capabilities::mapping_notices`](crate::Capabilities::mapping_notices) is set.
    fn host_range(&self, _notice: RangeNotice) {}

    /// Tells whose affair it is what the calling thread copies and waits for during `work`. A hint for devices that look for
    /// mistakes of programs.
    fn on_behalf(&self, _copies: Copies, work: &mut dyn FnMut()) {
        work();
    }

    /// Tells that the copy which has just been put here reads or writes memory of the program, for the construct at a
    /// place. Only called if [`Capabilities::host_copies`](crate::Capabilities::host_copies) is set.
    fn host_copy(&self, _copy: &HostCopy, _construct: Option<SourceLocation<'_>>) {}

    /// Tells what of the program gives memory of the device up, before it is freed or used for something else: `size` bytes,
    /// or all that has been allocated there with 0. Only called if
    /// [`Capabilities::host_copies`](crate::Capabilities::host_copies) is set.
    fn memory_given_up(&self, _memory: DevicePtr, _size: usize, _by: &Origin) {}

    /// What the foreign runtime calls it (a `CUstream`, an `hsa_queue_t *`, …).
    fn foreign(&self) -> usize {
        0
    }

    /// Gives the driver what is kept for later work of the stream, unless work is under way in it.
    /// The stream stays.
    fn trim(&self) {}

    /// Destroys it, as dropping it does, and says what the driver says.
    ///
    /// # Errors
    /// What the driver says; the stream is gone all the same.
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
