//! AMD's additions to signals.

use super::entry::{Call, entry, value};
use super::exports::entry as entries;
use super::signal::{check_consumers, watched};
use crate::abi::handle::Handle;
use crate::abi::pointer::Opaque;
use crate::abi::{List, Out, Result, Status};
use crate::objects::signal::Signal;
use crate::objects::signal::handler::{self, Function, Handler};
use crate::objects::signal::wait::{Condition, deadline, wait_any};

/// `HSA_AMD_SIGNAL_AMD_GPU_ONLY` makes no difference; `HSA_AMD_SIGNAL_IPC` is not supported.
const GPU_ONLY: u64 = 1;

/// Makes a signal with attributes.
#[entry]
fn hsa_amd_signal_create(
    call: &Call,
    value: i64,
    count: u32,
    consumers: List<Handle>,
    attributes: u64,
    signal: Out<Handle>,
) -> Result {
    signal.check()?;
    if attributes & !GPU_ONLY != 0 {
        return call.refuse();
    }
    check_consumers(count, consumers)?;
    signal.put(Signal::create(value)?.handle())
}

/// Where a signal's value is.
#[entry]
fn hsa_amd_signal_value_pointer(_: &Call, signal: Handle, pointer: Out<Opaque>) -> Result {
    pointer.check()?;
    pointer.put(Opaque::from_address(Signal::get(signal)?.value_address()))
}

/// Has a function called when a condition holds.
#[entry]
fn hsa_amd_signal_async_handler(
    _: &Call,
    signal: Handle,
    condition: u32,
    compared: i64,
    function: Option<Handler>,
    argument: Opaque,
) -> Result {
    let function = function.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    let condition = Condition::new(condition, compared)?;
    handler::add(Signal::get(signal)?, condition, function, argument)
}

/// Has a function called on the thread of handlers.
#[entry]
fn hsa_amd_async_function(_: &Call, function: Option<Function>, argument: Opaque) -> Result {
    handler::call(function.ok_or(Status::ERROR_INVALID_ARGUMENT)?, argument)
}

/// Sleeps until one of several conditions holds; which, or `u32::MAX` when the time is over.
///
/// # Safety
///
/// The lists have as many entries as is said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_signal_wait_any(
    count: u32,
    signals: List<Handle>,
    conditions: List<u32>,
    compared: List<i64>,
    timeout: u64,
    _hint: u32,
    satisfying: Out<i64>,
) -> u32 {
    let found = value(&entries::hsa_amd_signal_wait_any, u64::from(count), || {
        let watched = watched(&signals.get(count as usize)?, conditions, compared)?;
        Ok(wait_any(&watched, deadline(timeout), || false))
    });
    let Some((at, seen)) = found else { return u32::MAX };
    if !satisfying.is_null() {
        // It is not null.
        let _ = satisfying.put(seen);
    }
    at as u32
}

/// Sleeps until all of several conditions have held; 0, or `u32::MAX` when the time is over.
///
/// # Safety
///
/// The lists have as many entries as is said, and there is room for as many values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_signal_wait_all(
    count: u32,
    signals: List<Handle>,
    conditions: List<u32>,
    compared: List<i64>,
    timeout: u64,
    _hint: u32,
    satisfying: Opaque,
) -> u32 {
    let done = value(&entries::hsa_amd_signal_wait_all, u64::from(count), || {
        let until = deadline(timeout);
        for (at, (signal, condition)) in
            watched(&signals.get(count as usize)?, conditions, compared)?.into_iter().enumerate()
        {
            let seen = signal.wait(condition, until, || false);
            if !condition.holds(seen) {
                return Ok(false);
            }
            if !satisfying.is_null() {
                let place = satisfying.address() + 8 * at as u64;
                Out::from(Opaque::from_address(place)).put(seen)?;
            }
        }
        Ok(true)
    });
    if done { 0 } else { u32::MAX }
}
