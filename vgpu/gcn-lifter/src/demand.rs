//! Which lanes' values of vector registers are needed behind an instruction.
//!
//! An instruction writes the lanes that are on. What a register holds in the others matters only where
//! they are on again and read it, or where something reads other lanes. Mostly nothing does: then the
//! old value need not be kept, and does not live. What is found is never less than what is needed.

use gangway_gcn::instruction::{Form, Shape, Vector};
use gangway_gcn::operand::scalar;
use gangway_gcn::table::row::{READS_DESTINATION, SELECT, SELECT_TWO, WRITES_EXEC, WRITES_SOURCE};
use gangway_gcn::{Instruction, Operand};

use crate::graph::{Block, writes_exec};

/// Vector and accumulation registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Set([u64; 8]);

impl Set {
    /// Whether a register is in it; accumulation registers have the numbers from 256 on.
    pub fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_none_or(|word| word >> (number % 64) & 1 != 0)
    }

    const ALL: Self = Self([u64::MAX; 8]);

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
struct Needs {
    on: Set,
    off: Set,
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
    let from = match &instruction.form {
        Form::Scalar(form) => form.from,
        // Comparisons: lanes that are off stay so.
        Form::Vector(_) if instruction.row.effects.any(WRITES_EXEC) => return Change::Less,
        _ => return Change::Anything,
    };
    let is_exec = |operand: Option<&Operand>| {
        matches!(operand, Some(Operand::Scalar { first: scalar::EXEC, words: 2 }))
    };
    let (first, second) = (is_exec(from.first()), is_exec(from.get(1)));
    match instruction.row.name {
        "s_and_saveexec_b64" | "s_andn1_saveexec_b64" | "s_andn1_wrexec_b64" => Change::Less,
        "s_and_b64" if first || second => Change::Less,
        "s_andn2_b64" if first => Change::Less,
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

/// Vector registers that an instruction reads, and such that it writes in all lanes that are on.
fn uses(instruction: &Instruction) -> (Set, Set) {
    let (mut reads, mut writes) = (Set::default(), Set::default());
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
    let mut changed = true;
    while changed {
        changed = false;
        for (number, block) in blocks.iter().enumerate().rev() {
            let found = walk(block, &entering, &mut |_| {});
            changed |= found != std::mem::replace(&mut entering[number], found);
        }
    }
    blocks
        .iter()
        .map(|block| {
            let mut list = Vec::with_capacity(block.code.len());
            walk(block, &entering, &mut |off| list.push(off));
            list.reverse();
            list
        })
        .collect()
}

/// From the end of a block to its beginning; `each` gets what the lanes that are off need behind each instruction.
fn walk(block: &Block, entering: &[Needs], each: &mut dyn FnMut(Set)) -> Needs {
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
    // Where registers are indexed any may be meant.
    let indexes = block.code.iter().any(|(_, instruction)| switches_index(instruction));
    for (_, instruction) in block.code.iter().rev() {
        if block.key.full {
            needs.on.add(&needs.off);
            needs.off = Set::default();
        }
        each(needs.off);
        let (mut reads, mut writes) = uses(instruction);
        if indexes && takes_index(instruction) {
            (reads, writes) = (Set::ALL, Set::default());
        }
        if crosses(instruction) {
            needs.off.add(&reads);
        } else {
            needs.on.remove(&writes);
        }
        needs.on.add(&reads);
    }
    if block.key.full {
        needs.on.add(&needs.off);
        needs.off = Set::default();
    }
    needs
}
