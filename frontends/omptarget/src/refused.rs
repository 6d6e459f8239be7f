//! Record and replay, and functions for LLVM's remote procedure calls: parts of the stock ABI that have no
//! meaning without its plugins. Each says so by name and fails as the ABI defines; none is called by code that
//! `-fopenmp` compiles.
#![allow(non_snake_case, reason = "the ABI's names")]

use crate::abi::FAIL;
use gangway_frontend::guard::guard;
use gangway_frontend::message::{debug, print_line};
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

/// Without effect: device code has no client of LLVM's remote procedure calls here, so there is no server
/// that could ask the function. Flang's library of release 23 registers one in every program, so this is
/// told on request only.
pub extern "C" fn __tgt_register_rpc_callback(_function: *const c_void) {
    guard((), || {
        debug(format_args!(
            "__tgt_register_rpc_callback is without effect: device code calls functions of the host by \
             gangway_host_call"
        ));
    });
}
