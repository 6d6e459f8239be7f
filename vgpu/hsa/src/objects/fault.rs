//! Who is told that a kernel has failed: the user, on stderr; the program's handlers of system events,
//! if it was a wrong access; the queue's callback.

use std::sync::{Mutex, Once, PoisonError, RwLock};

use gangway_gcn_interpreter::{Fault, FaultKind, Lane};

use crate::abi::Status;
use crate::abi::number::fault_reason;
use crate::abi::pointer::Opaque;
use crate::abi::structure::MemoryFaultEvent;
use crate::objects::agent::{self, Agent};
use crate::objects::process::report::report;
use crate::objects::program::kernel::Kernel;

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

/// What is known of a kernel's failure.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The symbol.
    pub kernel: String,
    pub what: String,
    /// An access that was refused: its first wrong byte, its size, whether it was to write, and whether no device has the
    /// address.
    pub access: Option<(u64, u64, bool, bool)>,
    /// What the address is near to.
    pub near: String,
    /// The function that the instruction is in, as the source calls it.
    pub function: Option<String>,
    pub instruction: String,
    /// File, line, column.
    pub source: Option<(String, u32, u32)>,
    /// Work-group, wave, lane, work-item.
    pub threads: String,
}

/// Failures that Gangway's runtime has not told yet, one for each agent: what comes behind is a consequence. Should
/// it never ask they are told at the end of the process.
static WAITING: Mutex<Vec<(u32, String, Facts)>> = Mutex::new(Vec::new());

/// A kernel has failed, in a queue of the runtime's or not. The user is told by whoever knows the construct.
pub fn add(agent: &Agent, kernel: &Kernel, fault: &Fault, runtimes: bool) {
    let facts = facts(kernel, fault);
    let report = text(agent, fault, &facts);
    if !runtimes {
        report!("{report}");
        return;
    }
    static ONCE: Once = Once::new();
    // SAFETY: a function without parameters that may run at any exit.
    ONCE.call_once(|| unsafe {
        libc::atexit(tell_the_rest);
    });
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    if waiting.iter().all(|known| known.0 != agent.number()) {
        waiting.push((agent.number(), report, facts));
    }
}

/// What is known of the failure of an agent's kernel, once.
#[must_use]
pub fn take(agent: u32) -> Option<Facts> {
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    let at = waiting.iter().position(|known| known.0 == agent)?;
    Some(waiting.swap_remove(at).2)
}

extern "C" fn tell_the_rest() {
    // A forked process may have the lock of another thread's.
    let Ok(mut waiting) = WAITING.try_lock() else { return };
    std::mem::take(&mut *waiting).iter().for_each(|(_, text, _)| report!("{text}"));
}

fn facts(kernel: &Kernel, fault: &Fault) -> Facts {
    let mut access = None;
    let mut near = String::new();
    if let FaultKind::OutOfBounds { address, size, write } = fault.kind
        && let Ok(space) = agent::space()
    {
        let wrong = space.first_wrong(address, size as u64);
        let foreign = !gangway_device_memory::is_device_address(wrong);
        access = Some((wrong, size as u64, write, foreign));
        near = space.describe(wrong);
    }
    let code = &kernel.code;
    let lines = code.lines.as_ref().filter(|_| !fault.instruction.is_empty());
    let place = lines.and_then(|lines| lines.place(fault.address.checked_sub(code.base)?));
    let (source, function) = place.map_or((None, None), |place| (Some(place.source), place.function));
    let mut instruction = fault.instruction.clone();
    if !instruction.is_empty() {
        let sign = if fault.offset < 0 { "-" } else { "+" };
        instruction = format!("'{instruction}' (kernel{sign}{:#x})", fault.offset.unsigned_abs());
    }
    let [x, y, z] = fault.group;
    let mut threads = format!("work-group ({x}, {y}, {z}), wave {}", fault.wave);
    if let Some(Lane { number, item: [x, y, z] }) = fault.lane {
        threads += &format!(", lane {number}, work-item ({x}, {y}, {z})");
    }
    let what = fault.kind.to_string();
    Facts { kernel: kernel.name.to_string(), what, access, near, function, instruction, source, threads }
}

/// What the user is told.
fn text(agent: &Agent, fault: &Fault, facts: &Facts) -> String {
    let name = gangway_trace::pretty_kernel_name(&facts.kernel);
    let (number, what) = (agent.number(), agent.product());
    let mut text = format!("error: kernel {name} failed on agent {number} ({what}): {fault}");
    if let Some((file, line, _)) = &facts.source {
        text += &format!("\n  at {file}:{line}");
        if let Some(function) = &facts.function {
            text += &format!(", in {function}");
        }
    }
    if !facts.near.is_empty() {
        text += &format!("\n  the address is {}", facts.near);
    }
    text
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
