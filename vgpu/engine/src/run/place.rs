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
    place.source = source(module, body, instruction, at.instruction.unwrap_or(0) as usize);
    place
}

/// The line that an instruction is of. Optimisers give line 0 to what they have made of several instructions, or moved: then it
/// is that of the next one that has a line, which is mostly who uses its result, or of the one before.
fn source(
    module: &Module,
    body: &Body,
    instruction: &Instruction,
    number: usize,
) -> Option<(String, u32, u32)> {
    let location =
        |instruction: &Instruction| instruction.location.and_then(|id| body.locations.get(id.index()));
    let own = location(instruction)?;
    let near = || {
        let (before, behind) = (body.instructions.get(..number)?, body.instructions.get(number..)?);
        let known = |instruction: &Instruction| location(instruction).filter(|near| near.line != 0);
        behind.iter().find_map(known).or_else(|| before.iter().rev().find_map(known))
    };
    let location = if own.line == 0 { near().unwrap_or(own) } else { own };
    let file = module.files.iter().find(|file| file.index == location.file)?;
    Some((file.name.to_string(), location.line, location.column))
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
