//! Where a warp is: the instruction that its code is made of, and the threads that run it.

use gangway_ptx::{Body, Instruction, Module};

use super::job::Job;
use crate::abi::Warp;
use crate::fault::{Place, Threads};
use crate::functions::Position;

/// The instruction at a position, and the body that it is in.
pub(super) fn instruction(module: &Module, at: Position) -> Option<(&Instruction, &Body)> {
    let body = module.functions.get(at.function as usize)?.body.as_ref()?;
    Some((body.instructions.get(at.instruction? as usize)?, body))
}

/// Where a warp is, and which of its lanes.
pub(super) fn place(job: &Job, warp: &Warp, at: Option<Position>, lanes: u32) -> Place {
    let known = at.map(|at| place_of(job, at)).unwrap_or_default();
    let (block, shared) = (Some(warp.block), Some(job.room.shared));
    Place { block, threads: threads(warp, lanes), shared, ..known }
}

/// The place of a position, whoever is there.
pub(super) fn place_of(job: &Job, at: Position) -> Place {
    let module = job.program().module();
    let function = Some(module.functions[at.function as usize].name.to_string());
    let mut place = Place { function, ..Place::default() };
    let Some((instruction, body)) = instruction(module, at) else { return place };
    place.instruction = Some(module.opcode(instruction).to_string());
    let location = instruction.location.and_then(|id| body.locations.get(id.index()));
    place.source = location.and_then(|location| {
        let file = module.files.iter().find(|file| file.index == location.file)?;
        Some((file.name.to_string(), location.line, location.column))
    });
    place
}

fn threads(warp: &Warp, lanes: u32) -> Threads {
    let thread = |lane: u32| warp.thread.map(|side| side[lane as usize]);
    let alive = !warp.exited;
    match (lanes, alive) {
        (0, 0) => Threads::Unknown,
        (0, _) if alive.count_ones() == 1 => Threads::One(thread(alive.trailing_zeros())),
        (0, _) => Threads::Among(thread(alive.trailing_zeros()), thread(31 - alive.leading_zeros())),
        _ => Threads::One(thread(lanes.trailing_zeros())),
    }
}
