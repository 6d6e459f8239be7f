//! Streams and contexts of CUDA's, for programs that call that, too (OpenACC 3.3 section A.2.1).

use crate::device;
use crate::device_type::SYNC;
use crate::failure::done;
use crate::queues::{self, is_valid};
use crate::thread::{self, Place};
use gangway_backend::{ForeignRuntime, ForeignRuntimeKind};
use gangway_frontend::guard::guard;
use gangway_frontend::host::Host;
use gangway_frontend::message;
use gangway_runtime::Device;
use gangway_runtime::queue::{self, Queue};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

fn used() -> Option<&'static Device> {
    thread::current()?.place.device()
}

fn foreign() -> Option<(i32, ForeignRuntime)> {
    let device = used()?;
    Some((device.number(), foreign_of(device)?))
}

/// A device's runtime, if it is CUDA: these routines are for no other.
fn foreign_of(device: &'static Device) -> Option<ForeignRuntime> {
    use ForeignRuntimeKind::{Cuda, CudaDriver};
    let foreign = queue::foreign_runtime(device).ok()??;
    matches!(foreign.kind, Cuda | CudaDriver).then_some(foreign)
}

/// A pointer to the `CUdevice` that the thread uses; null if it uses none.
pub extern "C" fn acc_get_current_cuda_device() -> *mut c_void {
    /// By device: what the program gets the address of.
    static HANDLES: Mutex<BTreeMap<i32, Box<i32>>> = Mutex::new(BTreeMap::new());
    guard(std::ptr::null_mut(), || {
        let Some((number, foreign)) = foreign() else { return std::ptr::null_mut() };
        let Some(handle) = foreign.device.and_then(|handle| i32::try_from(handle).ok()) else {
            return std::ptr::null_mut();
        };
        let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = handles.entry(number).or_insert_with(|| Box::new(handle));
        std::ptr::from_mut(&mut **kept).cast()
    })
}

/// The `CUcontext` that the thread uses; null if it uses none.
pub extern "C" fn acc_get_current_cuda_context() -> *mut c_void {
    guard(std::ptr::null_mut(), || {
        let context = foreign().and_then(|(_, foreign)| foreign.context);
        context.map_or(std::ptr::null_mut(), |context| context as *mut c_void)
    })
}

/// The `CUstream` of a queue; null if it has none.
pub extern "C" fn acc_get_cuda_stream(asynchronous: i32) -> *mut c_void {
    guard(std::ptr::null_mut(), || {
        let of_cuda = |device: &&'static Device| is_valid(asynchronous) && foreign_of(device).is_some();
        let Some(device) = used().filter(of_cuda) else { return std::ptr::null_mut() };
        let stream = queues::existing(device, asynchronous).and_then(|queue| queue.foreign());
        stream.map_or(std::ptr::null_mut(), |stream| stream as *mut c_void)
    })
}

/// Has a queue use a `CUstream` of the program's; answers 1 if it does.
///
/// # Safety
/// It is a stream of the device that the thread uses, and stays one.
pub unsafe extern "C" fn acc_set_cuda_stream<H: Host>(asynchronous: i32, stream: *mut c_void) -> i32 {
    guard(0, || {
        if !is_valid(asynchronous) || stream.is_null() {
            return 0;
        }
        let Place::Device(device) = device::current::<H>().place else { return -1 };
        if asynchronous == SYNC {
            message::debug(format_args!(
                "Refusing request to set CUDA stream associated with \"acc_async_sync\": it has none"
            ));
            return 0;
        }
        // SAFETY: the caller's promise.
        let queue = done(unsafe { Queue::adopt(device, stream.addr()) });
        queues::replace(device, asynchronous, queue);
        1
    })
}
