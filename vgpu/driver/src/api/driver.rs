//! The driver itself: starting it, its version, errors, looking functions up, profiling.

use std::ffi::c_char;

use crate::abi::pointer::{Memory, Out, Text};
use crate::abi::status::{Result, Status};
use crate::api::entry::{Call, entry};
use crate::api::private_tables;
use crate::api::symbols::{self, Missing};
use crate::objects::process::config::driver_version;
use crate::objects::process::state;

/// `CUdriverProcAddressQueryResult`
const FOUND: u32 = 0;
const SYMBOL_NOT_FOUND: u32 = 1;
const VERSION_NOT_SUFFICIENT: u32 = 2;

/// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`, and all flags that there are.
const PER_THREAD: u64 = 2;
const FLAGS: u64 = 3;

/// The version that `cuGetProcAddress` is asked for, tells apart what it means itself.
fn find(name: Text, version: i32, flags: u64) -> Result<std::result::Result<*const (), Missing>> {
    if flags & !FLAGS != 0 || flags == FLAGS {
        return Err(Status::INVALID_VALUE);
    }
    let name = name.bytes()?;
    let name = std::str::from_utf8(name).unwrap_or_default();
    Ok(symbols::find(name, version, driver_version(), flags & PER_THREAD != 0))
}

#[entry(before_init)]
fn cuInit(_: &Call, flags: u32) -> Result {
    if flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    state::initialise()
}

#[entry(before_init)]
fn cuDriverGetVersion(_: &Call, version: Out<i32>) -> Result {
    version.set(driver_version())
}

#[entry(before_init)]
fn cuGetErrorName(_: &Call, error: u32, text: Out<*const c_char>) -> Result {
    let name = Status(error).name();
    text.set(name.map_or(std::ptr::null(), |name| name.as_ptr()))?;
    name.map(drop).ok_or(Status::INVALID_VALUE)
}

#[entry(before_init)]
fn cuGetErrorString(_: &Call, error: u32, text: Out<*const c_char>) -> Result {
    let description = Status(error).description();
    text.set(description.map_or(std::ptr::null(), |description| description.as_ptr()))?;
    description.map(drop).ok_or(Status::INVALID_VALUE)
}

#[entry(before_init)]
fn cuGetProcAddress(_: &Call, name: Text, function: Out<*const ()>, version: i32, flags: u64) -> Result {
    function.check()?;
    let found = find(name, version, flags)?;
    function.set(found.unwrap_or(std::ptr::null()))?;
    found.map(drop).map_err(|_| Status::NOT_FOUND)
}

#[entry(before_init)]
fn cuGetProcAddress_v2(
    _: &Call,
    name: Text,
    function: Out<*const ()>,
    version: i32,
    flags: u64,
    status: Out<u32>,
) -> Result {
    function.check()?;
    let found = find(name, version, flags)?;
    function.set(found.unwrap_or(std::ptr::null()))?;
    status.set_if_wanted(match found {
        Ok(_) => FOUND,
        Err(Missing::Name) => SYMBOL_NOT_FOUND,
        Err(Missing::Version) => VERSION_NOT_SUFFICIENT,
    });
    // Who takes a status looks there; only others are told by the result.
    if status.is_null() { found.map(drop).map_err(|_| Status::NOT_FOUND) } else { Ok(()) }
}

/// Tables of functions that are not public; NVIDIA's own libraries are made of them.
#[entry(before_init)]
fn cuGetExportTable(_: &Call, table: Out<*const ()>, id: Memory) -> Result {
    let id = id.at::<[u8; 16]>(0).get()?;
    table.set(std::ptr::null())?;
    private_tables::refused(&id);
    Err(Status::NOT_SUPPORTED)
}

#[entry]
fn cuProfilerInitialize(call: &Call, _configuration: Text, _output: Text, _mode: u32) -> Result {
    call.refuse()
}

/// There is no profiler that it could start.
#[entry]
fn cuProfilerStart(call: &Call) -> Result {
    call.context().map(drop)
}

#[entry]
fn cuProfilerStop(call: &Call) -> Result {
    call.context().map(drop)
}
