//! The table of private functions, which Gangway's runtime asks for as if it were an extension.

use std::ffi::c_void;

use gangway_private_table::amd::{EXTENSION, Table, VERSION};
use gangway_private_table::{KernelFault, Place, ReceiveFault, Source, Text};

use crate::abi::Handle;
use crate::abi::{Result, Status};
use crate::objects::agent::{self, Agent};
use crate::objects::fault::{self, Facts};
use crate::objects::queue;

static TABLE: Table = Table { size: size_of::<Table>(), runtimes_queue, take_fault, requires_unified_memory };

/// Writes the table, if it is the one that is asked for.
pub(super) fn put(extension: u16, version: u16, length: usize, table: *mut c_void) -> Result {
    if extension != EXTENSION || version != VERSION || table.is_null() || length < size_of::<Table>() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: the caller says that there is room for so many bytes, which need not be aligned.
    unsafe { table.cast::<Table>().write_unaligned(TABLE) };
    Ok(())
}

extern "C" fn runtimes_queue(queue: u64) {
    queue::is_runtimes(queue);
}

extern "C" fn requires_unified_memory() {
    agent::share_host();
}

extern "C" fn take_fault(agent: u64, receive: ReceiveFault, argument: *mut c_void) -> bool {
    let Some(facts) = Agent::get(Handle(agent)).ok().and_then(|agent| fault::take(agent.number())) else {
        return false;
    };
    let Facts { kernel, what, access, near, function, instruction, source, threads } = &facts;
    let (address, size, write, foreign) = access.unwrap_or_default();
    let fault = KernelFault {
        kernel: Text::of(kernel),
        what: Text::of(what),
        near: Text::of(near),
        remark: Text::of(""),
        place: Place {
            function: Text::of_option(function.as_deref()),
            instruction: Text::of(instruction),
            source: Source::of(source.as_ref().map(|(file, line, column)| (&**file, *line, *column))),
        },
        threads: Text::of(threads),
        address,
        size,
        accessed: access.is_some(),
        write,
        foreign,
        stack_full: false,
    };
    receive(argument, &fault);
    true
}
