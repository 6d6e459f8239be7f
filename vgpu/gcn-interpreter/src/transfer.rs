//! What loads, stores and atomic operations do with the registers of a lane, whatever the memory is.

use gangway_gcn::{Gpu, Operand};

use crate::atomics::{self, Update};
use crate::integer::extend;
use crate::operands;
use crate::space::{Memories, Place, Space};
use crate::wave::{Result, Stop, Wave, of_lane};

/// The most bytes that an instruction moves for a lane.
pub const MOST: usize = 16;

/// What is done.
#[derive(Clone, Copy)]
pub enum Transfer {
    Load(Load),
    Store { bytes: usize, high: bool },
    Update(Update),
}

#[derive(Clone, Copy)]
pub struct Load {
    pub bytes: usize,
    pub signed: bool,
    /// Into which half; the other one stays.
    pub half: Option<u8>,
}

/// By the names of flat and buffer instructions, without what tells the memory.
pub fn named(name: &str) -> Option<Transfer> {
    if let Some(name) = name.strip_prefix("atomic_") {
        return atomics::global(name).map(Transfer::Update);
    }
    if let Some(name) = name.strip_prefix("store_") {
        let (name, high) = match name.strip_suffix("_d16_hi") {
            Some(name) => (name, true),
            None => (name, false),
        };
        return size(name).map(|bytes| Transfer::Store { bytes, high });
    }
    let name = name.strip_prefix("load_")?;
    let name = name.strip_prefix("lds_").unwrap_or(name);
    let (name, half) = match (name.strip_suffix("_d16"), name.strip_suffix("_d16_hi")) {
        (Some(name), _) => (name, Some(0)),
        (_, Some(name)) => (name, Some(1)),
        _ => (name, None),
    };
    let signed = matches!(name, "sbyte" | "sshort");
    size(name).map(|bytes| Transfer::Load(Load { bytes, signed, half }))
}

fn size(name: &str) -> Option<usize> {
    Some(match name {
        "byte" | "ubyte" | "sbyte" => 1,
        "short" | "ushort" | "sshort" => 2,
        "dword" => 4,
        "dwordx2" => 8,
        "dwordx3" => 12,
        "dwordx4" => 16,
        _ => return None,
    })
}

impl Load {
    /// A short value with its sign, or without.
    pub fn widened(&self, bytes: [u8; 4]) -> u32 {
        let value = u32::from_le_bytes(bytes);
        let bits = 8 * self.bytes.min(4) as u32;
        if self.signed { extend(value.into(), bits) as u32 } else { value }
    }

    /// Writes what was loaded to a lane's registers.
    pub fn put(&self, wave: &mut Wave, first: usize, lane: usize, bytes: &[u8; MOST]) {
        let words = bytes.as_chunks::<4>().0;
        if self.bytes >= 4 {
            for (number, word) in words.iter().enumerate().take(self.bytes / 4) {
                wave.vector[first + number][lane] = u32::from_le_bytes(*word);
            }
            return;
        }
        let value = self.widened(words[0]);
        let register = &mut wave.vector[first][lane];
        *register = match self.half {
            None => value,
            Some(0) => *register & 0xffff_0000 | value & 0xffff,
            Some(_) => *register & 0xffff | value << 16,
        };
    }
}

/// The bytes that a lane stores.
pub fn stored(wave: &Wave, first: usize, lane: usize, bytes: usize, high: bool) -> [u8; MOST] {
    let mut found = [0; MOST];
    for number in 0..bytes.div_ceil(4) {
        let word = wave.vector[first + number][lane] >> if high { 16 } else { 0 };
        found[4 * number..][..4].copy_from_slice(&word.to_le_bytes());
    }
    found
}

/// One lane's access. The data's registers and those of the result are those of the instruction.
pub fn access(
    memories: &mut Memories<'_>,
    wave: &mut Wave,
    transfer: &Transfer,
    place: Place,
    data: Option<Operand>,
    to: Option<Operand>,
) -> Result {
    let Place { lane, space, .. } = place;
    let register = |wave: &Wave, operand: Option<Operand>| {
        operand.and_then(|operand| operands::registers(wave, operand)).map(|(first, _)| first)
    };
    match transfer {
        Transfer::Load(load) => {
            let mut bytes = [0; MOST];
            of_lane(lane, memories.read(wave, place, &mut bytes[..load.bytes]))?;
            if let Some(first) = register(wave, to) {
                load.put(wave, first, lane, &bytes);
            }
        }
        Transfer::Store { bytes, high } => {
            let first = register(wave, data).ok_or_else(|| Stop::unsupported("a store without data"))?;
            let found = stored(wave, first, lane, *bytes, *high);
            of_lane(lane, memories.write(wave, place, &found[..*bytes]))?;
        }
        Transfer::Update(update) => {
            let first = register(wave, data).ok_or_else(|| Stop::unsupported("an update without data"))?;
            let words = (update.bytes / 4) as u8;
            let one = wave.lane(first, words, lane);
            let other = if update.two { wave.lane(first + usize::from(words), words, lane) } else { 0 };
            let mode = atomics::mode(keeps_denormals(memories.gpu, space));
            let old = memories.update(wave, place, update, mode, [one, other]);
            let old = of_lane(lane, old)?;
            if let Some(to) = register(wave, to) {
                wave.set_lane(to, words, lane, old);
            }
        }
    }
    Ok(())
}

/// Before gfx942 additions of single precision in memory flush denormals (LLVM's
/// `FeatureMemoryAtomicFAddF32DenormalSupport`).
fn keeps_denormals(gpu: Gpu, space: Space) -> bool {
    gpu == Gpu::Gfx942 || space == Space::Group
}
