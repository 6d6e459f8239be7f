//! The flow of a kernel: which code it reaches, in blocks.
//!
//! A place in the code may be reached with all lanes on and with only some of them. These are two blocks: code for all
//! lanes needs no mask. All lanes are known to be on again where the mask is one of all lanes on every way; elsewhere
//! that is looked at.
//!
//! Where lanes have gone apart, numbers that count from lane to lane no longer do: what some lanes have written, others
//! have not. So code for all lanes comes twice in a kernel's loops, unless it is too much: for lanes that have not been
//! apart in the loop, and for those that have. In the first, the compiler still sees the steps of addresses. Lanes that
//! all leave a loop in the same turn have not been apart: between its end and the place where they are on again is
//! code for no lane.

use std::collections::{BTreeMap, BTreeSet};

use gangway_gcn::instruction::{Form, Scalar};
use gangway_gcn::operand::scalar;
use gangway_gcn::table::row::{BRANCHES, ENDS, TRAPS, WRITES_EXEC, WRITES_SCC};
use gangway_gcn::{Decoder, Gpu, Instruction, Operand, Row};
use rustc_hash::FxHashMap;

use crate::Refusal;

/// Blocks of a kernel, at most.
const BLOCKS: usize = 6000;
/// Instructions of all blocks, at most.
const INSTRUCTIONS: usize = 16_000;
/// Instructions of a kernel in which all lanes that have been apart have code of their own, at most.
const APART: usize = 4000;
/// Instructions between a change of the mask and a branch if it is empty, at most.
const BEFORE_BRANCH: usize = 4;
/// Functions that call each other, at most.
const CALLS: usize = 24;
/// Of so many functions that call each other it is found what they write. Each takes some of the stack.
const DEPTH: usize = 64;

/// Instructions of a function that is no call.
const SMALL: usize = 24;
/// Scalar registers below this one are what functions may be handed addresses in.
const PASSED: u8 = 32;
/// The first of the two registers with the return address in GCC's code.
pub const GCC: u8 = 18;

/// The place of what must not be reached.
const NOWHERE: u64 = u64::MAX;

/// Whether something about calls is in the way, which functions that stand apart may do without.
pub fn is_of_calls(refusal: &Refusal) -> bool {
    matches!(refusal.what.as_str(), "s_swappc_b64" | "s_setpc_b64" | TOO_MUCH | TOO_DEEP)
}

/// Its functions are not to stand apart.
pub const NOT_GCC: &str = "functions of another compiler than GCC";
pub const TOO_MUCH: &str = "too much code";
const TOO_DEEP: &str = "functions that call each other";

/// Where a block begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub pc: u64,
    pub lanes: Lanes,
    /// Where the functions return to that the code is in: each call has blocks of its own.
    pub calls: Vec<u64>,
    pub step: Step,
}

/// Which lanes are on, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lanes {
    All,
    /// All, which have been apart in a loop that this is a part of.
    Again,
    /// None, where all were on before; whether they have been apart.
    None(bool),
    /// The first one: what it computes is one for all. So is nearly all of GCC's code.
    First,
    /// Any, or all.
    Some,
}

impl Lanes {
    pub const fn of(full: bool) -> Self {
        if full { Self::All } else { Self::Some }
    }

    pub const fn full(self) -> bool {
        matches!(self, Self::All | Self::Again)
    }

    /// Where lanes have not been apart, outside of all loops.
    const fn behind(self) -> Self {
        match self {
            Self::Again => Self::All,
            Self::None(_) => Self::None(false),
            other => other,
        }
    }
}

/// What a block is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The code at its place.
    Code,
    /// The same, where all lanes were on before; whether they have been apart.
    Left(bool),
    /// A jump at its place which is the function's end.
    Return,
    /// A jump at its place which is a call of another function, and the function's end.
    Tail,
}

/// What a branch looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Scc,
    Vcc,
    Exec,
}

#[derive(Clone, Debug)]
pub enum Exit {
    Jump(usize),
    /// If the condition (SCC is set, masks have lanes), and if not.
    Branch(Condition, usize, usize),
    /// If all lanes are on, and if not.
    Exec(usize, usize),
    /// If a pair of scalar registers has an address, as it should, and if not.
    Goto(u8, u64, usize, usize),
    /// A function that stands apart: the one at an address, which a pair of scalar registers should have, or whichever
    /// that has. Then, if all lanes are on, and if not.
    Call(u8, Option<u64>, usize, usize),
    /// The same at the end of a function, which returns then.
    Tail(u8, Option<u64>),
    /// The end of a function, by a pair of scalar registers that should have the address that it was given.
    Return(u8),
    /// If a pair of scalar registers has the address that the function was given, and if not.
    Given(u8, usize, usize),
    Stop,
    Trap,
    /// To an address at which there is no code.
    Nowhere(u64),
}

impl Exit {
    pub fn successors(&self) -> Vec<usize> {
        let mut found = Vec::new();
        self.clone().each(&mut |to| found.push(*to));
        found
    }

    fn each(&mut self, with: &mut dyn FnMut(&mut usize)) {
        match self {
            Self::Jump(to) => with(to),
            Self::Branch(_, yes, no)
            | Self::Exec(yes, no)
            | Self::Goto(_, _, yes, no)
            | Self::Call(_, _, yes, no)
            | Self::Given(_, yes, no) => {
                with(yes);
                with(no);
            }
            Self::Tail(..) | Self::Return(_) | Self::Stop | Self::Trap | Self::Nowhere(_) => {}
        }
    }
}

#[derive(Clone, Debug)]
pub struct Block {
    pub key: Key,
    pub code: Vec<(u64, Instruction)>,
    pub exit: Exit,
}

/// Reads code.
pub struct Code<'a> {
    pub gpu: Gpu,
    pub read: &'a dyn Fn(u64, &mut [u8]) -> bool,
    pub constant: &'a dyn Fn(u64, u64) -> bool,
    pub is_code: &'a dyn Fn(u64) -> bool,
    pub decoded: FxHashMap<u64, Instruction>,
    /// Functions stand apart, but for small ones. If not each call has the function's code for itself.
    pub apart: bool,
    /// The pair of scalar registers that functions get the address to return to in, as soon as one is called.
    pub given: Option<u8>,
    /// Functions that are called by their addresses, and such whose addresses something else reads.
    pub called: BTreeSet<u64>,
    pub taken: BTreeSet<u64>,
    /// Some are called whose addresses are not known.
    pub unknown: bool,
    /// Scalar registers that functions write which stand apart, with all that those call.
    pub writes: BTreeMap<u64, u128>,
    /// How many functions, of which each calls the next, are looked at for that.
    pub depth: usize,
}

impl Code<'_> {
    fn at(&mut self, pc: u64) -> Result<Instruction, Refusal> {
        if let Some(found) = self.decoded.get(&pc) {
            return Ok(*found);
        }
        let refuse = |what: String| Refusal { what, address: pc };
        let mut bytes = [0; 8];
        let size = if (self.read)(pc, &mut bytes) {
            8
        } else if (self.read)(pc, &mut bytes[..4]) {
            4
        } else {
            return Err(refuse("code that is not there".to_owned()));
        };
        let found = Decoder::of(self.gpu).decode(&bytes[..size]).map_err(|why| refuse(why.to_string()))?;
        self.decoded.insert(pc, found);
        Ok(found)
    }

    /// Whether a function is a few instructions one after the other: then it is a part of whoever calls it.
    fn is_small(&mut self, mut pc: u64) -> bool {
        for _ in 0..SMALL {
            let Ok(instruction) = self.at(pc) else { return false };
            if ends(&instruction) {
                return instruction.row.name == "s_setpc_b64" && through(&instruction) == self.given;
            }
            if writes_exec(&instruction) {
                return false;
            }
            pc += u64::from(instruction.size);
        }
        false
    }

    /// Whether a jump through registers of which nothing is known is taken for a function's end.
    fn returns(&self, instruction: &Instruction, pair: u8) -> bool {
        instruction.row.name == "s_setpc_b64" && (!self.apart || self.given == Some(pair))
    }

    /// The pair of registers that a call leaves the address behind it in.
    fn note_call(&mut self, pc: u64, instruction: &Instruction) -> Result<(), Refusal> {
        let Some(Operand::Scalar { first, .. }) = instruction.to().first().copied() else { return Ok(()) };
        match self.given {
            Some(other) if other != first && self.apart => {
                let what = "functions that return by several registers".to_owned();
                Err(Refusal { what, address: pc })
            }
            _ => {
                self.given = Some(first);
                Ok(())
            }
        }
    }
}

/// Whether it writes the mask of lanes that are on.
pub fn writes_exec(instruction: &Instruction) -> bool {
    let named = instruction.to().iter().any(|to| {
        matches!(to, Operand::Scalar { first, words } if
        (*first..*first + *words).contains(&scalar::EXEC) || *first == scalar::EXEC + 1)
    });
    named || instruction.row.effects.any(WRITES_EXEC)
}

fn condition(row: &Row) -> Option<(Condition, bool)> {
    Some(match row.name {
        "s_cbranch_scc0" => (Condition::Scc, false),
        "s_cbranch_scc1" => (Condition::Scc, true),
        "s_cbranch_vccz" => (Condition::Vcc, false),
        "s_cbranch_vccnz" => (Condition::Vcc, true),
        "s_cbranch_execz" => (Condition::Exec, false),
        "s_cbranch_execnz" => (Condition::Exec, true),
        _ => return None,
    })
}

fn is_debuggers(row: &Row) -> bool {
    row.name.starts_with("s_cbranch_cdbg")
}

/// Whether the code goes elsewhere, or not on.
fn ends(instruction: &Instruction) -> bool {
    let effects = instruction.row.effects;
    !is_debuggers(instruction.row) && effects.any(BRANCHES | ENDS) || is_trap(instruction)
}

fn is_trap(instruction: &Instruction) -> bool {
    // The handler of trap 3 returns where no debugger is there.
    let number = || match instruction.form {
        Form::Scalar(Scalar { from, .. }) => from.first().copied(),
        _ => None,
    };
    instruction.row.effects.any(TRAPS) && number() != Some(Operand::Immediate(3))
}

/// The pair of registers that an instruction jumps through.
fn through(instruction: &Instruction) -> Option<u8> {
    match instruction.form {
        Form::Scalar(Scalar { from, .. })
            if matches!(instruction.row.name, "s_setpc_b64" | "s_swappc_b64") =>
        {
            match from.first() {
                Some(Operand::Scalar { first, .. }) => Some(*first),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Where code can come to; without returns.
fn targets(jumps: &Jumps, pc: u64, instruction: &Instruction) -> Result<Vec<u64>, Refusal> {
    let next = pc + u64::from(instruction.size);
    let row = instruction.row;
    if is_trap(instruction) || row.name.starts_with("s_endpgm") {
        return Ok(Vec::new());
    }
    let target = || instruction.branch_target(pc);
    match (row.name, condition(row).and_then(|_| target())) {
        (_, Some(target)) => Ok(vec![target, next]),
        ("s_branch", _) => Ok(target().into_iter().collect()),
        ("s_swappc_b64" | "s_setpc_b64", _) => match (jumps.get(&pc), row.name) {
            (Some(Target::Code(target)), "s_swappc_b64") => Ok(vec![*target, next]),
            (Some(Target::Code(target)), _) => Ok(vec![*target]),
            (Some(Target::Function(_)), "s_swappc_b64") => Ok(vec![next]),
            (Some(Target::Function(_) | Target::Nowhere(_)), _) => Ok(Vec::new()),
            (None, "s_setpc_b64") => Ok(Vec::new()),
            (None, _) => Err(Refusal { what: row.name.to_owned(), address: pc }),
        },
        _ => Err(Refusal { what: row.name.to_owned(), address: pc }),
    }
}

/// Where a jump through registers leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Code(u64),
    /// A function that stands apart, if it is known which.
    Function(Option<u64>),
    /// There is nothing: as a rule a function that the program may have and does not, which code looks at before.
    Nowhere(u64),
}

impl Target {
    fn of(code: &mut Code<'_>, address: u64, calls: bool) -> Self {
        if !(code.read)(address, &mut [0; 4]) {
            return Self::Nowhere(address);
        }
        if code.apart && (calls && !code.is_small(address) || !calls && code.called.contains(&address)) {
            code.called.insert(address);
            return Self::Function(Some(address));
        }
        Self::Code(address)
    }

    const fn code(self) -> Option<u64> {
        match self {
            Self::Code(address) => Some(address),
            Self::Function(_) | Self::Nowhere(_) => None,
        }
    }
}

/// Where jumps through registers lead to, by their places.
type Jumps = FxHashMap<u64, Target>;

/// Words that scalar registers hold, and what is carried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Words {
    known: BTreeMap<Holder, u32>,
    carry: Option<bool>,
}

/// What holds a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    Scalar(u8),
    /// A lane of a vector register.
    Lane(u8, u8),
}

impl Words {
    fn word(&self, operand: Option<&Operand>) -> Option<u32> {
        match *operand? {
            Operand::Scalar { first, words: 1 } => self.scalar(first),
            Operand::Literal(value) => Some(value),
            Operand::Integer(value) => Some(i32::from(value).cast_unsigned()),
            _ => None,
        }
    }

    fn scalar(&self, number: u8) -> Option<u32> {
        self.known.get(&Holder::Scalar(number)).copied()
    }

    fn pair(&self, first: u8) -> Option<u64> {
        let (low, high) = (self.scalar(first)?, self.scalar(first + 1)?);
        Some(u64::from(high) << 32 | u64::from(low))
    }

    /// The lane that an instruction names which reads or writes one.
    fn lane(register: Option<&Operand>, lane: Option<&Operand>) -> Option<Holder> {
        match (register?, lane?) {
            (Operand::Vector { first, words: 1 }, Operand::Integer(lane)) => {
                Some(Holder::Lane(*first, *lane as u8 & 63))
            }
            _ => None,
        }
    }

    /// Scalar registers that have been written.
    fn forget(&mut self, written: u128) {
        self.known
            .retain(|holder, _| !matches!(holder, Holder::Scalar(number) if written >> number & 1 != 0));
    }

    /// Addresses of code that an instruction reads for something else than a call of it or a part of it.
    fn taken(&self, code: &mut Code<'_>, instruction: &Instruction) {
        let reads = match (instruction.row.name, through(instruction)) {
            ("s_add_u32" | "s_addc_u32", _) => return,
            // What is handed over is in one of the first registers.
            (_, Some(pair)) => ((1 << PASSED) - 1) & !(3 << pair),
            _ => uses(instruction).0,
        };
        for number in (0..104u8).filter(|number| reads >> number & 1 != 0) {
            for first in [Some(number), number.checked_sub(1)].into_iter().flatten() {
                if through(instruction) == Some(first) {
                    continue;
                }
                if let Some(address) = self.pair(first)
                    && address.is_multiple_of(4)
                    && (code.is_code)(address)
                {
                    code.taken.insert(address);
                }
            }
        }
    }

    /// What is known behind an instruction: addresses of code, as compilers write them.
    fn pass(&mut self, code: &Code<'_>, pc: u64, instruction: &Instruction) {
        use gangway_gcn::instruction::{ScalarMemory, ScalarOffset};

        let mut found = Vec::new();
        let mut carry = None;
        let mut lane = None;
        let wide = |value: u64| vec![value as u32, (value >> 32) as u32];
        match (instruction.row.name, &instruction.form) {
            ("s_getpc_b64", _) => found = wide(pc + u64::from(instruction.size)),
            ("s_mov_b32", Form::Scalar(form)) => found.extend(self.word(form.from.first())),
            ("s_mov_b64", Form::Scalar(form)) => {
                if let Some(Operand::Scalar { first, .. }) = form.from.first() {
                    found = self.pair(*first).map(wide).unwrap_or_default();
                }
            }
            (name @ ("s_add_u32" | "s_addc_u32"), Form::Scalar(form)) => {
                let with = if name == "s_add_u32" { Some(false) } else { self.carry };
                let sources = (self.word(form.from.first()), self.word(form.from.get(1)), with);
                if let (Some(a), Some(b), Some(with)) = sources {
                    let sum = u64::from(a) + u64::from(b) + u64::from(with);
                    carry = Some(sum > u64::from(u32::MAX));
                    found.push(sum as u32);
                }
            }
            ("v_readlane_b32", Form::Vector(form)) => {
                let from = Self::lane(form.from.first(), form.from.get(1));
                found.extend(from.and_then(|from| self.known.get(&from).copied()));
            }
            ("v_writelane_b32", Form::Vector(form)) => {
                if let Some(to) = Self::lane(form.to.first(), form.from.get(1)) {
                    self.known.remove(&to);
                    lane = self.word(form.from.first()).map(|word| (to, word));
                }
            }
            // From the table of addresses that the loader has written.
            ("s_load_dwordx2", Form::ScalarMemory(ScalarMemory { from, offset, .. })) => {
                let offset = match *offset {
                    ScalarOffset::None => Some(0),
                    ScalarOffset::Constant(offset) => Some(offset),
                    ScalarOffset::Register(_) | ScalarOffset::Both(..) => None,
                };
                let mut bytes = [0; 8];
                if let (Some(Operand::Scalar { first, .. }), Some(offset)) = (from.last(), offset)
                    && let Some(address) = self.pair(*first)
                    && (code.constant)(address.wrapping_add_signed(offset.into()), 8)
                    && (code.read)(address.wrapping_add_signed(offset.into()), &mut bytes)
                {
                    found = wide(u64::from_le_bytes(bytes));
                }
            }
            _ => {}
        }
        self.forget(uses(instruction).1);
        if lane.is_none() {
            for operand in instruction.to().iter() {
                if let Operand::Vector { first, words } = *operand {
                    let is = |register: u8| (first..first.saturating_add(words)).contains(&register);
                    self.known
                        .retain(|holder, _| !matches!(holder, Holder::Lane(register, _) if is(*register)));
                }
            }
        }
        self.known.extend(lane);
        if instruction.row.effects.any(WRITES_SCC) {
            self.carry = carry;
        }
        if let Some(Operand::Scalar { first, .. }) = instruction.to().first() {
            for (number, word) in found.into_iter().enumerate() {
                self.known.insert(Holder::Scalar(first + number as u8), word);
            }
        }
    }

    /// What is left behind a call of a function that writes these registers, of which it keeps some (AMDGPU guide,
    /// "Non-Kernel Functions"). Where it does not, the address that is jumped to is another one, which code looks at.
    fn call(&mut self, written: u128, given: Option<u8>) {
        const KEPT: &[std::ops::Range<u8>] = &[30..40, 48..56, 64..72, 80..88, 96..106];
        const GCCS_LANES: std::ops::Range<u8> = 16..24;
        const KEPT_LANES: &[std::ops::Range<u8>] = &[40..48, 56..64, 72..80, 88..96, 104..112, 120..128];
        // GCC has rules of its own.
        let (kept, lanes) = match given {
            Some(GCC) => (&[14..16, 32..106][..], std::slice::from_ref(&GCCS_LANES)),
            _ => (KEPT, KEPT_LANES),
        };
        let is_in = |ranges: &[std::ops::Range<u8>], register: &u8| {
            ranges.iter().any(|range| range.contains(register))
        };
        self.known.retain(|holder, _| match holder {
            Holder::Scalar(register) => written >> register & 1 == 0 || is_in(kept, register),
            Holder::Lane(register, _) => is_in(lanes, register),
        });
        self.carry = None;
    }

    /// What is known on both ways; whether it has become less.
    fn meet(&mut self, other: &Self) -> bool {
        let before = (self.known.len(), self.carry);
        self.known.retain(|holder, word| other.known.get(holder) == Some(word));
        self.carry = self.carry.filter(|_| self.carry == other.carry);
        before != (self.known.len(), self.carry)
    }
}

/// Scalar registers that a function writes, with those that it calls.
fn written(code: &mut Code<'_>, jumps: &Jumps, function: Option<u64>) -> Result<u128, Refusal> {
    let (mut written, mut seen) = (0, BTreeSet::new());
    let mut work: Vec<u64> = function.into_iter().collect();
    while let Some(mut pc) = work.pop() {
        while seen.insert(pc) {
            let instruction = code.at(pc)?;
            written |= uses(&instruction).1;
            if ends(&instruction) {
                match through(&instruction) {
                    // Of one that is not known anything may be written.
                    Some(pair) if !jumps.contains_key(&pc) && !code.returns(&instruction, pair) => {
                        return Ok(u128::MAX);
                    }
                    _ => work.extend(targets(jumps, pc, &instruction)?),
                }
                break;
            }
            pc += u64::from(instruction.size);
        }
    }
    Ok(written)
}

/// The same of a function that stands apart: compilers leave what it does not write in registers that any other may.
fn written_apart(code: &mut Code<'_>, function: u64) -> Result<u128, Refusal> {
    if let Some(written) = code.writes.get(&function) {
        return Ok(*written);
    }
    // Of one that calls itself anything may be written, and of one that is too deep.
    if code.depth == DEPTH {
        return Ok(u128::MAX);
    }
    code.depth += 1;
    let found = written_by(code, function);
    // Also where something is in the way: other kernels may do without this function.
    code.depth -= 1;
    found
}

/// The same, found out; it is known behind this.
fn written_by(code: &mut Code<'_>, function: u64) -> Result<u128, Refusal> {
    code.writes.insert(function, u128::MAX);
    let (_, jumps) = leaders(code, function)?;
    let mut found = written(code, &jumps, Some(function))?;
    for target in jumps.values() {
        found |= match target {
            Target::Function(Some(other)) => written_apart(code, *other)?,
            Target::Function(None) => u128::MAX,
            Target::Code(_) | Target::Nowhere(_) => 0,
        };
    }
    code.writes.insert(function, found);
    Ok(found)
}

/// Places where blocks begin, and where jumps through registers lead to.
fn leaders(code: &mut Code<'_>, entry: u64) -> Result<(BTreeSet<u64>, Jumps), Refusal> {
    let mut states: BTreeMap<u64, Words> = BTreeMap::from([(entry, Words::default())]);
    let mut jumps = Jumps::default();
    let mut lost = BTreeMap::new();
    let mut work = BTreeSet::from([entry]);
    // Steps are bounded: a state has fewer words each time.
    while let Some(start) = work.pop_first() {
        let mut words = states[&start].clone();
        let mut pc = start;
        let mut reach = |states: &mut BTreeMap<u64, Words>, to: u64, words: &Words| {
            if let Some(known) = states.get_mut(&to) {
                if known.meet(words) {
                    work.insert(to);
                }
                return;
            }
            // It may be in the middle of code that has been looked at.
            work.extend(states.range(..to).next_back().map(|(before, _)| *before));
            states.insert(to, words.clone());
            work.insert(to);
        };
        loop {
            let instruction = code.at(pc)?;
            let next = pc + u64::from(instruction.size);
            if let Some(pair) = through(&instruction) {
                jumps.remove(&pc);
                lost.remove(&pc);
                let calls = instruction.row.name == "s_swappc_b64";
                if calls {
                    code.note_call(pc, &instruction)?;
                }
                if let Some(target) = words.pair(pair).filter(|target| target.is_multiple_of(4)) {
                    jumps.insert(pc, Target::of(code, target, calls));
                } else if calls && code.apart {
                    jumps.insert(pc, Target::Function(None));
                } else if calls {
                    lost.insert(pc, instruction.row.name);
                    break;
                }
            }
            if ends(&instruction) {
                for target in targets(&jumps, pc, &instruction)? {
                    let mut words = words.clone();
                    if target == next && through(&instruction).is_some() {
                        let written = match jumps.get(&pc) {
                            Some(Target::Function(None)) => u128::MAX,
                            Some(Target::Function(Some(function))) => written_apart(code, *function)?,
                            found => written(code, &jumps, found.and_then(|target| target.code()))?,
                        };
                        words.call(written, code.given);
                        words.forget(uses(&instruction).1);
                    }
                    reach(&mut states, target, &words);
                }
                break;
            }
            words.pass(code, pc, &instruction);
            if writes_exec(&instruction) || states.contains_key(&next) {
                reach(&mut states, next, &words);
                break;
            }
            pc = next;
        }
    }
    if let Some((pc, name)) = lost.first_key_value() {
        return Err(Refusal { what: (*name).to_owned(), address: *pc });
    }
    code.unknown |= jumps.values().any(|target| *target == Target::Function(None));
    if code.apart {
        for (start, mut words) in states.clone() {
            let mut pc = start;
            loop {
                let instruction = code.at(pc)?;
                words.taken(code, &instruction);
                words.pass(code, pc, &instruction);
                pc += u64::from(instruction.size);
                if ends(&instruction) || states.contains_key(&pc) {
                    break;
                }
            }
        }
    }
    Ok((states.into_keys().collect(), jumps))
}

/// Scalar registers that code reads before it writes them, and such that it writes, from a leader to the next ones.
struct Part {
    reads: u128,
    writes: u128,
    next: Vec<u64>,
}

/// The code behind each leader.
fn parts(
    code: &mut Code<'_>,
    leaders: &BTreeSet<u64>,
    jumps: &Jumps,
) -> Result<BTreeMap<u64, Part>, Refusal> {
    let mut parts = BTreeMap::new();
    for leader in leaders {
        let (mut pc, mut part) = (*leader, Part { reads: 0, writes: 0, next: Vec::new() });
        loop {
            let instruction = code.at(pc)?;
            let (reads, writes) = uses(&instruction);
            part.reads |= reads & !part.writes;
            part.writes |= writes;
            let next = pc + u64::from(instruction.size);
            if ends(&instruction) {
                part.next = targets(jumps, pc, &instruction)?;
                if through(&instruction).is_some() {
                    // Functions that call this one may read anything.
                    part.reads |= !part.writes;
                }
                break;
            }
            if leaders.contains(&next) {
                part.next = vec![next];
                break;
            }
            pc = next;
        }
        parts.insert(*leader, part);
    }
    Ok(parts)
}

/// Leaders that code comes back to.
fn turns(parts: &BTreeMap<u64, Part>) -> BTreeSet<u64> {
    let comes_back = |leader: u64| {
        let (mut seen, mut work) = (BTreeSet::new(), parts[&leader].next.clone());
        while let Some(at) = work.pop() {
            if at == leader {
                return true;
            }
            if seen.insert(at) {
                work.extend(parts.get(&at).into_iter().flat_map(|part| &part.next));
            }
        }
        false
    };
    parts.keys().copied().filter(|leader| comes_back(*leader)).collect()
}

/// Pairs of scalar registers that are read before they are written, for each leader.
fn live(parts: &BTreeMap<u64, Part>) -> BTreeMap<u64, u128> {
    let mut live: BTreeMap<u64, u128> = parts.keys().map(|leader| (*leader, 0)).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (leader, part) in parts.iter().rev() {
            let out = part.next.iter().fold(0, |out, next| out | live[next]);
            let found = part.reads | out & !part.writes;
            changed |= live.insert(*leader, found) != Some(found);
        }
    }
    live
}

/// Scalar registers that an instruction reads and writes.
pub fn uses(instruction: &Instruction) -> (u128, u128) {
    let bits = |operand: &Operand| match *operand {
        Operand::Scalar { first, words } => ((1u128 << words) - 1).checked_shl(first.into()).unwrap_or(0),
        _ => 0,
    };
    let all = |list: &[Operand]| list.iter().fold(0, |found, operand| found | bits(operand));
    let reads = match &instruction.form {
        Form::Scalar(form) => all(&form.from),
        Form::ScalarMemory(form) => {
            use gangway_gcn::instruction::ScalarOffset;
            all(&form.from)
                | match form.offset {
                    ScalarOffset::Register(operand) | ScalarOffset::Both(operand, _) => bits(&operand),
                    ScalarOffset::None | ScalarOffset::Constant(_) => 0,
                }
        }
        Form::Vector(form) => all(&form.from),
        Form::Local(form) => all(&form.from),
        Form::Flat(form) => match form.base {
            gangway_gcn::instruction::Base::Register(operand) => bits(&operand),
            _ => 0,
        },
        Form::Buffer(form) => bits(&form.descriptor) | bits(&form.base),
    };
    let writes = all(&instruction.to());
    let keeps = instruction.row.effects.any(gangway_gcn::table::row::READS_DESTINATION);
    (if keeps { reads | writes } else { reads }, writes)
}

/// What is known of a mask.
fn is_full(operand: Option<&Operand>, full: bool, known: &BTreeSet<u8>) -> bool {
    match operand {
        Some(Operand::Scalar { first: scalar::EXEC, words: 2 }) => full,
        Some(Operand::Scalar { first, words: 2 }) => known.contains(first),
        Some(Operand::Integer(-1)) => true,
        _ => false,
    }
}

/// What is known behind an instruction. For one that writes EXEC: whether all lanes are on then, as far as that is known.
fn pass(instruction: &Instruction, full: bool, known: &mut BTreeSet<u8>) -> Option<bool> {
    let (to, from) = match &instruction.form {
        Form::Scalar(form) => (form.to.first().copied(), form.from),
        _ => (None, gangway_gcn::Operands::default()),
    };
    let source = |index: usize| is_full(from.get(index), full, known);
    let name = instruction.row.name;
    let is = match name {
        "s_mov_b64" => source(0),
        "s_or_b64" => source(0) || source(1),
        "s_and_b64" => source(0) && source(1),
        "s_orn2_b64" => source(0),
        _ => false,
    };
    let after = match name {
        "s_or_saveexec_b64" => full || source(0),
        "s_orn1_saveexec_b64" => full,
        "s_and_saveexec_b64" => full && source(0),
        _ => is,
    };
    let (_, writes) = uses(instruction);
    known.retain(|pair| writes >> pair & 3 == 0);
    let saves = name.ends_with("_saveexec_b64");
    if let Some(Operand::Scalar { first, words: 2 }) = to
        && first < scalar::EXEC
        && (saves && full || !saves && is)
    {
        known.insert(first);
    }
    if !writes_exec(instruction) {
        return None;
    }
    // Lanes that are off stay off, as far as is known.
    Some(after)
}

/// Whether no lanes are on behind it that were off, of an instruction that writes EXEC.
pub fn narrows(instruction: &Instruction) -> bool {
    let from = match &instruction.form {
        Form::Scalar(form) => form.from,
        // Comparisons: lanes that are off stay so.
        form => return matches!(form, Form::Vector(_)) && instruction.row.effects.any(WRITES_EXEC),
    };
    let is_exec = |operand: Option<&Operand>| {
        matches!(operand, Some(Operand::Scalar { first: scalar::EXEC, words: 2 }))
    };
    match instruction.row.name {
        "s_and_saveexec_b64" | "s_andn1_saveexec_b64" | "s_andn1_wrexec_b64" => true,
        "s_and_b64" => is_exec(from.first()) || is_exec(from.get(1)),
        "s_andn2_b64" => is_exec(from.first()),
        _ => false,
    }
}

/// Whether lanes may be on behind it that were off, of an instruction that writes EXEC.
fn widens(instruction: &Instruction) -> bool {
    matches!(instruction.row.name, "s_or_b64" | "s_mov_b64" | "s_or_saveexec_b64")
}

/// Whether it turns the first lane on and all others off.
fn sets_first(instruction: &Instruction) -> bool {
    let Form::Scalar(Scalar { to, from, .. }) = &instruction.form else { return false };
    instruction.row.name == "s_mov_b64"
        && matches!(to.first(), Some(Operand::Scalar { first: scalar::EXEC, words: 2 }))
        && from.first() == Some(&Operand::Integer(1))
}

/// All blocks; the first ones are the kernel's beginning.
pub fn blocks(code: &mut Code<'_>, entry: u64, full: &[bool], is_function: bool) -> Result<Blocks, Refusal> {
    let (leaders, jumps) = leaders(code, entry)?;
    let parts = parts(code, &leaders, &jumps)?;
    let (live, turns) = (live(&parts), turns(&parts));
    let mut walk = Walk {
        leaders,
        jumps,
        live,
        turns,
        is_function,
        is_apart: !is_function,
        numbers: FxHashMap::default(),
        blocks: Vec::new(),
        work: Vec::new(),
    };
    loop {
        match walk.all(code, entry, full)? {
            Some(found) => return Ok(found),
            None if walk.is_apart => walk.is_apart = false,
            None => return Err(Refusal { what: TOO_MUCH.to_owned(), address: entry }),
        }
    }
}

/// Blocks, and those that they begin with.
type Blocks = (Vec<Block>, Vec<usize>);

/// The blocks that are reached: as long as more was known of masks there may have been others.
fn reached(mut blocks: Vec<Block>, entries: &[usize]) -> (Vec<Block>, Vec<usize>) {
    let mut numbers = vec![usize::MAX; blocks.len()];
    let mut order = Vec::new();
    let mut work: Vec<usize> = entries.iter().rev().copied().collect();
    while let Some(at) = work.pop() {
        if numbers[at] != usize::MAX {
            continue;
        }
        numbers[at] = order.len();
        order.push(at);
        blocks[at].exit.each(&mut |to| work.push(*to));
    }
    let list = order.iter().map(|&at| {
        let hole = Key { pc: NOWHERE, lanes: Lanes::Some, calls: Vec::new(), step: Step::Code };
        let none = Block { key: hole, code: Vec::new(), exit: Exit::Stop };
        let mut block = std::mem::replace(&mut blocks[at], none);
        block.exit.each(&mut |to| *to = numbers[*to]);
        block
    });
    (list.collect(), entries.iter().map(|entry| numbers[*entry]).collect())
}

/// A block, and the pairs of registers that hold the mask of all lanes where it begins, on all ways to it.
struct Found {
    block: Block,
    known: BTreeSet<u8>,
    /// It is to be looked at, again if more was known before.
    waits: bool,
}

struct Walk {
    leaders: BTreeSet<u64>,
    jumps: Jumps,
    live: BTreeMap<u64, u128>,
    /// Places in loops.
    turns: BTreeSet<u64>,
    is_function: bool,
    /// Whether all lanes that come back have code of their own.
    is_apart: bool,
    numbers: FxHashMap<Key, usize>,
    blocks: Vec<Found>,
    work: Vec<usize>,
}

impl Walk {
    /// All blocks, unless they are too many.
    fn all(&mut self, code: &mut Code<'_>, entry: u64, full: &[bool]) -> Result<Option<Blocks>, Refusal> {
        self.numbers.clear();
        self.blocks.clear();
        self.work.clear();
        let none = BTreeSet::new();
        let entries: Vec<usize> =
            full.iter().map(|full| self.number(entry, Lanes::of(*full), &none, &[])).collect();
        let most = if self.is_apart { APART } else { INSTRUCTIONS };
        let mut count = 0;
        while let Some(at) = self.work.pop() {
            self.blocks[at].waits = false;
            let (list, exit) = self.block(code, at)?;
            let block = &mut self.blocks[at].block;
            count = count + list.len() - block.code.len();
            (block.code, block.exit) = (list, exit);
            if self.blocks.len() > BLOCKS || count > most {
                return Ok(None);
            }
        }
        let blocks = self.blocks.drain(..).map(|found| found.block).collect();
        Ok(Some(reached(blocks, &entries)))
    }

    /// What all lanes are behind code in which these were on.
    const fn back(&self, lanes: Lanes) -> Lanes {
        match lanes {
            Lanes::Again | Lanes::Some | Lanes::None(true) if self.is_apart => Lanes::Again,
            _ => Lanes::All,
        }
    }

    /// Some lanes or none, behind a change of the mask in code for these.
    fn left(
        &mut self,
        code: &mut Code<'_>,
        pc: u64,
        lanes: Lanes,
        known: &BTreeSet<u8>,
        calls: &[u64],
    ) -> usize {
        let step = match lanes {
            Lanes::All | Lanes::Again if self.is_apart && self.looks(code, pc) => {
                Step::Left(lanes == Lanes::Again)
            }
            _ => Step::Code,
        };
        self.step(pc, Lanes::Some, known, calls, step)
    }

    /// Whether code looks for an empty mask soon.
    fn looks(&self, code: &mut Code<'_>, mut pc: u64) -> bool {
        for _ in 0..BEFORE_BRANCH {
            let Ok(instruction) = code.at(pc) else { return false };
            if ends(&instruction) {
                return matches!(condition(instruction.row), Some((Condition::Exec, _)));
            }
            pc += u64::from(instruction.size);
            if writes_exec(&instruction) || self.leaders.contains(&pc) {
                return false;
            }
        }
        false
    }

    /// The block of a place, which is come to with this knowledge.
    fn number(&mut self, pc: u64, lanes: Lanes, known: &BTreeSet<u8>, calls: &[u64]) -> usize {
        self.step(pc, lanes, known, calls, Step::Code)
    }

    fn step(&mut self, pc: u64, lanes: Lanes, known: &BTreeSet<u8>, calls: &[u64], step: Step) -> usize {
        let lanes = if calls.is_empty() && !self.turns.contains(&pc) { lanes.behind() } else { lanes };
        let key = Key { pc, lanes, calls: calls.to_vec(), step };
        if let Some(&at) = self.numbers.get(&key) {
            let found = &mut self.blocks[at];
            let before = found.known.len();
            found.known.retain(|pair| known.contains(pair));
            if found.known.len() < before && !std::mem::replace(&mut found.waits, true) {
                self.work.push(at);
            }
            return at;
        }
        let alive = self.live.get(&pc).copied().unwrap_or(0);
        let known = known.iter().copied().filter(|pair| alive >> pair & 3 == 3).collect();
        let at = self.blocks.len();
        let block = Block { key: key.clone(), code: Vec::new(), exit: Exit::Stop };
        self.blocks.push(Found { block, known, waits: true });
        self.numbers.insert(key, at);
        self.work.push(at);
        at
    }

    /// What is in a block, and where it leads to.
    fn block(&mut self, code: &mut Code<'_>, at: usize) -> Result<(Vec<(u64, Instruction)>, Exit), Refusal> {
        let Key { mut pc, lanes, calls, step } = self.blocks[at].block.key.clone();
        let full = lanes.full();
        let mut known = self.blocks[at].known.clone();
        let mut list = Vec::new();
        let exit = loop {
            if pc == NOWHERE {
                break Exit::Trap;
            }
            let instruction = code.at(pc)?;
            let next = pc + u64::from(instruction.size);
            match (step, through(&instruction)) {
                (Step::Return, Some(pair)) => break Exit::Return(pair),
                (Step::Tail, Some(pair)) => break Exit::Tail(pair, None),
                _ => {}
            }
            if ends(&instruction) {
                if is_trap(&instruction) || instruction.row.name == "s_swappc_b64" {
                    list.push((pc, instruction));
                }
                break self.end(code, pc, &instruction, (lanes, step), known, &calls)?;
            }
            list.push((pc, instruction));
            if let Some(after) = pass(&instruction, full, &mut known) {
                break if after {
                    Exit::Jump(self.number(next, self.back(lanes), &known, &calls))
                } else if sets_first(&instruction) {
                    Exit::Jump(self.number(next, Lanes::First, &known, &calls))
                } else if matches!(lanes, Lanes::None(_)) && narrows(&instruction) {
                    Exit::Jump(self.number(next, lanes, &known, &calls))
                } else if full || matches!(lanes, Lanes::None(_)) || widens(&instruction) {
                    let all = self.number(next, self.back(lanes), &known, &calls);
                    Exit::Exec(all, self.left(code, next, lanes, &known, &calls))
                } else {
                    Exit::Jump(self.number(next, Lanes::Some, &known, &calls))
                };
            }
            if self.leaders.contains(&next) {
                break Exit::Jump(self.number(next, lanes, &known, &calls));
            }
            pc = next;
        };
        Ok((list, exit))
    }

    /// Where an instruction leads to that goes elsewhere.
    fn end(
        &mut self,
        code: &mut Code<'_>,
        pc: u64,
        instruction: &Instruction,
        (lanes, step): (Lanes, Step),
        mut known: BTreeSet<u8>,
        calls: &[u64],
    ) -> Result<Exit, Refusal> {
        let next = pc + u64::from(instruction.size);
        let full = lanes.full();
        if is_trap(instruction) {
            return Ok(Exit::Trap);
        }
        if let Some(pair) = through(instruction) {
            let mut calls = calls.to_vec();
            let swaps = instruction.row.name == "s_swappc_b64";
            let target = match (self.jumps.get(&pc), calls.last()) {
                (Some(&Target::Function(function)), _) if swaps => {
                    let none = BTreeSet::new();
                    let all = self.number(next, self.back(lanes), &none, &calls);
                    return Ok(Exit::Call(
                        pair,
                        function,
                        all,
                        self.number(next, Lanes::Some, &none, &calls),
                    ));
                }
                (Some(&Target::Function(function)), _) if self.is_function => {
                    return Ok(Exit::Tail(pair, function));
                }
                (Some(Target::Code(target)), _) => *target,
                (Some(Target::Nowhere(target)), _) => return Ok(Exit::Nowhere(*target)),
                // That is how functions return.
                (None, Some(_)) => calls.pop().unwrap_or(NOWHERE),
                (None, None) if self.is_function && code.given == Some(pair) => {
                    return Ok(Exit::Return(pair));
                }
                // GCC's code jumps to places of the function itself.
                (None, None) if self.is_function && code.given != Some(GCC) => {
                    code.unknown = true;
                    let none = BTreeSet::new();
                    let ends = self.step(pc, lanes, &none, &[], Step::Return);
                    return Ok(Exit::Given(pair, ends, self.step(pc, lanes, &none, &[], Step::Tail)));
                }
                (Some(Target::Function(_)), _) | (None, None) => {
                    return Err(Refusal { what: instruction.row.name.to_owned(), address: pc });
                }
            };
            if swaps {
                known.retain(|pair| uses(instruction).1 >> pair & 3 == 0);
                calls.push(next);
            }
            if calls.len() > CALLS {
                return Err(Refusal { what: TOO_DEEP.to_owned(), address: pc });
            }
            let to = self.number(target, lanes, &known, &calls);
            return Ok(Exit::Goto(pair, target, to, self.number(NOWHERE, lanes, &BTreeSet::new(), &[])));
        }
        let targets = targets(&self.jumps, pc, instruction)?;
        Ok(match (condition(instruction.row), targets.as_slice()) {
            (Some((Condition::Exec, holds)), &[target, next]) if full => {
                Exit::Jump(self.number(if holds { target } else { next }, lanes, &known, calls))
            }
            (Some((Condition::Exec, holds)), &[target, next]) if matches!(lanes, Lanes::None(_)) => {
                Exit::Jump(self.number(if holds { next } else { target }, lanes, &known, calls))
            }
            (Some((Condition::Exec, holds)), &[target, next]) if let Step::Left(again) = step => {
                let (some, none) = if holds { (target, next) } else { (next, target) };
                let some = self.number(some, Lanes::Some, &known, calls);
                Exit::Branch(Condition::Exec, some, self.number(none, Lanes::None(again), &known, calls))
            }
            (Some((condition, holds)), &[target, next]) => {
                let target = self.number(target, lanes, &known, calls);
                let next = self.number(next, lanes, &known, calls);
                let (yes, no) = if holds { (target, next) } else { (next, target) };
                Exit::Branch(condition, yes, no)
            }
            (_, &[target]) => Exit::Jump(self.number(target, lanes, &known, calls)),
            _ => Exit::Stop,
        })
    }
}
