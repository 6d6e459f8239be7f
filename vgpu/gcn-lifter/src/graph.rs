//! The flow of a kernel: which code it reaches, in blocks.
//!
//! A place in the code may be reached with all lanes on and with only some of them. These are two blocks: code for all
//! lanes needs no mask. All lanes are known to be on again where the mask is one of all lanes on every way; elsewhere
//! that is looked at.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gangway_gcn::instruction::{Form, Scalar};
use gangway_gcn::operand::scalar;
use gangway_gcn::table::row::{BRANCHES, ENDS, TRAPS, WRITES_EXEC, WRITES_SCC};
use gangway_gcn::{Decoder, Gpu, Instruction, Operand, Row};

use crate::Refusal;

/// Blocks of a kernel, at most.
const BLOCKS: usize = 6000;
/// Instructions of all blocks, at most.
const INSTRUCTIONS: usize = 16_000;
/// Functions that call each other, at most.
const CALLS: usize = 24;

/// The place of what must not be reached.
const NOWHERE: u64 = u64::MAX;

/// Where a block begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub pc: u64,
    /// All lanes are on.
    pub full: bool,
    /// Where the functions return to that the code is in: each call has blocks of its own.
    pub calls: Vec<u64>,
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
            Self::Branch(_, yes, no) | Self::Exec(yes, no) | Self::Goto(_, _, yes, no) => {
                with(yes);
                with(no);
            }
            Self::Stop | Self::Trap | Self::Nowhere(_) => {}
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
    pub decoded: HashMap<u64, Instruction>,
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
            (Some(Target::Nowhere(_)), _) => Ok(Vec::new()),
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
    /// There is nothing: as a rule a function that the program may have and does not, which code looks at before.
    Nowhere(u64),
}

impl Target {
    fn of(code: &Code<'_>, address: u64) -> Self {
        if (code.read)(address, &mut [0; 4]) { Self::Code(address) } else { Self::Nowhere(address) }
    }

    const fn code(self) -> Option<u64> {
        match self {
            Self::Code(address) => Some(address),
            Self::Nowhere(_) => None,
        }
    }
}

/// Where jumps through registers lead to, by their places.
type Jumps = HashMap<u64, Target>;

/// Words that scalar registers hold, and what is carried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Words {
    known: BTreeMap<u8, u32>,
    carry: Option<bool>,
}

impl Words {
    fn word(&self, operand: Option<&Operand>) -> Option<u32> {
        match *operand? {
            Operand::Scalar { first, words: 1 } => self.known.get(&first).copied(),
            Operand::Literal(value) => Some(value),
            Operand::Integer(value) => Some(i32::from(value).cast_unsigned()),
            _ => None,
        }
    }

    fn pair(&self, first: u8) -> Option<u64> {
        let (low, high) = (self.known.get(&first)?, self.known.get(&(first + 1))?);
        Some(u64::from(*high) << 32 | u64::from(*low))
    }

    /// What is known behind an instruction: addresses of code, as compilers write them.
    fn pass(&mut self, code: &Code<'_>, pc: u64, instruction: &Instruction) {
        use gangway_gcn::instruction::{ScalarMemory, ScalarOffset};

        let mut found = Vec::new();
        let mut carry = None;
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
        let (_, writes) = uses(instruction);
        self.known.retain(|register, _| writes >> register & 1 == 0);
        if instruction.row.effects.any(WRITES_SCC) {
            self.carry = carry;
        }
        if let Some(Operand::Scalar { first, .. }) = instruction.to().first() {
            for (number, word) in found.into_iter().enumerate() {
                self.known.insert(first + number as u8, word);
            }
        }
    }

    /// What is left behind a call of a function that writes these registers, of which it keeps some (AMDGPU guide,
    /// "Non-Kernel Functions"). Where it does not, the address that is jumped to is another one, which code looks at.
    fn call(&mut self, written: u128) {
        const KEPT: [std::ops::Range<u8>; 5] = [30..40, 48..56, 64..72, 80..88, 96..106];
        let is_kept = |register: &u8| KEPT.iter().any(|range| range.contains(register));
        self.known.retain(|register, _| written >> register & 1 == 0 || is_kept(register));
        self.carry = None;
    }

    /// What is known on both ways; whether it has become less.
    fn meet(&mut self, other: &Self) -> bool {
        let before = (self.known.len(), self.carry);
        self.known.retain(|register, word| other.known.get(register) == Some(word));
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
                    Some(_) if instruction.row.name == "s_swappc_b64" && !jumps.contains_key(&pc) => {
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

/// Places where blocks begin, and where jumps through registers lead to.
fn leaders(code: &mut Code<'_>, entry: u64) -> Result<(BTreeSet<u64>, Jumps), Refusal> {
    let mut states: BTreeMap<u64, Words> = BTreeMap::from([(entry, Words::default())]);
    let mut jumps = Jumps::new();
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
                if let Some(target) = words.pair(pair).filter(|target| target.is_multiple_of(4)) {
                    jumps.insert(pc, Target::of(code, target));
                } else if instruction.row.name == "s_swappc_b64" {
                    lost.insert(pc, instruction.row.name);
                    break;
                }
            }
            if ends(&instruction) {
                for target in targets(&jumps, pc, &instruction)? {
                    let mut words = words.clone();
                    if target == next && through(&instruction).is_some() {
                        let function = jumps.get(&pc).and_then(|target| target.code());
                        words.call(written(code, &jumps, function)?);
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
    match lost.first_key_value() {
        Some((pc, name)) => Err(Refusal { what: (*name).to_owned(), address: *pc }),
        None => Ok((states.into_keys().collect(), jumps)),
    }
}

/// Pairs of scalar registers that are read before they are written, for each leader.
fn live(code: &mut Code<'_>, leaders: &BTreeSet<u64>, jumps: &Jumps) -> Result<BTreeMap<u64, u128>, Refusal> {
    struct Part {
        reads: u128,
        writes: u128,
        next: Vec<u64>,
    }
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
    let mut live: BTreeMap<u64, u128> = leaders.iter().map(|leader| (*leader, 0)).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (leader, part) in parts.iter().rev() {
            let out = part.next.iter().fold(0, |out, next| out | live[next]);
            let found = part.reads | out & !part.writes;
            changed |= live.insert(*leader, found) != Some(found);
        }
    }
    Ok(live)
}

/// Scalar registers that an instruction reads and writes.
fn uses(instruction: &Instruction) -> (u128, u128) {
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

/// Whether lanes may be on behind it that were off, of an instruction that writes EXEC.
fn widens(instruction: &Instruction) -> bool {
    matches!(instruction.row.name, "s_or_b64" | "s_mov_b64" | "s_or_saveexec_b64")
}

/// All blocks; the first ones are the kernel's beginning.
pub fn blocks(code: &mut Code<'_>, entry: u64, full: &[bool]) -> Result<(Vec<Block>, Vec<usize>), Refusal> {
    let (leaders, jumps) = leaders(code, entry)?;
    let live = live(code, &leaders, &jumps)?;
    let mut walk =
        Walk { leaders, jumps, live, numbers: HashMap::new(), blocks: Vec::new(), work: Vec::new() };
    let none = BTreeSet::new();
    let entries: Vec<usize> = full.iter().map(|full| walk.number(entry, *full, &none, &[])).collect();
    let mut count = 0;
    while let Some(at) = walk.work.pop() {
        walk.blocks[at].waits = false;
        let (list, exit) = walk.block(code, at)?;
        let block = &mut walk.blocks[at].block;
        count = count + list.len() - block.code.len();
        (block.code, block.exit) = (list, exit);
        if walk.blocks.len() > BLOCKS || count > INSTRUCTIONS {
            return Err(Refusal { what: "too much code".to_owned(), address: entry });
        }
    }
    Ok(reached(walk.blocks.into_iter().map(|found| found.block).collect(), &entries))
}

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
        let hole = Key { pc: NOWHERE, full: false, calls: Vec::new() };
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
    numbers: HashMap<Key, usize>,
    blocks: Vec<Found>,
    work: Vec<usize>,
}

impl Walk {
    /// The block of a place, which is come to with this knowledge.
    fn number(&mut self, pc: u64, full: bool, known: &BTreeSet<u8>, calls: &[u64]) -> usize {
        let key = Key { pc, full, calls: calls.to_vec() };
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
        let Key { mut pc, full, calls } = self.blocks[at].block.key.clone();
        let mut known = self.blocks[at].known.clone();
        let mut list = Vec::new();
        let exit = loop {
            if pc == NOWHERE {
                break Exit::Trap;
            }
            let instruction = code.at(pc)?;
            let next = pc + u64::from(instruction.size);
            if ends(&instruction) {
                if is_trap(&instruction) || instruction.row.name == "s_swappc_b64" {
                    list.push((pc, instruction));
                }
                break self.end(pc, &instruction, full, known, &calls)?;
            }
            list.push((pc, instruction));
            if let Some(after) = pass(&instruction, full, &mut known) {
                break if after {
                    Exit::Jump(self.number(next, true, &known, &calls))
                } else if full || widens(&instruction) {
                    let all = self.number(next, true, &known, &calls);
                    Exit::Exec(all, self.number(next, false, &known, &calls))
                } else {
                    Exit::Jump(self.number(next, false, &known, &calls))
                };
            }
            if self.leaders.contains(&next) {
                break Exit::Jump(self.number(next, full, &known, &calls));
            }
            pc = next;
        };
        Ok((list, exit))
    }

    /// Where an instruction leads to that goes elsewhere.
    fn end(
        &mut self,
        pc: u64,
        instruction: &Instruction,
        full: bool,
        mut known: BTreeSet<u8>,
        calls: &[u64],
    ) -> Result<Exit, Refusal> {
        let next = pc + u64::from(instruction.size);
        if is_trap(instruction) {
            return Ok(Exit::Trap);
        }
        if let Some(pair) = through(instruction) {
            let mut calls = calls.to_vec();
            let target = match (self.jumps.get(&pc), calls.last()) {
                (Some(Target::Code(target)), _) => *target,
                (Some(Target::Nowhere(target)), _) => return Ok(Exit::Nowhere(*target)),
                // That is how functions return.
                (None, Some(_)) => calls.pop().unwrap_or(NOWHERE),
                (None, None) => return Err(Refusal { what: instruction.row.name.to_owned(), address: pc }),
            };
            if instruction.row.name == "s_swappc_b64" {
                known.retain(|pair| uses(instruction).1 >> pair & 3 == 0);
                calls.push(next);
            }
            if calls.len() > CALLS {
                return Err(Refusal { what: "functions that call each other".to_owned(), address: pc });
            }
            let to = self.number(target, full, &known, &calls);
            return Ok(Exit::Goto(pair, target, to, self.number(NOWHERE, full, &BTreeSet::new(), &[])));
        }
        let targets = targets(&self.jumps, pc, instruction)?;
        Ok(match (condition(instruction.row), targets.as_slice()) {
            (Some((Condition::Exec, holds)), &[target, next]) if full => {
                Exit::Jump(self.number(if holds { target } else { next }, full, &known, calls))
            }
            (Some((condition, holds)), &[target, next]) => {
                let target = self.number(target, full, &known, calls);
                let next = self.number(next, full, &known, calls);
                let (yes, no) = if holds { (target, next) } else { (next, target) };
                Exit::Branch(condition, yes, no)
            }
            (_, &[target]) => Exit::Jump(self.number(target, full, &known, calls)),
            _ => Exit::Stop,
        })
    }
}
