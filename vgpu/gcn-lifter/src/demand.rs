//! Which lanes' values of vector registers are needed behind an instruction.
//!
//! An instruction writes the lanes that are on. What a register holds in the others matters only where
//! they are on again and read it, or where something reads other lanes. Mostly nothing does: then the
//! old value need not be kept, and does not live. What is found is never less than what is needed.

use gangway_gcn::instruction::{Form, Scalar, Shape, Vector};
use gangway_gcn::operand::scalar;
use gangway_gcn::table::row::{READS_DESTINATION, SELECT, SELECT_TWO, WRITES_SOURCE};
use gangway_gcn::{Instruction, Operand};

use crate::graph::{self, Block, Lanes, narrows, writes_exec};

/// Vector and accumulation registers, then scalar ones and SCC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Set([u64; WORDS]);

const WORDS: usize = 11;
/// The number of the first scalar register. The last is SCC's.
pub const SCALAR: usize = 512;

impl Set {
    /// Whether a register is in it; accumulation registers have the numbers from 256 on.
    pub fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_none_or(|word| word >> (number % 64) & 1 != 0)
    }

    const ALL: Self = Self([u64::MAX; WORDS]);
    const SCALARS: Self = Self([0, 0, 0, 0, 0, 0, 0, 0, u64::MAX, u64::MAX, 1]);

    pub fn numbers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..64 * WORDS).filter(|number| self.contains(*number))
    }

    pub fn put(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word |= 1 << (number % 64);
        }
    }

    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= other);
        self
    }

    #[must_use]
    pub fn or(mut self, other: &Self) -> Self {
        self.add(other);
        self
    }

    #[must_use]
    pub fn without(mut self, other: &Self) -> Self {
        self.remove(other);
        self
    }

    fn scalars(bits: u128) -> Self {
        let mut set = Self::default();
        (set.0[SCALAR / 64], set.0[SCALAR / 64 + 1]) = (bits as u64, (bits >> 64) as u64);
        set
    }

    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }

    fn remove(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= !other);
    }

    fn insert(&mut self, operand: &Operand) {
        let (first, words) = match *operand {
            Operand::Vector { first, words } => (usize::from(first), words),
            Operand::Accumulator { first, words } => (256 + usize::from(first), words),
            _ => return,
        };
        for number in first..first + usize::from(words) {
            if let Some(word) = self.0.get_mut(number / 64) {
                *word |= 1 << (number % 64);
            }
        }
    }
}

/// Registers that are needed in lanes that are on, and in those that are off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    on: Set,
    off: Set,
}

impl Needs {
    /// Registers that are needed in any lanes.
    pub fn any(&self) -> Set {
        self.on.or(&self.off)
    }

    /// Registers that are needed in all lanes.
    pub fn all(set: Set) -> Self {
        Self { on: set, off: set }
    }
}

/// What becomes of the lanes that are on at the end of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Nothing,
    /// Some may be off then.
    Less,
    /// Some may be on then.
    More,
    Anything,
}

fn change(instruction: &Instruction) -> Change {
    if !writes_exec(instruction) {
        return Change::Nothing;
    }
    if narrows(instruction) {
        return Change::Less;
    }
    let Form::Scalar(Scalar { from, .. }) = &instruction.form else { return Change::Anything };
    let is_exec = |operand: Option<&Operand>| {
        matches!(operand, Some(Operand::Scalar { first: scalar::EXEC, words: 2 }))
    };
    let (first, second) = (is_exec(from.first()), is_exec(from.get(1)));
    match instruction.row.name {
        "s_or_saveexec_b64" => Change::More,
        "s_or_b64" if first || second => Change::More,
        _ => Change::Anything,
    }
}

/// Whether an instruction looks at lanes that are off, or writes others than those that are on.
fn crosses(instruction: &Instruction) -> bool {
    let name = instruction.row.name;
    match &instruction.form {
        Form::Vector(form) => {
            matches!(form.shape, Shape::Dpp(_) | Shape::Matrix(_))
                || ["v_read", "v_write", "v_perml", "v_mov_fed", "v_movrel"]
                    .iter()
                    .any(|part| name.starts_with(part))
        }
        Form::Local(_) => ["permute", "swizzle", "append", "consume", "ordered", "gws"]
            .iter()
            .any(|part| name.contains(part)),
        Form::Flat(_) | Form::Buffer(_) => false,
        Form::Scalar(_) | Form::ScalarMemory(_) => true,
    }
}

/// Whether an instruction writes the first lane of a register, and no other.
fn writes_first(instruction: &Instruction) -> bool {
    let Form::Vector(form) = &instruction.form else { return false };
    instruction.row.name == "v_writelane_b32" && form.from.get(1) == Some(&Operand::Integer(0))
}

/// Registers that an instruction reads, and such that it writes in all lanes that are on.
fn uses(instruction: &Instruction) -> (Set, Set) {
    let scalars = graph::uses(instruction);
    let (mut reads, mut writes) = (Set::scalars(scalars.0), Set::scalars(scalars.1));
    let to = instruction.to();
    to.iter().for_each(|operand| writes.insert(operand));
    let mut keeps = instruction.row.effects.any(READS_DESTINATION | WRITES_SOURCE);
    match &instruction.form {
        Form::Vector(form) => {
            form.from.iter().for_each(|operand| reads.insert(operand));
            keeps |= matches!(form.shape, Shape::Sdwa(_)) || is_kept(instruction, form);
        }
        Form::Local(form) => form.from.iter().for_each(|operand| reads.insert(operand)),
        Form::Flat(form) => form.address.iter().chain(&form.data).for_each(|operand| reads.insert(operand)),
        Form::Buffer(form) => {
            form.address.iter().chain(&form.data).for_each(|operand| reads.insert(operand));
        }
        Form::Scalar(form) => form.from.iter().for_each(|operand| reads.insert(operand)),
        Form::ScalarMemory(_) => {}
    }
    if keeps {
        reads.add(&writes);
    }
    (reads, writes)
}

/// Whether an instruction writes half of a register; the other half stays.
pub fn is_kept(instruction: &Instruction, form: &Vector) -> bool {
    let row = instruction.row;
    matches!(form.shape, Shape::Long(_)) && is_result(row.name) && row.allows.any(SELECT | SELECT_TWO)
}

/// Whether an instruction's result has 16 bits.
pub fn is_result(name: &str) -> bool {
    let result = match name.strip_prefix("v_cvt_") {
        Some(rest) => rest.split('_').next().unwrap_or_default(),
        None if name.starts_with("v_mad_u32_") || name.starts_with("v_mad_i32_") => return false,
        None => name.rsplit('_').next().unwrap_or_default(),
    };
    matches!(result, "f16" | "u16" | "i16" | "b16")
}

/// Whether it turns indexing on or off.
fn switches_index(instruction: &Instruction) -> bool {
    instruction.row.name.starts_with("s_set_gpr_idx_")
}

/// Whether it can have indexed registers.
pub fn takes_index(instruction: &Instruction) -> bool {
    instruction.row.name == "v_mov_b32"
}

/// For each block, for each instruction: registers whose values behind it are needed in lanes that are off there.
pub fn of(blocks: &[Block]) -> Vec<Vec<Set>> {
    let mut entering = vec![Needs::default(); blocks.len()];
    let ending = |block: &Block, entering: &[Needs]| ending(block, entering);
    settle(blocks, &mut entering, &ending);
    each(blocks, &entering, &ending)
}

/// What is needed at the end of a block, by what is needed where blocks begin.
pub type Ending<'a> = &'a dyn Fn(&Block, &[Needs]) -> Needs;

/// What is needed where blocks begin, from what is known of it.
pub fn settle(blocks: &[Block], entering: &mut [Needs], ending: Ending<'_>) {
    let mut changed = true;
    while changed {
        changed = false;
        for (number, block) in blocks.iter().enumerate().rev() {
            let found = walk(block, ending(block, entering), &mut |_| {});
            changed |= found != std::mem::replace(&mut entering[number], found);
        }
    }
}

/// For each block, for each instruction: registers whose values behind it are needed in lanes that are off there.
pub fn each(blocks: &[Block], entering: &[Needs], ending: Ending<'_>) -> Vec<Vec<Set>> {
    blocks
        .iter()
        .map(|block| {
            let mut list = Vec::with_capacity(block.code.len());
            walk(block, ending(block, entering), &mut |off| list.push(off));
            list.reverse();
            list
        })
        .collect()
}

/// Registers that the code of blocks may write itself. VCC, SCC and M0 are said to be written by all.
pub fn written(blocks: &[Block]) -> Set {
    let mut written = implied();
    for (_, instruction) in blocks.iter().flat_map(|block| &block.code) {
        let (_, writes) = uses(instruction);
        written.add(&writes);
        if instruction.row.effects.any(WRITES_SOURCE)
            && let Form::Vector(form) = &instruction.form
        {
            form.from.iter().for_each(|operand| written.insert(operand));
        }
        if writes_exec(instruction) {
            written.add(&mask());
        }
        if switches_index(instruction) {
            written.add(&Set::ALL.without(&Set::SCALARS));
        }
    }
    written
}

/// Registers that instructions read and write without naming them, but for the mask of lanes.
pub fn implied() -> Set {
    let mut set = Set::scalars(3 << scalar::VCC | 1 << scalar::M0);
    set.put(SCALAR + 128);
    set
}

/// Registers that a kernel has with so many vector and accumulation registers.
pub fn there(vectors: usize, accumulators: usize) -> Set {
    let mut set = Set::SCALARS;
    (0..vectors.min(256)).for_each(|number| set.put(number));
    (0..accumulators.min(256)).for_each(|number| set.put(256 + number));
    set
}

/// A pair of scalar registers.
pub fn pair(first: u8) -> Set {
    Set::scalars(3 << first)
}

/// The mask of lanes.
pub fn mask() -> Set {
    pair(scalar::EXEC)
}

/// What is needed at the end of a block that goes to others.
pub fn ending(block: &Block, entering: &[Needs]) -> Needs {
    let mut needs = Needs::default();
    let change = block.code.last().map_or(Change::Nothing, |(_, instruction)| change(instruction));
    for to in block.exit.successors() {
        let Needs { on, off } = entering[to];
        needs.on.add(&on);
        needs.off.add(&off);
        if matches!(change, Change::Less | Change::Anything) {
            needs.on.add(&off);
        }
        if matches!(change, Change::More | Change::Anything) {
            needs.off.add(&on);
        }
    }
    needs
}

/// From the end of a block to its beginning; `each` gets what the lanes that are off need behind each instruction.
fn walk(block: &Block, mut needs: Needs, each: &mut dyn FnMut(Set)) -> Needs {
    // Where registers are indexed any may be meant.
    let indexes = block.code.iter().any(|(_, instruction)| switches_index(instruction));
    for (_, instruction) in block.code.iter().rev() {
        if block.key.lanes.full() {
            needs.on.add(&needs.off);
            needs.off = Set::default();
        }
        each(needs.off);
        let (mut reads, mut writes) = uses(instruction);
        if indexes && takes_index(instruction) {
            (reads, writes) = (Set::ALL, Set::default());
        }
        let scalars = writes.and(&Set::SCALARS);
        needs.on.remove(&scalars);
        needs.off.remove(&scalars);
        if block.key.lanes == Lanes::First && writes_first(instruction) {
            needs.on.remove(&writes);
        } else if crosses(instruction) {
            needs.off.add(&reads);
        } else {
            needs.on.remove(&writes);
        }
        needs.on.add(&reads);
    }
    if block.key.lanes.full() {
        needs.on.add(&needs.off);
        needs.off = Set::default();
    }
    needs
}
