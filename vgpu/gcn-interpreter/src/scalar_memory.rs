//! Scalar loads, stores, atomic operations and clocks.

use gangway_gcn::instruction::{Form, ScalarMemory, ScalarOffset};
use gangway_gcn::table::row::CACHE;
use gangway_gcn::{Instruction, Operand, Row};

use crate::atomics::{self, Update};
use crate::buffer::Descriptor;
use crate::fault::FaultKind;
use crate::space::{Memories, Place, Space};
use crate::wave::{Result, Stop, Wave};

/// What a row does.
#[derive(Clone, Copy)]
pub enum Action {
    Cache,
    Load {
        buffer: bool,
    },
    Store {
        buffer: bool,
    },
    Update {
        buffer: bool,
        update: Update,
    },
    /// A clock of instructions.
    Time,
    /// One of real time.
    RealTime,
}

/// The most words that are loaded.
const MOST: usize = 16;

pub fn action(row: &Row) -> Option<Action> {
    if row.effects.any(CACHE) {
        return Some(Action::Cache);
    }
    let name = row.name.strip_prefix("s_")?;
    let (name, buffer) = match name.strip_prefix("buffer_") {
        Some(name) => (name, true),
        None => (name, false),
    };
    Some(match name {
        "memtime" => Action::Time,
        "memrealtime" => Action::RealTime,
        _ if name.starts_with("load_dword") => Action::Load { buffer },
        _ if name.starts_with("store_dword") => Action::Store { buffer },
        _ => Action::Update { buffer, update: atomics::global(name.strip_prefix("atomic_")?)? },
    })
}

pub fn run(
    memories: &mut Memories<'_>,
    wave: &mut Wave,
    action: &Action,
    instruction: &Instruction,
    time: u64,
) -> Result {
    let Form::ScalarMemory(access) = &instruction.form else { return Ok(()) };
    let to = access.to.first().copied();
    match action {
        Action::Cache => Ok(()),
        Action::Time => set(wave, to, &[time as u32, (time >> 32) as u32]),
        Action::RealTime => {
            let time = memories.memory.real_time();
            set(wave, to, &[time as u32, (time >> 32) as u32])
        }
        Action::Load { buffer } => {
            let Some(Operand::Scalar { words, .. }) = to else { return Ok(()) };
            let words = usize::from(words).min(MOST);
            let mut found = [0; 4 * MOST];
            let (address, inside) = address(wave, access, *buffer, 4 * words as u64)?;
            let size = 4 * inside.min(words as u64) as usize;
            memories.memory.read(address, &mut found[..size])?;
            let mut values = [0; MOST];
            for (value, bytes) in values.iter_mut().zip(found.as_chunks::<4>().0) {
                *value = u32::from_le_bytes(*bytes);
            }
            set(wave, to, &values[..words])
        }
        Action::Store { buffer } => {
            let Some(Operand::Scalar { first, words }) = access.from.first().copied() else { return Ok(()) };
            let (address, inside) = address(wave, access, *buffer, 4 * u64::from(words))?;
            for number in 0..u64::from(words).min(inside) {
                let value = wave.scalar[(usize::from(first) + number as usize) & 127];
                memories.memory.write(address.wrapping_add(4 * number), &value.to_le_bytes())?;
            }
            Ok(())
        }
        Action::Update { buffer, update } => updated(memories, wave, access, *buffer, update),
    }
}

fn updated(
    memories: &mut Memories<'_>,
    wave: &mut Wave,
    access: &ScalarMemory,
    buffer: bool,
    update: &Update,
) -> Result {
    let Some(Operand::Scalar { first, .. }) = access.from.first().copied() else { return Ok(()) };
    let (address, inside) = address(wave, access, buffer, update.bytes as u64)?;
    let words = (update.bytes / 4) as u8;
    let value = |wave: &Wave, first: u8| match words {
        1 => u64::from(wave.scalar[usize::from(first) & 127]),
        _ => wave.pair(first & 127),
    };
    let data = [value(wave, first), if update.two { value(wave, first + words) } else { 0 }];
    if inside < u64::from(words) {
        return Err(Stop::unsupported("a scalar atomic operation out of a buffer's range"));
    }
    let place = Place { lane: 0, space: Space::Global, address };
    let old = memories.update(wave, place, update, atomics::mode(true), data)?;
    if access.glc {
        set(wave, Some(Operand::Scalar { first, words }), &[old as u32, (old >> 32) as u32])?;
    }
    Ok(())
}

fn set(wave: &mut Wave, to: Option<Operand>, values: &[u32]) -> Result {
    if let Some(Operand::Scalar { first, words }) = to {
        for (number, value) in values.iter().enumerate().take(usize::from(words)) {
            wave.set_scalar(first + number as u8, *value);
        }
    }
    Ok(())
}

/// The address, and how many words of the access are in a buffer's range.
fn address(wave: &Wave, access: &ScalarMemory, buffer: bool, size: u64) -> Result<(u64, u64)> {
    let register = |operand: Operand| match operand {
        Operand::Scalar { first, .. } => Ok(u64::from(wave.scalar[usize::from(first) & 127])),
        _ => Err(Stop::unsupported("an offset in no scalar register")),
    };
    let offset = match access.offset {
        ScalarOffset::None => 0,
        ScalarOffset::Constant(offset) => i64::from(offset).cast_unsigned(),
        ScalarOffset::Register(operand) => register(operand)?,
        ScalarOffset::Both(operand, offset) => register(operand)?.wrapping_add_signed(i64::from(offset)),
    };
    let Some(base) = access.from.last().copied() else {
        return Err(Stop::unsupported("an access without address"));
    };
    if !buffer {
        let Operand::Scalar { first, .. } = base else { return Err(Stop::unsupported("such an address")) };
        return Ok(((wave.pair(first) & !3).wrapping_add(offset) & !3, u64::MAX));
    }
    let descriptor = Descriptor::read(wave, base)?;
    let bytes =
        if descriptor.stride == 0 { descriptor.records } else { descriptor.stride * descriptor.records };
    let offset = offset & !3;
    if offset > 1 << 40 {
        return Err(FaultKind::OutOfBounds { address: offset, size: size as usize, write: false }.into());
    }
    let inside = bytes.saturating_sub(offset) / 4;
    Ok(((descriptor.base & !3).wrapping_add(offset), inside))
}
