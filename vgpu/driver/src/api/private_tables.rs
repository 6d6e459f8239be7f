//! Tables of private functions, `cuGetExportTable`: there is one of Gangway's own, and none of
//! NVIDIA's. In which cases that is told.
//!
//! Gangway's runtime asks for its table before it starts the driver, to say that reports and traces
//! are its own. A driver of NVIDIA's does not have the table.
//!
//! The CUDA runtime cannot do without them, so the program is about to fail and its user is told at
//! once. NVRTC asks for one and works as well without it, which is nothing to tell. What others do
//! is not known; they are told at the end of a process that has not used a device in any other way.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::abi::{CUcontext, CUdevice, CUdeviceptr, CUmodule, Status};
use crate::objects::context;
use crate::objects::device::{Device, leaks};
use crate::objects::process::report::report;
use crate::objects::process::{state, trace};
use crate::objects::program::module::Module;

/// What Gangway's runtime asks for; `backends/cuda/src/driver/virtual_gpu.rs` has it, too.
const GANGWAY: u128 = u128::from_be_bytes(*b"gangway-runtime\0");

/// As NVIDIA's tables begin: with their size.
#[repr(C)]
struct Table {
    size: usize,
    runtime_reports: extern "C" fn(),
    /// Has a function called, with an argument, again and again while warps of any device wait.
    when_warps_wait: extern "C" fn(listener: gangway_engine::Listener, context: *mut c_void),
    /// The runtime has loaded this module, and reports what its kernels do.
    runtimes_module: extern "C" fn(module: CUmodule),
    /// Tells the access for which a context was lost. Answers whether there is one.
    refused_access: extern "C" fn(context: CUcontext, access: &mut Access) -> bool,
    /// Whether each access of a device's kernels is checked to the byte.
    checks_memory: extern "C" fn(device: CUdevice) -> bool,
    /// The runtime keeps what it has allocated at an address.
    runtimes_memory: extern "C" fn(address: CUdeviceptr),
}

static TABLE: Table = Table {
    size: size_of::<Table>(),
    runtime_reports,
    when_warps_wait,
    runtimes_module,
    refused_access,
    checks_memory,
    runtimes_memory,
};

/// An access of a kernel that was refused, for the runtime.
#[repr(C)]
struct Access {
    /// The first byte that is wrong.
    address: u64,
    size: u64,
    write: bool,
    /// No device has this address.
    foreign: bool,
}

extern "C" fn checks_memory(device: CUdevice) -> bool {
    Device::get(device).is_ok_and(Device::checks)
}

extern "C" fn runtimes_memory(address: CUdeviceptr) {
    leaks::keep(address);
}

extern "C" fn refused_access(context: CUcontext, access: &mut Access) -> bool {
    let Ok(context) = context.get() else { return false };
    if context.usable() != Err(Status::ILLEGAL_ADDRESS) {
        return false;
    }
    // Of another context of the device, if kernels of both have failed.
    let Some(refused) = context.device.engine().refused() else { return false };
    let gangway_engine::Access { address, size, write, foreign } = refused;
    *access = Access { address, size, write, foreign };
    true
}

extern "C" fn runtimes_module(module: CUmodule) {
    // One that has gone meanwhile launches nothing.
    let _ = Module::leave_to_runtime(module);
}

extern "C" fn when_warps_wait(listener: gangway_engine::Listener, context: *mut c_void) {
    gangway_engine::when_warps_wait(listener, context);
}

extern "C" fn runtime_reports() {
    trace::leave_to_runtime();
}

/// A table, by its number.
pub fn find(id: &[u8; 16]) -> Option<*const ()> {
    (u128::from_be_bytes(*id) == GANGWAY).then_some((&raw const TABLE).cast())
}

/// What libcudart asks for before anything else, and after `cuInit`.
const RUNTIME: [u128; 2] = [0xf8cff95121468b4eb9e2fb469e7c0dd9, 0x6bd5fb6c5bf4e74a8987d93912fd9df9];
/// What NVRTC asks for after `cuInit`.
const NVRTC: u128 = 0xda9151d33ae6cc41a5c04f26d533e328;

/// No lock: a forked child may ask, too.
static TOLD: AtomicBool = AtomicBool::new(false);

fn tell() {
    if !TOLD.swap(true, Ordering::Relaxed) {
        report!(
            "the virtual GPU does not support cuGetExportTable: it runs programs that use the driver API, not those \
             that use the CUDA runtime (libcudart)"
        );
    }
}

/// A table was asked for, by its number.
pub fn refused(id: &[u8; 16]) {
    static AT_EXIT: AtomicBool = AtomicBool::new(false);
    extern "C" fn at_exit() {
        if !state::is_forked() && !context::has_been_created() {
            tell();
        }
    }
    match u128::from_be_bytes(*id) {
        NVRTC => {}
        id if RUNTIME.contains(&id) => tell(),
        _ if AT_EXIT.swap(true, Ordering::Relaxed) => {}
        // SAFETY: a function without parameters that may run at any exit.
        _ => unsafe {
            libc::atexit(at_exit);
        },
    }
}
