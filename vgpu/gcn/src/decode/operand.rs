//! Numbers in fields to registers and constants.

use crate::error::Refusal;
use crate::gpu::Gpu;
use crate::operand::{Float, Operand, Special, scalar};

/// The number that stands for the word behind the instruction.
pub const LITERAL: u16 = 255;
/// The number of the first vector register, where registers and constants share a field.
pub const VECTOR: u16 = 256;

/// Scalar registers.
pub fn scalar(code: u32, words: u8) -> Result<Operand, Refusal> {
    let code = code as u8;
    let wrong = Err(Refusal::Group(u16::from(code), words));
    let align = match words {
        1 => 1,
        2 => 2,
        _ => 4,
    };
    // The numbers that a group can begin with, and the one behind its last register.
    let (base, end) = match code {
        0..scalar::FLAT_SCRATCH => (0, if words > 2 { 104 } else { scalar::FLAT_SCRATCH }),
        scalar::FLAT_SCRATCH..scalar::TTMP0 if words <= 2 => (scalar::FLAT_SCRATCH, scalar::TTMP0),
        scalar::TTMP0..scalar::M0 => (scalar::TTMP0, scalar::M0),
        scalar::M0 if words == 1 => (scalar::M0, scalar::NULL),
        scalar::NULL if words <= 2 => return Ok(Operand::Scalar { first: code, words }),
        scalar::EXEC | 127 if words <= 2 => (scalar::EXEC, 128),
        _ => return wrong,
    };
    if !(code - base).is_multiple_of(align) || u32::from(code) + u32::from(words) > u32::from(end) {
        return wrong;
    }
    Ok(Operand::Scalar { first: code, words })
}

/// Vector registers: pairs and larger groups begin at even numbers since gfx90a.
pub fn vector(gpu: Gpu, code: u32, words: u8) -> Result<Operand, Refusal> {
    let first = group(gpu, code, words)?;
    Ok(Operand::Vector { first, words })
}

/// Accumulation registers.
pub fn accumulator(gpu: Gpu, code: u32, words: u8) -> Result<Operand, Refusal> {
    let first = group(gpu, code, words)?;
    Ok(Operand::Accumulator { first, words })
}

/// Vector or accumulation registers.
pub fn either(gpu: Gpu, accumulation: bool, code: u32, words: u8) -> Result<Operand, Refusal> {
    if accumulation { accumulator(gpu, code, words) } else { vector(gpu, code, words) }
}

fn group(gpu: Gpu, code: u32, words: u8) -> Result<u8, Refusal> {
    let first = code as u8;
    let odd = gpu.unified_registers() && words > 1 && !first.is_multiple_of(2);
    if odd || u32::from(first) + u32::from(words) > 256 {
        return Err(Refusal::Group(u16::from(first), words));
    }
    Ok(first)
}

/// A scalar register or a constant that is no literal; of 64 bits with two words.
pub fn scalar_or_constant(code: u32, words: u8) -> Result<Operand, Refusal> {
    Ok(match code {
        0..128 => scalar(code, words)?,
        128..193 => Operand::Integer((code - 128) as i8),
        193..209 => Operand::Integer(-((code - 192) as i8)),
        240..249 => Operand::Float(Float::ALL[code as usize - 240]),
        _ => special(code).ok_or(Refusal::Operand(code as u16))?,
    })
}

fn special(code: u32) -> Option<Operand> {
    Some(Operand::Special(match code {
        235 => Special::SharedBase,
        236 => Special::SharedLimit,
        237 => Special::PrivateBase,
        238 => Special::PrivateLimit,
        239 => Special::PopsExitingWave,
        251 => Special::VccZero,
        252 => Special::ExecZero,
        253 => Special::Scc,
        _ => return None,
    }))
}

/// A vector register, a scalar register, or a constant that is no literal.
pub fn source(gpu: Gpu, code: u32, words: u8) -> Result<Operand, Refusal> {
    match code {
        256.. => vector(gpu, code - 256, words),
        254 if words == 1 => Ok(Operand::Special(Special::LdsDirect)),
        _ => scalar_or_constant(code, words),
    }
}
