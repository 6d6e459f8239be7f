//! Launches of kernels that are compiled.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gangway_engine::{Access, Facts, KernelLaunch, Reason};
use gangway_gcn::Decoder;
use gangway_gcn_interpreter::{Dispatch, Fault, FaultKind, Lane, Memory};
use gangway_gcn_lifter::{Shape, parameters};

use super::memory::Device;
use crate::objects::agent::Agent;
use crate::objects::process::config::Execution;
use crate::objects::process::report::report;
use crate::objects::process::trace;
use crate::objects::program::compiled::Code;
use crate::objects::program::kernel::Kernel;

/// Runs a kernel to its end, if it is to be compiled and can be.
pub(super) fn run(
    agent: &Agent,
    kernel: &Kernel,
    memory: &Device,
    dispatch: &Dispatch,
    stop: &Arc<AtomicBool>,
) -> Option<Result<(), Box<Fault>>> {
    let execution = agent.config().execution;
    if execution == Execution::Interpreted {
        return None;
    }
    let packet = &dispatch.packet;
    // What is wrong with a launch the interpreter tells.
    dispatch.check(memory).ok()?;
    let mut shape = Shape::new(packet.workgroup, packet.grid);
    // If the program has told them rightly there, the code may rely on them.
    shape.sizes = kernel.sizes.filter(|offset| {
        let mut word = [0; 4];
        let told = memory.read(packet.kernarg_address.wrapping_add(u64::from(*offset)), &mut word);
        told.is_ok() && u32::from_le_bytes(word) == shape.word()
    });
    let note = |why: &str| {
        if trace::tells() {
            report!("kernel {} is interpreted: {why}", kernel.name);
        }
    };
    let code = match kernel.compiled.code(agent, memory, packet.kernel_object, &kernel.name, shape, note) {
        Ok(code) => code,
        Err(why) if execution == Execution::CompiledOnly => {
            let kind = FaultKind::Unsupported(format!("the kernel, which cannot be compiled for {why},"));
            return Some(Err(fault(dispatch, kind)));
        }
        Err(_) => return None,
    };
    let launch = KernelLaunch {
        program: &code.program,
        kernel: code.kernel,
        grid: packet.groups(),
        block: shape.block(),
        shared: packet.group_segment_size,
        parameters: &parameters(dispatch, &code.descriptor),
        cooperative: false,
    };
    match agent.engine().launch_until(&launch, Some(Arc::clone(stop)), None) {
        Ok(()) => Some(Ok(())),
        // The engine's compiler refuses it, and nothing has run.
        Err(found) if found.reason == Reason::NotSupported && execution == Execution::Compiled => {
            if trace::tells() {
                report!("kernel {} is interpreted: {}", kernel.name, found.facts.what);
            }
            None
        }
        Err(found) => Some(Err(told(dispatch, memory, &code, &found))),
    }
}

/// A fault of no wave.
fn fault(dispatch: &Dispatch, kind: FaultKind) -> Box<Fault> {
    let kernel = dispatch.packet.kernel_object;
    let instruction = String::new();
    Box::new(Fault { kind, kernel, address: 0, offset: 0, instruction, group: [0; 3], wave: 0, lane: None })
}

/// What the engine says, in the words of the interpreter.
fn told(dispatch: &Dispatch, memory: &Device, code: &Code, found: &gangway_engine::Fault) -> Box<Fault> {
    let Facts { source, block, thread, .. } = &found.facts;
    let mut fault = fault(dispatch, FaultKind::Unsupported(found.facts.what.clone()));
    let half = source.as_ref().map_or(0, |(_, _, column)| column.saturating_sub(1));
    let mut number = 0;
    if let Some((_, line, _)) = source {
        fault.address = code.base + 4 * u64::from(line.saturating_sub(1));
        let entry = dispatch.packet.kernel_object.wrapping_add_signed(code.descriptor.entry_offset);
        fault.offset = fault.address.wrapping_sub(entry).cast_signed();
        let mut bytes = [0; 8];
        let size = if memory.read(fault.address, &mut bytes).is_ok() { 8 } else { 4 };
        if size == 8 || memory.read(fault.address, &mut bytes[..4]).is_ok() {
            if let Ok(instruction) = Decoder::of(dispatch.gpu).decode(&bytes[..size]) {
                fault.instruction = instruction.to_string();
            }
            number = bytes[0];
        }
    }
    fault.group = block.unwrap_or_default();
    if let Some([x, y, _]) = thread {
        fault.wave = *y;
        let lane = x + 32 * half;
        fault.lane = Some(Lane { number: lane as u8, item: item(dispatch, fault.group, 64 * y + lane) });
    }
    fault.kind = kind(dispatch, code, found, half, number);
    // What fails as a wave has no lane.
    if matches!(fault.kind, FaultKind::Trap(_) | FaultKind::Deadlock) {
        fault.lane = None;
    }
    fault
}

/// The work-item with a number in its work-group.
fn item(dispatch: &Dispatch, group: [u32; 3], index: u32) -> [u32; 3] {
    let extent: [u32; 2] = std::array::from_fn(|at| {
        let size = u32::from(dispatch.packet.workgroup[at]);
        size.min(dispatch.packet.grid[at].saturating_sub(group[at].saturating_mul(size))).max(1)
    });
    let [x, y] = extent;
    [index % x, index / x % y, index / x / y]
}

fn kind(dispatch: &Dispatch, code: &Code, found: &gangway_engine::Fault, half: u32, number: u8) -> FaultKind {
    let facts = &found.facts;
    let is_private = facts.instruction.as_deref().is_some_and(|name| name.contains(".local"));
    match (found.reason, facts.access, facts.own_access) {
        (Reason::Timeout, ..) => FaultKind::Stopped,
        (_, Some(Access { address, size, write, .. }), _) if is_private => FaultKind::OutsidePrivate {
            // The second lane's memory is behind the first one's.
            address: address.saturating_sub(u64::from(half) * code.private),
            size: size as usize,
            limit: dispatch.packet.private_segment_size as usize,
            write,
        },
        (_, Some(Access { address, size, write, .. }), _) => {
            FaultKind::OutOfBounds { address, size: size as usize, write }
        }
        (_, None, Some(Access { address, size, write, .. })) => FaultKind::OutsideGroup {
            address,
            size: size as usize,
            limit: dispatch.packet.group_segment_size as usize,
            write,
        },
        _ if facts.instruction.as_deref() == Some("trap") => FaultKind::Trap(number),
        _ => FaultKind::Unsupported(facts.what.clone()),
    }
}
