//! From a warp that cannot go on to the fault that the launch ends with.

use gangway_interpreter::FaultKind;
use gangway_ptx::meaning::{AsyncCopy, Matrix, MatrixAccess};
use gangway_ptx::{Meaning, Module, Opcode, Operand};

use super::job::Job;
use super::place::{instruction, place};
use super::slot::Slot;
use super::trap::Trap;
use crate::abi::{LANES, Warp};
use crate::device::Device;
use crate::fault::{Fault, Place};
use crate::functions::Position;

/// The fault of a warp that has failed.
pub(crate) fn fault(device: &Device, job: &Job, slot: &Slot) -> Box<Fault> {
    // SAFETY: the fiber does not run.
    let warp = unsafe { &*slot.warp() };
    if let Some(failure) = slot.host().failures.take_failure() {
        // The call's own code ends where it returns to.
        let at = job.program().functions().find(failure.pc.wrapping_sub(1));
        return Fault::new(device, job.kernel.name(), &failure.kind, &place(job, warp, at, failure.lanes));
    }
    let Some(trap) = slot.host().failures.take_trap() else {
        return Fault::new(
            device,
            job.kernel.name(),
            &FaultKind::Launch("the warp stopped".to_owned()),
            &Place::default(),
        );
    };
    let table = job.program().functions();
    let (at, helper) = match table.find(trap.pc) {
        Some(at) => (Some(at), false),
        // A signal inside of a helper: what it was called for is the instruction.
        None => (table.find((warp.called_from as usize).wrapping_sub(1)), true),
    };
    let kind = kind(job.program().module(), &trap, at, slot);
    // A helper has the addresses of all lanes before it.
    let lanes = if helper { lanes_at(warp, trap.address as u64) } else { 0 };
    Fault::new(device, job.kernel.name(), &kind, &place(job, warp, at, lanes))
}

/// The fault of a warp that waits for ever.
pub(crate) fn deadlock(device: &Device, job: &Job, slot: &Slot) -> Box<Fault> {
    // SAFETY: the fiber does not run.
    let warp = unsafe { &*slot.warp() };
    let at = job.program().functions().find((warp.called_from as usize).wrapping_sub(1));
    Fault::new(device, job.kernel.name(), &FaultKind::Deadlock, &place(job, warp, at, 0))
}

fn kind(module: &Module, trap: &Trap, at: Option<Position>, slot: &Slot) -> FaultKind {
    if slot.guard.contains(&trap.address) {
        return FaultKind::StackOverflow;
    }
    match trap.signal {
        libc::SIGSEGV | libc::SIGBUS => {
            let instruction = at.and_then(|at| instruction(module, at));
            let (size, write) = instruction.map_or((1, false), |(instruction, body)| {
                access(module.opcode(instruction), body.operands(instruction))
            });
            FaultKind::OutOfBounds { address: trap.address as u64, size, write }
        }
        libc::SIGILL => FaultKind::Trap,
        signal => {
            FaultKind::Launch(format!("compiled code raised signal {signal}, which is a fault of the engine"))
        }
    }
}

/// How many bytes an instruction accesses, and whether it writes.
fn access(opcode: &Opcode, operands: &[Operand]) -> (usize, bool) {
    match opcode.meaning {
        Meaning::Load(access) => (access.size() as usize, false),
        Meaning::Store(access) => (access.size() as usize, true),
        Meaning::Atomic(atomic) => (atomic.ty.size() as usize, true),
        // It writes to shared memory, which the helper has checked: only the read can fail.
        Meaning::Copy(AsyncCopy::Start) => match operands.get(2) {
            Some(&Operand::Integer(size)) => (size as usize, false),
            _ => (1, false),
        },
        Meaning::Matrix(Matrix::Load(_)) => (MatrixAccess::ROW as usize, false),
        Meaning::Matrix(Matrix::Store(_)) => (MatrixAccess::ROW as usize, true),
        // What has no address of its own, such as a built-in function that is called.
        Meaning::Compute(_)
        | Meaning::Move { .. }
        | Meaning::ConvertAddress { .. }
        | Meaning::IsInSpace(_)
        | Meaning::Copy(AsyncCopy::Group)
        | Meaning::Stack(..)
        | Meaning::Control(_)
        | Meaning::Barrier(_)
        | Meaning::Exchange(_)
        | Meaning::Matrix(Matrix::Multiply(_) | Matrix::Transpose)
        | Meaning::ActiveMask
        | Meaning::Fence { .. }
        | Meaning::Hint(_) => (opcode.ty(0).map_or(1, |ty| ty.size() as usize), false),
    }
}

/// The lane whose access begins at an address, or just before it. Those that do not run may have
/// addresses, too, which are further away.
fn lanes_at(warp: &Warp, address: u64) -> u32 {
    let near = |&lane: &usize| {
        let start = warp.addresses[lane];
        warp.exited >> lane & 1 == 0 && (start..start.saturating_add(16)).contains(&address)
    };
    let closest = (0..LANES).filter(near).max_by_key(|&lane| warp.addresses[lane]);
    closest.map_or(0, |lane| 1 << lane)
}
