//! Makes PTX of kernels in AMD's machine code. The virtual AMD GPU has the engine of the other virtual GPU compile it.
//!
//! A wave of 64 lanes becomes one warp of 32 threads, each of which does the work of two lanes: `n` and `n + 32`.
//! All threads stay together, as waves do: a branch is one for the wave. Scalar registers are values that all
//! threads share, and a vector register is two values of each thread. What an instruction does to some lanes alone
//! is done to all, and chosen by the lane's bit of EXEC; memory is accessed under a predicate. Code that is
//! reached with all lanes on is there twice, once without all that ([`graph`]). Functions are a part of whoever calls
//! them, or stand apart where that is not possible ([`functions`]).
//!
//! [`lift`] is the way in for one kernel, [`lift_together`] for all of a code object that have their functions in common.
//! What is not known they refuse by name: then the kernel is interpreted. They must never guess.
//!
//! | Module | What is in it |
//! |---|---|
//! | `node` | values and blocks |
//! | `known` | bits of values that are known |
//! | `simplify` | what values are equal to |
//! | `graph` | the flow of a kernel |
//! | `demand` | which lanes of registers are needed |
//! | `state` | registers |
//! | `functions` | functions that stand apart |
//! | `start` | what registers begin with |
//! | `indexed` | registers with numbers that are known late |
//! | `scalar` | scalar instructions |
//! | `half` | numbers of 16 bits, and parts of numbers |
//! | `compare` | comparisons of lanes |
//! | `compute` | integers and bits |
//! | `float` | floating-point numbers |
//! | `exchange` | values of other lanes |
//! | `memory` | loads, stores and atomic operations |
//! | `vector` | vector instructions |
//! | `nan` | which bits NaN has |
//! | `asked` | which bits of values something depends on |
//! | `passes` | from all that was written to what is needed |
//! | `trim` | the registers that functions take and give |
//! | `emit` | PTX |
#![forbid(unsafe_code)]

mod asked;
mod compare;
mod compute;
mod demand;
mod emit;
mod exchange;
mod float;
mod functions;
mod graph;
mod half;
mod indexed;
mod known;
mod memory;
mod nan;
mod node;
mod passes;
mod scalar;
mod simplify;
mod start;
mod state;
mod trim;
mod vector;

use std::collections::{BTreeMap, BTreeSet};

use gangway_code_object::Descriptor;
use gangway_gcn::{Encoding, Gpu, Instruction};
use gangway_gcn_interpreter::Registers;
use rustc_hash::FxHashMap;

use crate::functions::{Functions, Unit};
use crate::node::{Block, End, Function, Op, Type, Value};
use crate::state::State;

pub use start::{PARAMETERS, Shape, parameters};

/// Why a kernel is not lifted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The instruction's name, or what it is about it.
    pub what: String,
    pub address: u64,
}

impl Refusal {
    /// Whether functions that stand apart may do without what is in the way.
    #[must_use]
    pub fn is_of_calls(&self) -> bool {
        graph::is_of_calls(self)
    }
}

/// The PTX of kernels.
#[derive(Clone, Debug)]
pub struct Lifted {
    pub text: String,
    /// Those of the kernels that are not in it, by their places in the list.
    pub refused: BTreeMap<usize, Refusal>,
    /// Lines that the text tells are words of the code behind this address, counted from 1; columns are 1 for a
    /// thread's first lane and 2 for the other.
    pub base: u64,
    /// Bytes of private memory of a lane; a thread's local memory has them twice.
    pub private: u64,
    /// It computes with addresses of private memory: each wave needs some of its own, as [`parameters`] tell.
    pub scratch: bool,
    /// Addresses without code that the kernel may jump to. Where it does it traps.
    pub nowhere: Vec<u64>,
}

/// Bytes of local memory that a thread should have: a function that calls itself takes some each time.
pub const STACK: u64 = 1 << 20;

impl Lifted {
    /// What a kernel is called in the text, by its place in the list.
    #[must_use]
    pub fn name(number: usize) -> String {
        format!("kernel{number}")
    }

    /// The instruction of a line that the text tells, and whether there is none at that address.
    #[must_use]
    pub fn place(base: u64, nowhere: &[u64], line: u32) -> (u64, bool) {
        let word = line.saturating_sub(1);
        match word.checked_sub(NOWHERE).and_then(|number| nowhere.get(number as usize)) {
            Some(address) => (*address, true),
            None => (base + 4 * u64::from(word), false),
        }
    }
}

/// Words from here on are those of [`Lifted::nowhere`].
const NOWHERE: u32 = 1 << 30;

/// What is lifted.
#[derive(Clone, Copy)]
pub struct Kernel<'a> {
    pub gpu: Gpu,
    pub descriptor: Descriptor,
    /// The address of its first instruction.
    pub entry: u64,
    /// How it is launched.
    pub shape: Shape,
    /// Fills bytes from an address, or says that they are not there.
    pub read: &'a dyn Fn(u64, &mut [u8]) -> bool,
    /// Whether so many bytes at an address are never written.
    pub constant: &'a dyn Fn(u64, u64) -> bool,
    /// Whether there is code at an address.
    pub is_code: &'a dyn Fn(u64) -> bool,
    /// Addresses of code that data holds.
    pub held: &'a [u64],
    pub apart: Apart,
}

/// Whose functions may stand apart where a kernel cannot be lifted without, and whether private memory may have
/// addresses. That is much code as a rule: GCC's kernels have all of libgomp, which takes longer to compile than most
/// kernels to be interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    /// Such kernels are refused.
    Nobodys,
    Gccs,
    All,
}

/// Those of some values that are addresses of code.
#[must_use]
pub fn held(values: impl IntoIterator<Item = u64>, is_code: impl Fn(u64) -> bool) -> Vec<u64> {
    let addresses = values.into_iter().filter(|value| value.is_multiple_of(4) && is_code(*value));
    addresses.collect::<BTreeSet<u64>>().into_iter().collect()
}

/// Lifts a kernel with all that it reaches.
///
/// # Errors
/// The name of an instruction that is not known, or what else is in the way.
pub fn lift(kernel: &Kernel<'_>) -> Result<Lifted, Refusal> {
    start::check(kernel)?;
    let kernels = std::slice::from_ref(kernel);
    match whole(kernels, false).and_then(alone) {
        Err(refusal) if kernel.apart != Apart::Nobodys && refusal.is_of_calls() => {
            match whole(kernels, true).and_then(alone) {
                Err(other) if other.what == graph::NOT_GCC => Err(refusal),
                outcome => outcome,
            }
        }
        outcome => outcome,
    }
}

/// Lifts kernels of one code object with the functions that stand apart, each of them once. Kernels that need something else
/// than the first one ([`are_alike`]), or cannot be lifted, are left out.
///
/// # Errors
/// What is in the way in a function.
pub fn lift_together(kernels: &[Kernel<'_>]) -> Result<Lifted, Refusal> {
    whole(kernels, true)
}

/// Whether functions are the same for kernels with these descriptors: they have the same registers and modes.
#[must_use]
pub fn are_alike(gpu: Gpu, one: &Descriptor, other: &Descriptor) -> bool {
    let of = |descriptor: &Descriptor| {
        let rsrc1 = descriptor.rsrc1;
        (Registers::of(gpu, descriptor), rsrc1.denorm_mode_32(), rsrc1.denorm_mode_16_64())
    };
    of(one) == of(other)
}

/// Whether a kernel can have the functions of another one.
fn fits(first: &Kernel<'_>, kernel: &Kernel<'_>) -> Result<(), Refusal> {
    start::check(kernel)?;
    if are_alike(first.gpu, &first.descriptor, &kernel.descriptor) {
        return Ok(());
    }
    Err(Refusal {
        what: "other registers or modes than the first kernel's".to_owned(),
        address: kernel.entry,
    })
}

/// What has come out of one kernel.
fn alone(mut lifted: Lifted) -> Result<Lifted, Refusal> {
    match lifted.refused.remove(&0) {
        Some(refusal) => Err(refusal),
        None => Ok(lifted),
    }
}

/// Lifts kernels with functions that stand `apart`, or are parts of whoever calls them.
fn whole(kernels: &[Kernel<'_>], apart: bool) -> Result<Lifted, Refusal> {
    let Some(kernel) = kernels.first() else {
        return Err(Refusal { what: "no kernel".to_owned(), address: 0 });
    };
    let mut code = graph::Code {
        gpu: kernel.gpu,
        read: kernel.read,
        constant: kernel.constant,
        is_code: kernel.is_code,
        decoded: FxHashMap::default(),
        apart,
        given: None,
        called: BTreeSet::new(),
        taken: BTreeSet::new(),
        unknown: false,
        writes: BTreeMap::new(),
        depth: 0,
    };
    let registers = Registers::of(kernel.gpu, &kernel.descriptor);
    let mut functions = if apart {
        let there = demand::there(registers.vectors, registers.count.saturating_sub(registers.accumulators));
        let fits = kernels.iter().map(|other| fits(kernel, other)).enumerate();
        let refused = fits.filter_map(|(number, fits)| Some((number, fits.err()?))).collect();
        Functions::find(&mut code, kernels, refused, there)?
    } else {
        Functions::none(&mut code, kernel)
    };
    let base = code.decoded.keys().copied().min().unwrap_or(kernel.entry);
    let mut nowhere = Vec::new();
    let mut lifted = Vec::new();
    for number in 0..functions.units.len() {
        let of = kernels.get(number);
        if functions.refused.contains_key(&number) {
            lifted.push(Function::new(simplify::simplify));
            continue;
        }
        match unit(of.unwrap_or(kernel), &functions, number, &registers, base, &mut nowhere) {
            Ok(made) => lifted.push(made),
            Err(refusal) if of.is_some() => {
                functions.refused.insert(number, refusal);
                lifted.push(Function::new(simplify::simplify));
            }
            Err(refusal) => return Err(refusal),
        }
    }
    trim::run(&mut lifted, &mut functions);
    emit::kernels(&lifted, &functions, kernels, base, nowhere)
}

/// A kernel, or one of the functions behind them.
fn unit(
    kernel: &Kernel<'_>,
    functions: &Functions,
    number: usize,
    registers: &Registers,
    base: u64,
    nowhere: &mut Vec<u64>,
) -> Result<Function, Refusal> {
    let unit = &functions.units[number];
    let Unit { blocks, entries, .. } = unit;
    let is_function = number >= functions.kernels;
    registers_are_there(registers, blocks)?;
    let mut s = State::new(blocks, registers.vectors, is_function);
    s.nowhere.clone_from(nowhere);
    frame(&mut s, blocks, entries);
    if is_function {
        start::enter(&mut s, entries);
    } else {
        start::begin(&mut s, kernel, entries);
    }
    // Blocks whose values others need come first, but where there is a loop.
    for number in order(&s.f.blocks) {
        let Some(block) = number.checked_sub(1).map(|index| &blocks[index]) else { continue };
        s.begin(number, block.key.lanes);
        s.f.at = ((block.key.pc.saturating_sub(base)) / 4) as u32;
        for ((pc, instruction), off) in block.code.iter().zip(&unit.needed[number - 1]) {
            s.f.at = ((pc - base) / 4) as u32;
            s.needed = *off;
            one(&mut s, instruction, *pc).map_err(|what| Refusal { what, address: *pc })?;
        }
        if std::mem::take(&mut s.indexed) != 0 {
            let what = "registers that are indexed in several blocks".to_owned();
            return Err(Refusal { what, address: block.key.pc });
        }
        finish(&mut s, number, &block.exit, functions, unit)
            .map_err(|what| Refusal { what, address: block.key.pc })?;
    }
    s.close();
    *nowhere = std::mem::take(&mut s.nowhere);
    let mut f = s.f;
    let (offset, word) = (kernel.shape.sizes, kernel.shape.word());
    let given = start::arguments(kernel).filter(|_| !is_function).zip(offset);
    passes::run(&mut f, given.map(|(register, offset)| passes::Given { register, offset, word }));
    Ok(f)
}

/// Whether the kernel has the registers that its code names. If not it fails where it comes to that.
fn registers_are_there(registers: &Registers, blocks: &[graph::Block]) -> Result<(), Refusal> {
    for (pc, instruction) in blocks.iter().flat_map(|block| &block.code) {
        registers
            .are_there(instruction)
            .map_err(|missing| Refusal { what: missing.to_string(), address: *pc })?;
    }
    Ok(())
}

/// The blocks of the function, before anything is in them.
fn frame(s: &mut State, blocks: &[graph::Block], entries: &[usize]) {
    let end = |exit: &graph::Exit, s: &mut State| {
        let unknown = s.f.bit(false);
        match *exit {
            graph::Exit::Jump(to) => End::Jump(to + 1),
            graph::Exit::Branch(_, yes, no)
            | graph::Exit::Exec(yes, no)
            | graph::Exit::Call(_, _, yes, no)
            | graph::Exit::Given(_, yes, no)
            | graph::Exit::Goto(_, _, yes, no) => End::Branch(unknown, yes + 1, no + 1),
            graph::Exit::Tail(..) | graph::Exit::Return(_) => End::Return,
            graph::Exit::Stop | graph::Exit::Trap | graph::Exit::Nowhere(_) => End::Stop,
        }
    };
    let first = match *entries {
        [one] => graph::Exit::Jump(one),
        [full, part, ..] => graph::Exit::Exec(full, part),
        [] => graph::Exit::Stop,
    };
    for exit in std::iter::once(&first).chain(blocks.iter().map(|block| &block.exit)) {
        let end = end(exit, s);
        s.f.blocks.push(Block { phis: Vec::new(), list: Vec::new(), before: Vec::new(), end });
    }
    for number in 0..s.f.blocks.len() {
        for to in s.f.blocks[number].end.successors() {
            s.f.blocks[to].before.push(number);
        }
    }
}

/// Each block behind those that come before it, as far as there is no loop.
fn order(blocks: &[Block]) -> Vec<usize> {
    let mut seen = vec![false; blocks.len()];
    let mut order = Vec::new();
    let mut work = vec![(0, 0)];
    seen[0] = true;
    while let Some((block, next)) = work.pop() {
        let successors = blocks[block].end.successors();
        match successors.get(next) {
            Some(&to) => {
                work.push((block, next + 1));
                if !std::mem::replace(&mut seen[to], true) {
                    work.push((to, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}

fn one(s: &mut State, instruction: &Instruction, pc: u64) -> state::Result {
    match instruction.row.encoding {
        _ if instruction.row.effects.any(gangway_gcn::table::row::TRAPS) => Ok(()),
        Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc | Encoding::Sopk | Encoding::Sopp => {
            scalar::lift(s, instruction, pc)
        }
        Encoding::Smem => scalar::memory(s, instruction),
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vop3 | Encoding::Vop3p | Encoding::Vopc => {
            vector::lift(s, instruction)
        }
        Encoding::Ds => memory::lds(s, instruction),
        Encoding::Flat | Encoding::Global | Encoding::Scratch => memory::flat(s, instruction),
        Encoding::Mubuf => memory::buffer(s, instruction),
        Encoding::Mtbuf => state::unknown(instruction.row.name),
    }
}

fn finish(
    s: &mut State,
    number: usize,
    exit: &graph::Exit,
    functions: &Functions,
    unit: &Unit,
) -> state::Result {
    let zero = s.f.wide(0);
    let condition = match exit {
        graph::Exit::Branch(graph::Condition::Scc, ..) => s.scc(),
        graph::Exit::Branch(graph::Condition::Vcc, ..) => {
            let vcc = s.pair(gangway_gcn::operand::scalar::VCC);
            s.f.test("setp.ne.b64", &[vcc, zero])
        }
        graph::Exit::Branch(graph::Condition::Exec, ..) => {
            let exec = s.exec();
            s.f.test("setp.ne.b64", &[exec, zero])
        }
        graph::Exit::Exec(..) => all_on(s),
        graph::Exit::Goto(pair, target, ..) => {
            let (pair, target) = (s.goes.take().unwrap_or_else(|| s.pair(*pair)), s.f.wide(*target));
            s.f.test("setp.eq.b64", &[pair, target])
        }
        graph::Exit::Call(pair, function, ..) => {
            let goes = s.goes.take().unwrap_or_else(|| s.pair(*pair));
            call(s, functions, *function, goes)?;
            all_on(s)
        }
        graph::Exit::Tail(pair, function) => {
            let goes = s.pair(*pair);
            call(s, functions, *function, goes)?;
            give(s, unit);
            return Ok(());
        }
        graph::Exit::Return(pair) => {
            let (goes, given) = (s.pair(*pair), s.given(functions.given));
            let differs = s.f.test("setp.ne.b64", &[goes, given]);
            s.f.make(Op::Beyond, &[differs], Type::Nothing);
            give(s, unit);
            return Ok(());
        }
        graph::Exit::Given(pair, ..) => {
            let (goes, given) = (s.pair(*pair), s.given(functions.given));
            s.f.test("setp.eq.b64", &[goes, given])
        }
        graph::Exit::Trap => {
            s.f.make(Op::Trap, &[], Type::Nothing);
            return Ok(());
        }
        graph::Exit::Nowhere(address) => {
            s.f.at = NOWHERE + s.nowhere.len() as u32;
            s.nowhere.push(*address);
            s.f.make(Op::Trap, &[], Type::Nothing);
            return Ok(());
        }
        graph::Exit::Jump(_) | graph::Exit::Stop => return Ok(()),
    };
    if let End::Branch(known, ..) = &mut s.f.blocks[number].end {
        *known = condition;
    }
    Ok(())
}

/// Whether all lanes are on.
fn all_on(s: &mut State) -> Value {
    let (exec, all) = (s.exec(), s.f.wide(u64::MAX));
    s.f.test("setp.eq.b64", &[exec, all])
}

/// A call of a function that stands apart: one that is known, or whichever is at the address.
fn call(s: &mut State, functions: &Functions, function: Option<u64>, goes: Value) -> state::Result {
    let Some(called) = functions.called(function) else {
        return state::unknown("a call where there are no functions");
    };
    let mut args = match function {
        Some(address) => {
            let address = s.f.wide(address);
            let differs = s.f.test("setp.ne.b64", &[goes, address]);
            s.f.make(Op::Beyond, &[differs], Type::Nothing);
            Vec::new()
        }
        None => vec![goes],
    };
    let Unit { takes, gives, .. } = &functions.units[called];
    args.extend(takes.iter().map(|variable| s.get(*variable)));
    let made = s.f.make(Op::Call(function.map(|_| called as u32)), &args, Type::Nothing);
    for variable in gives {
        let ty = if *variable == state::SCC { Type::Bit } else { Type::Word };
        let result = s.f.make(Op::Result(*variable), &[made], ty);
        s.set(*variable, result);
    }
    Ok(())
}

/// What a function gives at its end.
fn give(s: &mut State, unit: &Unit) {
    let args: Vec<Value> = unit.gives.iter().map(|variable| s.get(*variable)).collect();
    s.f.make(Op::Return, &args, Type::Nothing);
}
