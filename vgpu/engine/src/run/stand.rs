//! Where threads stand that wait for others: the instruction, and where the program has called the runtime that waits.

use std::ops::Range;

use gangway_ptx::meaning::{Barrier, Hint};
use gangway_ptx::{Body, Instruction, Meaning, Module, Operand};

use super::fiber::{RESERVE, SIZE};
use super::job::Job;
use super::place::{instruction, place_of};
use crate::abi::Warp;
use crate::fault::Place;
use crate::frame::Frame;
use crate::functions::Position;
use crate::runtimes::{is_runtimes, takes_lock};

/// Where threads stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stand {
    pub at: Position,
    /// The same in the program's own code, if that is known.
    pub program: Option<Position>,
    /// The runtime's function that the program has called, or, where it has not, the one in which threads begin.
    pub entered: Option<u32>,
}

/// What threads wait at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub barrier: Barrier,
    /// All threads of the block come to it, or those of each warp together (PTX ISA 9.0 section 9.7.13.1).
    pub aligned: bool,
}

/// What threads wait for in a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    ForLock,
    /// A team that is not of whole warps, for which there is no barrier.
    ForTeam,
}

/// So many nanoseconds do threads of Gangway's device runtime sleep that wait for a lock or for their team
/// (`device/gpu/src/target/mod.rs`). The loops are inlined: by these numbers they are known.
const LOCK_SLEEP: i64 = 53;
const TEAM_SLEEP: i64 = 29;
/// The loops in which they do have no more instructions.
const LOOP: u32 = 16;
/// No thread calls functions that deep before it waits.
const DEPTH: usize = 64;

impl Stand {
    /// Where a warp's lanes are that have called a helper; `masked` if they are not all of the warp.
    pub fn new(job: &Job, warp: &Warp, masked: bool) -> Option<Self> {
        let find = |address: u64| job.program().functions().find((address as usize).wrapping_sub(1));
        let at = find(warp.called_from)?;
        let inner = if masked { called(warp, warp.frame) } else { Vec::new() };
        let outer = above(warp, |address| find(address).is_some());
        Some(Self::called_by(job, at, inner.into_iter().chain(outer).filter_map(find)))
    }

    /// Where a lane is that waits for others of its warp.
    pub fn of_lane(job: &Job, warp: &Warp, lane: usize) -> Option<Self> {
        let find = |address: u64| job.program().functions().find((address as usize).wrapping_sub(1));
        let at = find(warp.waiting.place[lane])?;
        // SAFETY: frames that are linked live.
        let own = linked(warp).find(|&frame| unsafe { (*frame).parked } >> lane & 1 != 0);
        let callers = own.map(|frame| called(warp, frame)).unwrap_or_default();
        Some(Self::called_by(job, at, callers.into_iter().filter_map(find)))
    }

    fn called_by(job: &Job, at: Position, callers: impl Iterator<Item = Position>) -> Self {
        let module = job.program().module();
        let is_runtimes = |at: &Position| is_runtimes(&module.functions[at.function as usize].name);
        if !is_runtimes(&at) {
            return Stand { at, program: Some(at), entered: None };
        }
        let mut entered = at.function;
        for caller in callers {
            if !is_runtimes(&caller) {
                return Stand { at, program: Some(caller), entered: Some(entered) };
            }
            entered = caller.function;
        }
        Stand { at, program: None, entered: Some(entered) }
    }

    /// The barrier that it is, if it is one.
    pub fn form(&self, module: &Module) -> Option<Form> {
        let (instruction, _) = instruction(module, self.at)?;
        let opcode = module.opcode(instruction);
        let Meaning::Barrier(barrier) = opcode.meaning else { return None };
        let name = opcode.to_string();
        let aligned = name.starts_with("bar.") || name.contains(".aligned");
        let old = module.target.processor < super::job::INDEPENDENT_LANES;
        Some(Form { barrier, aligned: aligned || old })
    }

    /// What threads wait for that step back from here, if a device runtime has them wait in a loop.
    pub fn waits(&self, module: &Module) -> Option<Waits> {
        let function = &module.functions[self.at.function as usize];
        let (body, number) = (function.body.as_ref()?, self.at.instruction?);
        if takes_lock(&function.name) {
            return Some(Waits::ForLock);
        }
        let sleep = |instruction: &Instruction| {
            let sleeps = module.opcode(instruction).meaning == Meaning::Hint(Hint::Sleep);
            match body.operands(instruction).last().filter(|_| sleeps)? {
                Operand::Integer(LOCK_SLEEP) => Some(Waits::ForLock),
                Operand::Integer(TEAM_SLEEP) => Some(Waits::ForTeam),
                _ => None,
            }
        };
        let (first, end) = (number.saturating_sub(LOOP), number.saturating_add(LOOP));
        let near = (first..).zip(body.instructions.get(first as usize..)?).take_while(|&(at, _)| at < end);
        let (at, waits) = near.filter_map(|(at, instruction)| Some((at, sleep(instruction)?))).next()?;
        // A loop of the program around that one may be as short.
        (innermost_loop(body, at) == innermost_loop(body, number)).then_some(waits)
    }

    /// The name of a function of the runtime's that the program has called.
    pub fn entered<'a>(&self, module: &'a Module) -> Option<&'a str> {
        Some(&module.functions[self.entered? as usize].name)
    }

    /// The place for people: the program's own, if that is known.
    pub fn place(&self, job: &Job) -> Place {
        let own = place_of(job, self.at);
        match self.program.filter(|program| *program != self.at) {
            // The instruction is the one that waits.
            Some(program) => Place { instruction: own.instruction, ..place_of(job, program) },
            None => own,
        }
    }

    /// Whether two threads are at one construct of the program, as far as is known.
    pub fn is_at_construct(&self, job: &Job, other: &Self) -> bool {
        let (Some(first), Some(second)) = (self.program, other.program) else { return true };
        let line = |at| place_of(job, at).source.filter(|(_, line, _)| *line != 0);
        first == second
            || matches!((line(first), line(second)), (Some(first), Some(second)) if first == second)
    }
}

/// The shortest stretch with an instruction that the code at its end leads back to.
fn innermost_loop(body: &Body, instruction: u32) -> Option<Range<u32>> {
    let back = |operand: &Operand, end: u32| {
        let Operand::Block(block) = operand else { return None };
        let start = body.blocks[block.index()].instructions.start;
        (start..end).contains(&instruction).then_some(start..end)
    };
    let ends = (1..).zip(&body.instructions);
    let loops =
        ends.flat_map(|(end, branch)| body.operands(branch).iter().filter_map(move |to| back(to, end)));
    loops.min_by_key(Range::len)
}

/// Where functions return to whose frames are linked, from a frame outwards.
fn called(warp: &Warp, from: *mut Frame) -> Vec<u64> {
    let mut calls = Vec::new();
    let mut at = from;
    while calls.len() < DEPTH && linked(warp).any(|frame| std::ptr::eq(frame, at)) {
        // SAFETY: frames that are linked live.
        unsafe {
            calls.push((*at).called_from);
            at = (*at).parent;
        }
    }
    calls
}

/// The frames that are linked, which all but those of converged code are.
fn linked(warp: &Warp) -> impl Iterator<Item = *mut Frame> + use<> {
    let next = |frame: *mut Frame| (!frame.is_null()).then_some(frame);
    // SAFETY: frames that are linked live.
    std::iter::successors(next(warp.frames), move |&frame| next(unsafe { (*frame).next }))
}

/// The addresses that functions of compiled code return to which are on the warp's stack, the innermost first.
///
fn above(warp: &Warp, is_code: impl Fn(u64) -> bool) -> Vec<u64> {
    let mut calls = Vec::new();
    let mut frame = warp.called_in;
    let stack = warp.stack_limit..warp.stack_limit - RESERVE as u64 + SIZE as u64 - 16;
    while calls.len() < DEPTH && stack.contains(&frame) && frame.is_multiple_of(8) {
        let at: *const [u64; 2] = std::ptr::with_exposed_provenance(frame as usize);
        // SAFETY: it is in the warp's stack, of which all is mapped. Code of Cranelift's begins with saving its
        // caller's frame pointer below the address that it returns to; others' is not followed.
        let [before, back] = unsafe { *at };
        if !is_code(back) || before <= frame {
            break;
        }
        calls.push(back);
        frame = before;
    }
    calls
}
