//! What the system is like, and extensions (HSA runtime 1.2, 2.2).

use std::ffi::{c_char, c_void};

use super::entry::{Call, entry};
use super::private_table;
use crate::abi::handle::Handle;
use crate::abi::number::{extension, system};
use crate::abi::pointer::Value;
use crate::abi::{Out, Result, Status};
use crate::objects::agent::{self, Agent};
use crate::objects::process::clock;

/// The version of the specification.
const VERSION: (u16, u16) = (1, 2);
/// The version of AMD's extension that its newest functions here are of.
const EXTENSION_VERSION: (u16, u16) = (1, 0);
const BUILD: &std::ffi::CStr = c"gangway";

/// An attribute of the system.
#[entry]
fn hsa_system_get_info(_: &Call, attribute: u32, value: Value) -> Result {
    value.check()?;
    match attribute {
        system::VERSION_MAJOR => value.put(VERSION.0),
        system::VERSION_MINOR => value.put(VERSION.1),
        system::TIMESTAMP => value.put(clock::now()),
        system::TIMESTAMP_FREQUENCY => value.put(clock::FREQUENCY),
        system::SIGNAL_MAX_WAIT => value.put(u64::MAX),
        // Little endian, and 64-bit addresses (HSA_MACHINE_MODEL_LARGE).
        system::ENDIANNESS => value.put(0u32),
        system::MACHINE_MODEL => value.put(1u32),
        system::EXTENSIONS => value.put([0u8; 128]),
        system::BUILD_VERSION => value.put(BUILD.as_ptr()),
        // Host memory that is not locked is usable as it is, or not at all: no pages move.
        system::SVM_SUPPORTED | system::MWAITX_ENABLED | system::DMABUF_SUPPORTED => value.put(false),
        system::VIRTUAL_MEM_API_SUPPORTED => value.put(false),
        system::SVM_ACCESSIBLE_BY_DEFAULT | system::XNACK_ENABLED => value.put(agent::shares_host()),
        system::EXT_VERSION_MAJOR => value.put(EXTENSION_VERSION.0),
        system::EXT_VERSION_MINOR => value.put(EXTENSION_VERSION.1),
        _ => Err(Status::ERROR_INVALID_ARGUMENT),
    }
}

/// The name of an extension.
#[entry]
fn hsa_extension_get_name(_: &Call, number: u16, name: Out<*const c_char>) -> Result {
    name.check()?;
    let text = match u32::from(number) {
        extension::FINALIZER => c"HSA_EXTENSION_FINALIZER",
        extension::IMAGES => c"HSA_EXTENSION_IMAGES",
        extension::PERFORMANCE_COUNTERS => c"HSA_EXTENSION_PERFORMANCE_COUNTERS",
        extension::PROFILING_EVENTS => c"HSA_EXTENSION_PROFILING_EVENTS",
        extension::AMD_PROFILER => c"HSA_EXTENSION_AMD_PROFILER",
        extension::AMD_LOADER => c"HSA_EXTENSION_AMD_LOADER",
        extension::AMD_AQLPROFILE => c"HSA_EXTENSION_AMD_AQLPROFILE",
        _ => return Err(Status::ERROR_INVALID_ARGUMENT),
    };
    name.put(text.as_ptr())
}

/// Whether a number is that of an extension at all.
fn known(number: u16) -> Result {
    match u32::from(number) {
        0..=extension::PROFILING_EVENTS | extension::AMD_PROFILER..=extension::AMD_AQLPROFILE => Ok(()),
        _ => Err(Status::ERROR_INVALID_ARGUMENT),
    }
}

/// Whether an extension is supported: none is.
#[entry]
fn hsa_system_extension_supported(
    _: &Call,
    number: u16,
    _major: u16,
    _minor: u16,
    result: Out<bool>,
) -> Result {
    result.check()?;
    known(number)?;
    result.put(false)
}

/// The same, with the version that is.
#[entry]
fn hsa_system_major_extension_supported(
    _: &Call,
    number: u16,
    _major: u16,
    _minor: Out<u16>,
    result: Out<bool>,
) -> Result {
    result.check()?;
    known(number)?;
    result.put(false)
}

/// The functions of an extension: there are none.
#[entry]
fn hsa_system_get_extension_table(
    _: &Call,
    _number: u16,
    _major: u16,
    _minor: u16,
    _table: *mut c_void,
) -> Result {
    Err(Status::ERROR_INVALID_ARGUMENT)
}

/// The functions of an extension: there are none but Gangway's own.
#[entry]
fn hsa_system_get_major_extension_table(
    _: &Call,
    number: u16,
    major: u16,
    length: usize,
    table: *mut c_void,
) -> Result {
    private_table::put(number, major, length, table)
}

/// Whether an agent supports an extension: none does.
#[entry]
fn hsa_agent_extension_supported(
    _: &Call,
    number: u16,
    agent: Handle,
    _major: u16,
    _minor: u16,
    result: Out<bool>,
) -> Result {
    Agent::get(agent)?;
    result.check()?;
    known(number)?;
    result.put(false)
}

/// The same, with the version that it supports.
#[entry]
fn hsa_agent_major_extension_supported(
    _: &Call,
    number: u16,
    agent: Handle,
    _major: u16,
    _minor: Out<u16>,
    result: Out<bool>,
) -> Result {
    Agent::get(agent)?;
    result.check()?;
    known(number)?;
    result.put(false)
}
