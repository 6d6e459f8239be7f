//! The operands of instructions: what is read, and where results go.

use gangway_gcn::operand::Special;
use gangway_gcn::table::{Constant, Slot};
use gangway_gcn::{Operand, Row};

use crate::dispatch::{GROUP_APERTURE, PRIVATE_APERTURE};
use crate::wave::{Result, Stop, Wave};

/// A source: one value for all lanes, or registers.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    Uniform(u64),
    Registers { first: usize, words: u8 },
}

impl Source {
    pub fn of(self, wave: &Wave, lane: usize) -> u64 {
        match self {
            Self::Uniform(value) => value,
            Self::Registers { first, words } => wave.lane(first, words, lane),
        }
    }
}

/// How many bits a place's values have, and where their sign is.
pub fn bits(slot: &Slot) -> u32 {
    match *slot {
        Slot::Source(_, Constant::Half | Constant::Short) | Slot::Literal(Constant::Half) => 16,
        Slot::Source(2, _) | Slot::Vector(2) | Slot::ScalarSource(2, _) | Slot::Scalar(2) => 64,
        _ => 32,
    }
}

/// A scalar register's value, or a constant.
pub fn scalar(wave: &Wave, row: &Row, slot: &Slot, operand: Operand) -> Result<u64> {
    let wide = bits(slot) == 64;
    let value = match operand {
        Operand::Scalar { first, words: 1 } => u64::from(wave.scalar[usize::from(first) & 127]),
        Operand::Scalar { first, .. } => wave.pair(first & 127),
        Operand::Special(special) => special_value(wave, special)?,
        _ => operand
            .constant(row, slot)
            .ok_or_else(|| Stop::unsupported("a vector register in a scalar place"))?,
    };
    Ok(if wide { value } else { value & 0xffff_ffff })
}

/// As 32 bits apertures are 0: what they are is in the upper half.
fn special_value(wave: &Wave, special: Special) -> Result<u64> {
    Ok(match special {
        Special::SharedBase => GROUP_APERTURE,
        Special::SharedLimit => GROUP_APERTURE | 0xffff_ffff,
        Special::PrivateBase => PRIVATE_APERTURE,
        Special::PrivateLimit => PRIVATE_APERTURE | 0xffff_ffff,
        Special::VccZero => u64::from(wave.vcc() == 0),
        Special::ExecZero => u64::from(wave.exec() == 0),
        Special::Scc => u64::from(wave.scc),
        Special::LdsDirect => return Err(Stop::unsupported("LDS as an operand")),
        Special::PopsExitingWave => return Err(Stop::unsupported("an operand of graphics")),
    })
}

/// Where vector or accumulation registers are in the wave's file.
pub fn registers(wave: &Wave, operand: Operand) -> Option<(usize, u8)> {
    match operand {
        Operand::Vector { first, words } => Some((usize::from(first), words)),
        Operand::Accumulator { first, words } => {
            Some((wave.registers.accumulators + usize::from(first), words))
        }
        _ => None,
    }
}

/// A source of a vector instruction.
pub fn source(wave: &Wave, row: &Row, slot: &Slot, operand: Operand) -> Result<Source> {
    match registers(wave, operand) {
        Some((first, words)) => Ok(Source::Registers { first, words }),
        None => scalar(wave, row, slot, operand).map(Source::Uniform),
    }
}
