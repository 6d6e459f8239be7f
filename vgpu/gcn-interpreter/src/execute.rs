//! One instruction of a wave: what its row means, and running it.

use gangway_gcn::{Encoding, Instruction, Row};

use crate::control::{self, Next};
use crate::operations::Operation;
use crate::space::Memories;
use crate::transfer::Transfer;
use crate::wave::{Result, Wave};
use crate::{buffer, cross, flat, local, scalar, scalar_memory, vector};

/// What an instruction does, found once when it is decoded.
#[derive(Clone, Copy)]
pub enum Action {
    Control(control::Action),
    Scalar(scalar::Action),
    ScalarMemory(scalar_memory::Action),
    Lanes(Operation),
    Cross(cross::Action),
    Local(local::Action),
    Flat(Transfer),
    Buffer(buffer::Action),
}

impl Action {
    /// What a row means; nothing where the interpreter does not run it.
    #[must_use]
    pub fn of(row: &Row) -> Option<Self> {
        match row.encoding {
            Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc | Encoding::Sopk | Encoding::Sopp => {
                control::action(row).map(Self::Control).or_else(|| scalar::action(row).map(Self::Scalar))
            }
            Encoding::Smem => scalar_memory::action(row).map(Self::ScalarMemory),
            Encoding::Vop1 | Encoding::Vop2 | Encoding::Vop3 | Encoding::Vop3p | Encoding::Vopc => {
                cross::action(row).map(Self::Cross).or_else(|| Operation::of(row).map(Self::Lanes))
            }
            Encoding::Ds => local::action(row).map(Self::Local),
            Encoding::Flat | Encoding::Global | Encoding::Scratch => flat::action(row).map(Self::Flat),
            Encoding::Mubuf => buffer::action(row).map(Self::Buffer),
            Encoding::Mtbuf => None,
        }
    }
}

/// Whether the interpreter runs the instructions of a row.
#[must_use]
pub fn runs(row: &Row) -> bool {
    Action::of(row).is_some()
}

/// Runs an instruction that stands at `pc`; the wave's counter is already behind it.
pub fn run(
    memories: &mut Memories<'_>,
    wave: &mut Wave,
    action: &Action,
    instruction: &Instruction,
    pc: u64,
    time: u64,
) -> Result<Next> {
    match action {
        Action::Control(action) => return control::run(memories, wave, *action, instruction, pc),
        Action::Scalar(action) => scalar::run(wave, *action, instruction)?,
        Action::ScalarMemory(action) => scalar_memory::run(memories, wave, action, instruction, time)?,
        Action::Lanes(operation) => vector::run(wave, *operation, instruction)?,
        Action::Cross(action) => cross::run(wave, *action, instruction)?,
        Action::Local(action) => local::run(memories, wave, action, instruction)?,
        Action::Flat(transfer) => flat::run(memories, wave, transfer, instruction)?,
        Action::Buffer(action) => buffer::run(memories, wave, action, instruction)?,
    }
    Ok(Next::On)
}
