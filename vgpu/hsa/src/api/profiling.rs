//! When packets and copies began and ended (AMD's extension).

use super::entry::{Call, entry};
use crate::abi::handle::Handle;
use crate::abi::structure::Times;
use crate::abi::{Out, Result, Status};
use crate::objects::agent::Agent;
use crate::objects::agent::info::DEVICE_CLOCK;
use crate::objects::process::clock;
use crate::objects::signal::Signal;
use crate::objects::transfer;

/// When the packet with this completion signal began and ended.
#[entry]
fn hsa_amd_profiling_get_dispatch_time(_: &Call, agent: Handle, signal: Handle, times: Out<Times>) -> Result {
    times.check()?;
    if !Agent::get(agent)?.is_gpu() {
        return Err(Status::ERROR_INVALID_AGENT);
    }
    times.put(Signal::get(signal)?.times())
}

/// Has times noted for copies.
#[entry]
fn hsa_amd_profiling_async_copy_enable(_: &Call, enable: bool) -> Result {
    transfer::set_profiling(enable);
    Ok(())
}

/// When the copy with this completion signal began and ended.
#[entry]
fn hsa_amd_profiling_get_async_copy_time(_: &Call, signal: Handle, times: Out<Times>) -> Result {
    times.check()?;
    let signal = Signal::get(signal)?;
    // They have to be asked for, or there are none.
    if !transfer::is_profiling() {
        return Err(Status::ERROR);
    }
    times.put(signal.times())
}

/// A time that a kernel has read, on the system's clock.
#[entry]
fn hsa_amd_profiling_convert_tick_to_system_domain(
    _: &Call,
    agent: Handle,
    tick: u64,
    system: Out<u64>,
) -> Result {
    system.check()?;
    if !Agent::get(agent)?.is_gpu() {
        return Err(Status::ERROR_INVALID_AGENT);
    }
    system.put(tick.wrapping_mul(clock::FREQUENCY / DEVICE_CLOCK))
}
