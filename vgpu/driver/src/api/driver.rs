//! The driver itself: starting it, its version, errors, looking functions up, profiling.

use std::ffi::c_char;

use super::entry::{Call, entry};
use super::symbols::{self, Missing};
use super::{exports, private_tables};
use crate::abi::number::{proc_address, proc_address_result};
use crate::abi::{Out, Result, Status, Text, Untyped};
use crate::objects::device::Device;
use crate::objects::process::config::driver_version;
use crate::objects::process::state;

/// Looks a symbol up. What is missing is no error yet: the two functions tell it differently.
fn find(name: Text, version: i32, flags: u64) -> Result<std::result::Result<*const (), Missing>> {
    if flags & !proc_address::ALL != 0 || flags == proc_address::ALL {
        return Err(Status::INVALID_VALUE);
    }
    let name = name.bytes()?;
    let name = std::str::from_utf8(name).unwrap_or_default();
    let per_thread = flags & proc_address::PER_THREAD_DEFAULT_STREAM != 0;
    Ok(symbols::find(name, version, driver_version(), per_thread))
}

#[entry(before_init)]
fn cuInit(_: &Call, flags: u32) -> Result {
    if flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    state::prepare(exports::statistics)?;
    if Device::all().is_empty() {
        return Err(Status::NO_DEVICE);
    }
    state::set_started();
    Device::tell_report();
    Ok(())
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
        Ok(_) => proc_address_result::SUCCESS,
        Err(Missing::Name) => proc_address_result::SYMBOL_NOT_FOUND,
        Err(Missing::Version) => proc_address_result::VERSION_NOT_SUFFICIENT,
    });
    // A caller that takes a status looks there; only the others are told by the result.
    if status.is_null() { found.map(drop).map_err(|_| Status::NOT_FOUND) } else { Ok(()) }
}

/// Tables of functions that are not public; NVIDIA's own libraries are made of them.
#[entry(before_init)]
fn cuGetExportTable(_: &Call, table: Out<*const ()>, id: Untyped) -> Result {
    let id = id.at::<[u8; 16]>(0).get()?;
    if let Some(found) = private_tables::find(&id) {
        return table.set(found);
    }
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
