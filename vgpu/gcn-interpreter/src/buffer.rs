//! Buffers: memory through descriptors (Vega ISA, 8.1).

use gangway_gcn::instruction::{Buffer, Form};
use gangway_gcn::table::row::CACHE_ONLY;
use gangway_gcn::table::{Constant, Slot};
use gangway_gcn::{Instruction, Operand, Row};

use crate::fault::FaultKind;
use crate::flat::load_to_group;
use crate::operands;
use crate::space::{Memories, Place, Space};
use crate::transfer::{self, MOST, Transfer};
use crate::wave::{Result, Stop, Wave};

/// What a row does; nothing with caches.
#[derive(Clone, Copy)]
pub enum Action {
    Cache,
    Transfer(Transfer),
}

pub fn action(row: &Row) -> Option<Action> {
    if row.allows.any(CACHE_ONLY) {
        return Some(Action::Cache);
    }
    transfer::named(row.name.strip_prefix("buffer_")?).map(Action::Transfer)
}

/// A descriptor.
#[derive(Clone, Copy)]
pub struct Descriptor {
    pub base: u64,
    pub stride: u64,
    pub records: u64,
    swizzled: bool,
    index_stride: u64,
    /// Whether the lane's number is added to the index.
    lanes: bool,
}

impl Descriptor {
    pub fn read(wave: &Wave, operand: Operand) -> Result<Self> {
        let Operand::Scalar { first, .. } = operand else {
            return Err(Stop::unsupported("a descriptor in no scalar register"));
        };
        let word = |number: u8| u64::from(wave.scalar[usize::from(first + number) & 127]);
        let lanes = word(3) >> 23 & 1 != 0;
        // With lanes' numbers the place of the data format is more of the stride.
        let more = if lanes { (word(3) >> 15 & 15) << 14 } else { 0 };
        Ok(Self {
            base: word(0) | (word(1) & 0xffff) << 32,
            stride: word(1) >> 16 & 0x3fff | more,
            records: word(2),
            swizzled: word(1) >> 31 != 0,
            index_stride: 8 << (word(3) >> 21 & 3),
            lanes,
        })
    }

    /// The address, or nothing where it is out of range. With an index into elements, records are those;
    /// else they are bytes.
    fn address(&self, place: &Position, bytes: u64) -> Result<Option<u64>> {
        let Position { index, offset, scalar, indexed } = *place;
        let at = if self.swizzled {
            let (high, low) = (index / self.index_stride, index % self.index_stride);
            (high * self.stride + offset / 4 * 4) * self.index_stride + low * 4 + offset % 4
        } else {
            index * self.stride + offset
        };
        let inside = if indexed && self.stride != 0 {
            index < self.records
        } else {
            let end = self.records.saturating_sub(scalar);
            if at < end && at + bytes > end {
                return Err(Stop::unsupported("an access partly out of a buffer's range"));
            }
            at < end
        };
        Ok(inside.then(|| self.base.wrapping_add(scalar).wrapping_add(at)))
    }
}

/// Where in a buffer an access is.
#[derive(Clone, Copy)]
struct Position {
    index: u64,
    offset: u64,
    scalar: u64,
    indexed: bool,
}

pub fn run(
    memories: &mut Memories<'_>,
    wave: &mut Wave,
    action: &Action,
    instruction: &Instruction,
) -> Result {
    let (Form::Buffer(buffer), Action::Transfer(transfer)) = (&instruction.form, action) else {
        return Ok(());
    };
    if buffer.tfe {
        return Err(Stop::unsupported("an access that tells of missing pages"));
    }
    let descriptor = Descriptor::read(wave, buffer.descriptor)?;
    let word = Slot::ScalarSource(1, Constant::Word);
    let scalar = operands::scalar(wave, instruction.row, &word, buffer.base)?;
    let to = instruction.to().first().copied();
    for lane in wave.lanes() {
        let position = position(wave, buffer, &descriptor, lane, scalar);
        // Of private memory each word is at its own place.
        if descriptor.swizzled {
            let access = Swizzled { descriptor, position, lane };
            swizzled(memories, wave, transfer, access, buffer.data, to)?;
            continue;
        }
        let bytes = match transfer {
            Transfer::Load(load) => load.bytes,
            Transfer::Store { bytes, .. } => *bytes,
            Transfer::Update(update) => update.bytes,
        };
        match descriptor.address(&position, bytes as u64)? {
            Some(address) => {
                let place = Place { lane, space: Space::Global, address };
                if buffer.lds {
                    load_to_group(memories, wave, transfer, place, i64::from(buffer.offset))?;
                } else {
                    transfer::access(memories, wave, transfer, place, buffer.data, to)?;
                }
            }
            // What is out of range reads as 0, and is not written.
            None => nothing(wave, transfer, to, lane),
        }
    }
    Ok(())
}

/// A lane's index and offset.
fn position(wave: &Wave, buffer: &Buffer, descriptor: &Descriptor, lane: usize, scalar: u64) -> Position {
    let registers = buffer.address.and_then(|address| operands::registers(wave, address));
    let mut words = [0; 2];
    if let Some((first, count)) = registers {
        for (number, word) in words.iter_mut().enumerate().take(usize::from(count)) {
            *word = u64::from(wave.vector[first + number][lane]);
        }
    }
    let (mut index, mut offset) = match (buffer.indexed, buffer.offset_enabled) {
        (true, true) => (words[0], words[1]),
        (true, false) => (words[0], 0),
        (false, true) => (0, words[0]),
        (false, false) => (0, 0),
    };
    if descriptor.lanes {
        index += lane as u64;
    }
    offset += u64::from(buffer.offset);
    Position { index, offset, scalar, indexed: buffer.indexed }
}

fn nothing(wave: &mut Wave, transfer: &Transfer, to: Option<Operand>, lane: usize) {
    let Some((first, words)) = to.and_then(|to| operands::registers(wave, to)) else { return };
    match transfer {
        Transfer::Load(load) => load.put(wave, first, lane, &[0; MOST]),
        _ => wave.set_lane(first, words, lane, 0),
    }
}

/// An access to a swizzled buffer.
struct Swizzled {
    descriptor: Descriptor,
    position: Position,
    lane: usize,
}

fn swizzled(
    memories: &mut Memories<'_>,
    wave: &mut Wave,
    transfer: &Transfer,
    access: Swizzled,
    data: Option<Operand>,
    to: Option<Operand>,
) -> Result {
    let Swizzled { descriptor, position, lane } = access;
    let stop = |kind| Stop { kind, lane: Some(lane) };
    let register = |wave: &Wave, operand: Option<Operand>| {
        operand.and_then(|operand| operands::registers(wave, operand)).map(|(first, _)| first)
    };
    let (bytes, write) = match transfer {
        Transfer::Load(load) => (load.bytes, false),
        Transfer::Store { bytes, .. } => (*bytes, true),
        Transfer::Update(_) => return Err(Stop::unsupported("an atomic operation in a swizzled buffer")),
    };
    let mut found = match (transfer, register(wave, data)) {
        (Transfer::Store { high, .. }, Some(first)) => transfer::stored(wave, first, lane, bytes, *high),
        _ => [0; MOST],
    };
    let mut done = 0;
    while done < bytes {
        let at = position.offset + done as u64;
        let count = (4 - (at % 4) as usize).min(bytes - done);
        let range = done..done + count;
        let address = descriptor.address(&Position { offset: at, ..position }, count as u64)?;
        if descriptor.lanes {
            // The wave's private memory: what is beyond it is an overrun of the stack.
            let inside = address.filter(|address| {
                address
                    .checked_sub(wave.scratch)
                    .is_some_and(|place| place.saturating_add(count as u64) <= wave.scratch_size)
            });
            if inside.is_none() {
                let limit = memories.private_size;
                let address = at + position.scalar / crate::wave::LANES as u64;
                return Err(stop(FaultKind::OutsidePrivate { address, size: bytes, limit, write }));
            }
        }
        match address {
            Some(address) if write => memories.memory.write(address, &found[range]).map_err(stop)?,
            Some(address) => memories.memory.read(address, &mut found[range]).map_err(stop)?,
            None => {}
        }
        done += count;
    }
    if let (Transfer::Load(load), Some(first)) = (transfer, register(wave, to)) {
        load.put(wave, first, lane, &found);
    }
    Ok(())
}
