//! What a launch and a copy cost outside the driver: the driver here answers at once.
//!
//! `cargo bench -p gangway-cuda`. Wanted: an empty region (launch and wait) in less than
//! 100 ns, of the microsecond that a region may cost the host in all.

use divan::{Bencher, black_box};
use gangway_backend::{Backend, Device, Kernel, Launch, Module, OwnSlots, Session, SourceText, TableRequest};
use gangway_cuda::{CudaBackend, Driver};
use std::ffi::{CStr, c_void};

fn main() {
    divan::main();
}

/// Functions of a driver that does nothing. What they do not name is success.
mod driver {
    use std::ffi::c_void;

    pub extern "C" fn success() -> i32 {
        0
    }

    pub extern "C" fn not_found() -> i32 {
        500
    }

    /// # Safety
    /// `value` is a place for a number.
    pub unsafe extern "C" fn one(value: *mut i32) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { value.write(1) };
        0
    }

    /// # Safety
    /// As [`one`].
    pub unsafe extern "C" fn many(value: *mut i32) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { value.write(1024) };
        0
    }

    /// # Safety
    /// `handle` is a place for a handle.
    pub unsafe extern "C" fn handle(handle: *mut *mut c_void) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { handle.write(std::ptr::dangling_mut()) };
        0
    }
}

fn find(name: &CStr) -> *mut c_void {
    match name.to_bytes() {
        b"cuDeviceGetCount" => driver::one as *mut c_void,
        b"cuDeviceGetAttribute" | b"cuFuncGetAttribute" => driver::many as *mut c_void,
        b"cuOccupancyMaxActiveBlocksPerMultiprocessor" => driver::one as *mut c_void,
        b"cuModuleGetGlobal_v2" => driver::not_found as *mut c_void,
        b"cuDevicePrimaryCtxRetain" | b"cuModuleLoadDataEx" | b"cuModuleGetFunction" | b"cuStreamCreate" => {
            driver::handle as *mut c_void
        }
        _ => driver::success as *mut c_void,
    }
}

fn device() -> Box<dyn Device> {
    CudaBackend::with_driver(Driver::resolve(&find).unwrap()).open(0).unwrap()
}

fn kernel(device: &dyn Device) -> (Box<dyn Module>, Kernel) {
    let module = device.load(b".version 7.0\n.target sm_80\n").unwrap();
    let kernel = module.kernel("k").unwrap();
    (module, kernel)
}

#[divan::bench(args = [0, 5, 10], sample_size = 10000)]
fn launch_and_wait(bencher: Bencher, arguments: usize) {
    let device = device();
    let (_module, kernel) = kernel(&*device);
    let stream = device.open_stream().unwrap();
    let mut session = Session::new();
    bencher.bench_local(|| {
        let request = TableRequest::of(&kernel.convention, OwnSlots { leading: 1, trailing: 0 }, arguments);
        let mut table = stream.argument_table(&mut session, &kernel, request).unwrap();
        table.extend(0..arguments as u64);
        table.close();
        let launch = Launch {
            kernel: &kernel,
            name: "k",
            source: SourceText::NONE,
            teams: [0, 1, 1],
            thread_limit: [0, 1, 1],
            trip_count: black_box(1 << 20),
            dynamic_group_memory: 0,
            replaced_group_memory: None,
            by_address: false,
        };
        // SAFETY: the driver does not run anything.
        unsafe { stream.launch(&launch, table) }.unwrap();
        stream.synchronize().unwrap();
    });
    stream.close().unwrap();
}

#[divan::bench(sample_size = 10000)]
fn copy(bencher: Bencher) {
    let device = device();
    let stream = device.open_stream().unwrap();
    let bytes = [0_u8; 64];
    // SAFETY: the driver does not copy anything.
    bencher.bench_local(|| unsafe {
        stream.copy_to_device(black_box(gangway_backend::DevicePtr(64)), bytes.as_ptr(), 64)
    });
    stream.close().unwrap();
}

#[divan::bench(sample_size = 10000)]
fn event(bencher: Bencher) {
    let device = device();
    let stream = device.open_stream().unwrap();
    bencher.bench_local(|| {
        let event = stream.record().unwrap();
        device.destroy_event(event).unwrap();
    });
    stream.close().unwrap();
}
