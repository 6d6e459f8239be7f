//! The flow of a kernel: which code it reaches, in blocks.
//!
//! A place in the code may be reached with all lanes on and with only some of them. These are two blocks: code for all
//! lanes needs no mask. To know where all lanes are on again, a block has a list of scalar registers that hold
//! the mask of all lanes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gangway_gcn::instruction::{Form, Scalar};
use gangway_gcn::operand::scalar;
use gangway_gcn::table::row::{BRANCHES, ENDS, TRAPS, WRITES_EXEC};
use gangway_gcn::{Decoder, Gpu, Instruction, Operand, Row};

use crate::Refusal;

/// Blocks of a kernel, at most.
const BLOCKS: usize = 6000;
/// Blocks of one place with different knowledge, at most; then there is one without any.
const VARIANTS: usize = 6;

/// Where and with what knowledge a block begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub pc: u64,
    /// All lanes are on.
    pub full: bool,
    /// The first of two registers each, which hold the mask of all lanes.
    pub known: BTreeSet<u8>,
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
    Stop,
    Trap,
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
    let named = instruction.to().iter().any(|to| matches!(to, Operand::Scalar { first, words } if
        (*first..*first + *words).contains(&scalar::EXEC) || *first == scalar::EXEC + 1));
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

/// Where code can come to.
fn targets(pc: u64, instruction: &Instruction) -> Result<Vec<u64>, Refusal> {
    let next = pc + u64::from(instruction.size);
    let row = instruction.row;
    if is_trap(instruction) || row.name.starts_with("s_endpgm") {
        return Ok(Vec::new());
    }
    let target = || instruction.branch_target(pc);
    match (row.name, condition(row).and_then(|_| target())) {
        (_, Some(target)) => Ok(vec![target, next]),
        ("s_branch", _) => Ok(target().into_iter().collect()),
        _ => Err(Refusal { what: row.name.to_owned(), address: pc }),
    }
}

/// Places where blocks begin.
fn leaders(code: &mut Code<'_>, entry: u64) -> Result<BTreeSet<u64>, Refusal> {
    let (mut leaders, mut seen) = (BTreeSet::from([entry]), BTreeSet::new());
    let mut work = vec![entry];
    while let Some(mut pc) = work.pop() {
        while seen.insert(pc) {
            let instruction = code.at(pc)?;
            let next = pc + u64::from(instruction.size);
            if ends(&instruction) {
                for target in targets(pc, &instruction)? {
                    leaders.insert(target);
                    work.push(target);
                }
                break;
            }
            if writes_exec(&instruction) {
                leaders.insert(next);
            }
            pc = next;
        }
    }
    Ok(leaders)
}

/// Pairs of scalar registers that are read before they are written, for each leader.
fn live(code: &mut Code<'_>, leaders: &BTreeSet<u64>) -> Result<BTreeMap<u64, u128>, Refusal> {
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
                part.next = targets(pc, &instruction)?;
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

/// All blocks; the first is the kernel's beginning.
pub fn blocks(code: &mut Code<'_>, entry: u64, full: &[bool]) -> Result<(Vec<Block>, Vec<usize>), Refusal> {
    let leaders = leaders(code, entry)?;
    let live = live(code, &leaders)?;
    let mut numbers: HashMap<Key, usize> = HashMap::new();
    let mut variants: HashMap<(u64, bool), usize> = HashMap::new();
    let mut blocks: Vec<Block> = Vec::new();
    let mut number = |blocks: &mut Vec<Block>, pc: u64, full: bool, known: &BTreeSet<u8>| {
        let alive = live.get(&pc).copied().unwrap_or(0);
        let known = known.iter().copied().filter(|pair| alive >> pair & 3 == 3).collect();
        let mut key = Key { pc, full, known };
        if !numbers.contains_key(&key) {
            let count = variants.entry((pc, full)).or_default();
            *count += 1;
            if *count > VARIANTS {
                key.known.clear();
            }
        }
        *numbers.entry(key.clone()).or_insert_with(|| {
            blocks.push(Block { key, code: Vec::new(), exit: Exit::Stop });
            blocks.len() - 1
        })
    };
    let none = BTreeSet::new();
    let entries: Vec<usize> = full.iter().map(|full| number(&mut blocks, entry, *full, &none)).collect();
    let mut at = 0;
    while at < blocks.len() {
        if blocks.len() > BLOCKS {
            return Err(Refusal { what: "too many blocks".to_owned(), address: entry });
        }
        let Key { mut pc, full, mut known } = blocks[at].key.clone();
        let mut list = Vec::new();
        let exit = loop {
            let instruction = code.at(pc)?;
            let next = pc + u64::from(instruction.size);
            if ends(&instruction) {
                break if is_trap(&instruction) {
                    list.push((pc, instruction));
                    Exit::Trap
                } else {
                    let targets = targets(pc, &instruction)?;
                    match (condition(instruction.row), targets.as_slice()) {
                        (Some((Condition::Exec, holds)), &[target, next]) if full => {
                            Exit::Jump(number(&mut blocks, if holds { target } else { next }, full, &known))
                        }
                        (Some((condition, holds)), &[target, next]) => {
                            let target = number(&mut blocks, target, full, &known);
                            let next = number(&mut blocks, next, full, &known);
                            let (yes, no) = if holds { (target, next) } else { (next, target) };
                            Exit::Branch(condition, yes, no)
                        }
                        (_, &[target]) => Exit::Jump(number(&mut blocks, target, full, &known)),
                        _ => Exit::Stop,
                    }
                };
            }
            list.push((pc, instruction));
            if let Some(after) = pass(&instruction, full, &mut known) {
                break if after {
                    Exit::Jump(number(&mut blocks, next, true, &known))
                } else if full {
                    let all = number(&mut blocks, next, true, &known);
                    Exit::Exec(all, number(&mut blocks, next, false, &known))
                } else {
                    Exit::Jump(number(&mut blocks, next, false, &known))
                };
            }
            if leaders.contains(&next) {
                break Exit::Jump(number(&mut blocks, next, full, &known));
            }
            pc = next;
        };
        blocks[at].code = list;
        blocks[at].exit = exit;
        at += 1;
    }
    Ok((blocks, entries))
}
