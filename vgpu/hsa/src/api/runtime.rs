//! Initialising and shutting down (HSA runtime 1.2, 2.1), and the texts of statuses (2.2).

use std::ffi::{CStr, c_char};

use super::entry::{Call, entry};
use crate::abi::{Out, Result, Status};
use crate::objects::process::opened;
use crate::objects::process::report::report;
use crate::objects::process::state;
use crate::objects::{agent, fault, memory, program, queue, signal, transfer};

/// Starts the runtime, or counts that it is used once more.
#[entry(before_init)]
fn hsa_init(_: &Call) -> Result {
    state::initialise(|| {
        agent::start();
        signal::start();
        queue::start();
        opened::tell();
    })
}

/// Takes an `hsa_init` back; the last one ends all that programs have made.
#[entry(before_init)]
fn hsa_shut_down(_: &Call) -> Result {
    state::shut_down(|| {
        queue::end_all();
        transfer::forget_all();
        signal::end_all();
        program::end_all();
        fault::forget_handlers();
        memory::locked::unlock_all();
        if agent::all().first().is_some_and(|agent| agent.config().check_memory)
            && let Some(leaks) = memory::leaks()
        {
            report!("{}", leaks.trim_end());
        }
        memory::free_all();
    })
}

/// The text of a status.
#[entry(before_init)]
fn hsa_status_string(_: &Call, status: Status, text: Out<*const c_char>) -> Result {
    text.check()?;
    let found = status.text();
    text.put(found.map_or(std::ptr::null(), CStr::as_ptr))?;
    if found.is_some() { Ok(()) } else { Err(Status::ERROR_INVALID_ARGUMENT) }
}
