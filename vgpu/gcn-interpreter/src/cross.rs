//! Vector instructions that move values: between lanes, to scalar registers, between files.

use gangway_gcn::instruction::{Form, Shape};
use gangway_gcn::table::{Constant, Slot};
use gangway_gcn::{Instruction, Operand, Row};

use crate::operands::{self, Source};
use crate::wave::{LANES, Result, Stop, Wave};

/// What is moved.
#[derive(Clone, Copy)]
pub enum Action {
    Nothing,
    ReadLane,
    ReadFirstLane,
    WriteLane,
    Swap,
    /// From one file of registers to the other.
    Copy,
    /// Two words, each of a source.
    MovePair,
}

pub fn action(row: &Row) -> Option<Action> {
    Some(match row.name {
        "v_nop" | "v_clrexcp" => Action::Nothing,
        "v_readlane_b32" => Action::ReadLane,
        "v_readfirstlane_b32" => Action::ReadFirstLane,
        "v_writelane_b32" => Action::WriteLane,
        "v_swap_b32" => Action::Swap,
        "v_accvgpr_read_b32" | "v_accvgpr_write_b32" | "v_accvgpr_mov_b32" => Action::Copy,
        "v_pk_mov_b32" => Action::MovePair,
        _ => return None,
    })
}

pub fn run(wave: &mut Wave, action: Action, instruction: &Instruction) -> Result {
    let Form::Vector(vector) = &instruction.form else { return Ok(()) };
    let row = instruction.row;
    if wave.mode.indexes() && !matches!(action, Action::Nothing) {
        return Err(Stop::unsupported("an indexed register of this instruction"));
    }
    let source = |wave: &Wave, index: usize| match (row.from.get(index), vector.from.get(index)) {
        (Some(slot), Some(operand)) => operands::source(wave, row, slot, *operand),
        _ => Ok(Source::Uniform(0)),
    };
    let word = Slot::ScalarSource(1, Constant::Word);
    match action {
        Action::Nothing => {}
        Action::ReadFirstLane | Action::ReadLane => {
            let lane = match (action, vector.from.get(1)) {
                (Action::ReadLane, Some(operand)) => {
                    operands::scalar(wave, row, &word, *operand)? as usize % LANES
                }
                // Lane 0 where none is on.
                _ => wave.lanes().next().unwrap_or(0),
            };
            let value = source(wave, 0)?.of(wave, lane);
            if let Some(Operand::Scalar { first, .. }) = vector.to.first() {
                wave.set_scalar(*first, value as u32);
            }
        }
        Action::WriteLane => {
            let [value, lane] = [0, 1].map(|index| {
                let operand = vector.from.get(index).copied().unwrap_or(Operand::Integer(0));
                operands::scalar(wave, row, &word, operand)
            });
            let (value, lane) = (value?, lane? as usize % LANES);
            if let Some((first, _)) = destination(wave, vector.to.first()) {
                wave.vector[first][lane] = value as u32;
            }
        }
        Action::Swap => {
            let (one, other) = (destination(wave, vector.to.first()), destination(wave, vector.from.first()));
            if let Some(((one, _), (other, _))) = one.zip(other) {
                for lane in wave.lanes() {
                    let kept = wave.vector[one][lane];
                    wave.vector[one][lane] = wave.vector[other][lane];
                    wave.vector[other][lane] = kept;
                }
            }
        }
        Action::Copy => {
            let source = source(wave, 0)?;
            if let Some((first, words)) = destination(wave, vector.to.first()) {
                for lane in wave.lanes() {
                    wave.set_lane(first, words, lane, source.of(wave, lane));
                }
            }
        }
        Action::MovePair => {
            let Shape::Packed(packed) = vector.shape else { return Ok(()) };
            let sources = [source(wave, 0)?, source(wave, 1)?];
            if let Some((first, words)) = destination(wave, vector.to.first()) {
                for lane in wave.lanes() {
                    let [low, high] = [0, 1].map(|index| {
                        let value = sources[index].of(wave, lane);
                        value >> (32 * u32::from(packed.select >> index & 1)) & 0xffff_ffff
                    });
                    wave.set_lane(first, words, lane, high << 32 | low);
                }
            }
        }
    }
    Ok(())
}

fn destination(wave: &Wave, operand: Option<&Operand>) -> Option<(usize, u8)> {
    operand.and_then(|operand| operands::registers(wave, *operand))
}
