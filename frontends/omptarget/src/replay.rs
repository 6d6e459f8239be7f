//! Record and replay, and CUDA-style launches: parts of the stock ABI that have
//! no meaning without its plugins. Each says so by name and fails as the ABI
//! defines; none is called by code that `-fopenmp` compiles.
#![allow(non_snake_case, reason = "the ABI's names")]

use crate::abi::FAIL;
use gangway_openmp::guard::guard;
use gangway_openmp::message::print_line;
use std::ffi::c_void;

fn refuse(name: &str, instead: &str) {
    guard((), || print_line(format_args!("gangway: error: {name} is not supported\n  help: {instead}")));
}

/// Refused: recording needs the stock plugins' memory manager.
pub extern "C" fn __tgt_activate_record_replay(
    _device: i64,
    _size: u64,
    _address: *mut c_void,
    _record: bool,
    _save: bool,
    _offset: *mut u64,
) -> i32 {
    refuse("__tgt_activate_record_replay", "use `gangway run --trace` to see what a program launches");
    FAIL
}

/// Refused, see [`__tgt_activate_record_replay`].
pub extern "C" fn __tgt_target_kernel_replay(
    _location: *const c_void,
    _device: i64,
    _host: *const c_void,
    _memory: *const c_void,
    _size: i64,
    _arguments: *const c_void,
    _offsets: *const c_void,
    _count: i32,
    _teams: i32,
    _threads: i32,
    _trip_count: u64,
) -> i32 {
    refuse("__tgt_target_kernel_replay", "use `gangway run --trace` to see what a program launches");
    FAIL
}

/// `dim3` as CUDA's headers pass it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Dimensions {
    /// Extents.
    pub x: u32,
    /// See `x`.
    pub y: u32,
    /// See `x`.
    pub z: u32,
}

/// Refused: offloaded CUDA (`-foffload-via-llvm`) needs a GPU back end.
pub extern "C" fn __llvmPushCallConfiguration(
    _grid: Dimensions,
    _block: Dimensions,
    _shared: usize,
    _stream: *mut c_void,
) -> u32 {
    refuse("__llvmPushCallConfiguration", "compile the program as OpenMP");
    1
}

/// Refused, see [`__llvmPushCallConfiguration`].
pub extern "C" fn __llvmPopCallConfiguration(
    _grid: *mut Dimensions,
    _block: *mut Dimensions,
    _shared: *mut usize,
    _stream: *mut c_void,
) -> u32 {
    refuse("__llvmPopCallConfiguration", "compile the program as OpenMP");
    1
}

/// Refused, see [`__llvmPushCallConfiguration`].
pub extern "C" fn llvmLaunchKernel(
    _function: *const c_void,
    _grid: Dimensions,
    _block: Dimensions,
    _arguments: *mut *mut c_void,
    _shared: usize,
    _stream: *mut c_void,
) -> u32 {
    refuse("llvmLaunchKernel", "compile the program as OpenMP");
    1
}
