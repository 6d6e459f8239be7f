//! Who is told that a kernel has failed: the user, on stderr; the program's handlers of system events,
//! if it was a wrong access; the queue's callback.

use std::sync::{PoisonError, RwLock};

use gangway_gcn_interpreter::{Fault, FaultKind};

use crate::abi::Status;
use crate::abi::number::fault_reason;
use crate::abi::pointer::Opaque;
use crate::abi::structure::MemoryFaultEvent;
use crate::objects::agent::{self, Agent};
use crate::objects::process::report::report;

/// `hsa_amd_system_event_callback_t`
pub type Handler = extern "C" fn(&MemoryFaultEvent, Opaque) -> Status;

static HANDLERS: RwLock<Vec<(Handler, Opaque)>> = RwLock::new(Vec::new());

/// Has a function told of memory faults.
pub fn add_handler(handler: Handler, data: Opaque) {
    HANDLERS.write().unwrap_or_else(PoisonError::into_inner).push((handler, data));
}

pub fn forget_handlers() {
    HANDLERS.write().unwrap_or_else(PoisonError::into_inner).clear();
}

/// The status that a queue's callback gets, as ROCm maps what its driver says.
#[must_use]
pub fn status(kind: &FaultKind) -> Status {
    match kind {
        FaultKind::OutOfBounds { .. } => Status::ERROR_MEMORY_FAULT,
        FaultKind::OutsideGroup { .. } | FaultKind::OutsidePrivate { .. } | FaultKind::Misaligned { .. } => {
            Status::ERROR_MEMORY_APERTURE_VIOLATION
        }
        FaultKind::Illegal(_)
        | FaultKind::BadTarget(_)
        | FaultKind::BadRegister(_)
        | FaultKind::Unsupported(_) => Status::ERROR_ILLEGAL_INSTRUCTION,
        FaultKind::Launch(_) => Status::ERROR_INCOMPATIBLE_ARGUMENTS,
        _ => Status::ERROR_EXCEPTION,
    }
}

/// Tells the user what has happened.
pub fn tell(agent: &Agent, kernel: &str, fault: &Fault) {
    let name = gangway_trace::pretty_kernel_name(kernel);
    let what = agent.product();
    let place = match fault.kind {
        FaultKind::OutOfBounds { address, size, .. } => agent::space()
            .map(|space| space.describe(space.first_wrong(address, size as u64)))
            .map(|place| format!("\n  the address is {place}"))
            .unwrap_or_default(),
        _ => String::new(),
    };
    report!("error: kernel {name} failed on agent {} ({what}): {fault}{place}", agent.number());
}

/// Calls the handlers of system events for a memory fault; whether there are any.
#[must_use]
pub fn tell_handlers(agent: &Agent, kind: &FaultKind) -> bool {
    let FaultKind::OutOfBounds { address, .. } = *kind else { return false };
    let host = !gangway_device_memory::is_device_address(address);
    let reasons = if host { fault_reason::HOST_ONLY } else { fault_reason::PAGE_NOT_PRESENT };
    let event = MemoryFaultEvent { kind: 0, agent: agent.handle(), address, reasons, rest: [0; 4] };
    // No lock is held while they run: they may never return.
    let handlers = HANDLERS.read().unwrap_or_else(PoisonError::into_inner).clone();
    handlers.iter().for_each(|(handler, data)| {
        let _ = handler(&event, *data);
    });
    !handlers.is_empty()
}
