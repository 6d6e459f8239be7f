//! Bytes to instructions.

mod memory;
mod operand;
mod scalar;
mod vector;

use std::sync::OnceLock;

use crate::error::Refusal;
use crate::gpu::Gpu;
use crate::instruction::{Form, Instruction};
use crate::table::{self, Encoding, Row};

/// Reads the instructions of one processor.
#[derive(Debug)]
pub struct Decoder {
    gpu: Gpu,
    /// The rows of each encoding by opcode.
    rows: [Vec<Option<&'static Row>>; ENCODINGS],
}

const ENCODINGS: usize = Encoding::Mtbuf as usize + 1;

/// The instruction's words, as far as there are any. No instruction of the family has three: those of
/// two words have no literals.
#[derive(Clone, Copy)]
struct Words {
    first: u32,
    second: Option<u32>,
}

impl Words {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
        Some(Self { first: words.next()?, second: words.next() })
    }

    fn second(self) -> Result<u32, Refusal> {
        self.second.ok_or(Refusal::Truncated)
    }
}

/// Some bits of a word.
const fn bits(word: u32, low: u32, count: u32) -> u32 {
    word >> low & ((1 << count) - 1)
}

const fn bit(word: u32, number: u32) -> bool {
    word >> number & 1 != 0
}

/// A form, and its size in words.
type Decoded = (Form, u8);

impl Decoder {
    /// The decoder of a processor; it is made once.
    #[must_use]
    pub fn of(gpu: Gpu) -> &'static Self {
        static DECODERS: [OnceLock<Decoder>; Gpu::ALL.len()] = [const { OnceLock::new() }; Gpu::ALL.len()];
        DECODERS[gpu as usize].get_or_init(|| Self::new(gpu))
    }

    fn new(gpu: Gpu) -> Self {
        let mut rows: [Vec<Option<&'static Row>>; ENCODINGS] = [const { Vec::new() }; ENCODINGS];
        let mut place = |encoding: Encoding, opcode: u16, row| {
            let list = &mut rows[encoding as usize];
            let index = usize::from(opcode);
            list.resize(list.len().max(index + 1), None);
            debug_assert!(list[index].is_none(), "two rows for {encoding:?} {opcode:#x}");
            list[index] = Some(row);
        };
        for row in table::rows().filter(|row| row.gpus.contains(gpu)) {
            place(row.encoding, row.opcode, row);
            if row.allows.any(table::row::E64) {
                place(Encoding::Vop3, vector::long_opcode(row), row);
            }
        }
        Self { gpu, rows }
    }

    fn row(&self, encoding: Encoding, opcode: u32) -> Result<&'static Row, Refusal> {
        let row = self.rows[encoding as usize].get(opcode as usize).copied().flatten();
        row.ok_or(Refusal::Opcode(encoding, opcode as u16))
    }

    /// Reads the instruction that the bytes begin with; there may be more of them.
    ///
    /// # Errors
    /// They begin with no instruction of the processor.
    pub fn decode(&self, bytes: &[u8]) -> Result<Instruction, Refusal> {
        let words = Words::read(bytes).ok_or(Refusal::Truncated)?;
        let (row, (form, size)) = self.read(words)?;
        Ok(Instruction { row, gpu: self.gpu, size: size * 4, form })
    }

    fn read(&self, words: Words) -> Result<(&'static Row, Decoded), Refusal> {
        let word = words.first;
        let (encoding, opcode) = match word >> 26 {
            0..0x20 => match word >> 25 {
                0x3f => (Encoding::Vop1, bits(word, 9, 8)),
                0x3e => (Encoding::Vopc, bits(word, 17, 8)),
                opcode => (Encoding::Vop2, opcode),
            },
            0x20..0x30 => match word >> 23 {
                0x17d => (Encoding::Sop1, bits(word, 8, 8)),
                0x17e => (Encoding::Sopc, bits(word, 16, 7)),
                0x17f => (Encoding::Sopp, bits(word, 16, 7)),
                0x160.. => (Encoding::Sopk, bits(word, 23, 5)),
                _ => (Encoding::Sop2, bits(word, 23, 7)),
            },
            0x30 => (Encoding::Smem, bits(word, 18, 8)),
            0x31 => return Err(Refusal::Graphics("exports")),
            0x34 if bits(word, 23, 3) == 7 => (Encoding::Vop3p, bits(word, 16, 7)),
            0x34 if matches!(bits(word, 16, 10), 0x270..=0x277) => {
                return Err(Refusal::Graphics("interpolations"));
            }
            0x34 => (Encoding::Vop3, bits(word, 16, 10)),
            0x35 => return Err(Refusal::Graphics("interpolations")),
            0x36 => (Encoding::Ds, bits(word, 17, 8)),
            0x37 => match bits(word, 14, 2) {
                0 => (Encoding::Flat, bits(word, 18, 7)),
                1 => (Encoding::Scratch, bits(word, 18, 7)),
                2 => (Encoding::Global, bits(word, 18, 7)),
                _ => return Err(Refusal::Encoding(word)),
            },
            0x38 => (Encoding::Mubuf, bits(word, 18, 7)),
            0x3a => (Encoding::Mtbuf, bits(word, 15, 4)),
            0x3c => return Err(Refusal::Graphics("images")),
            _ => return Err(Refusal::Encoding(word)),
        };
        let row = self.row(encoding, opcode)?;
        let decoded = match encoding {
            Encoding::Sop2 | Encoding::Sopk | Encoding::Sop1 | Encoding::Sopc | Encoding::Sopp => {
                scalar::scalar(row, words)
            }
            Encoding::Smem => scalar::memory(row, words),
            Encoding::Vop2 | Encoding::Vop1 | Encoding::Vopc => vector::short(self.gpu, row, words),
            Encoding::Vop3 => vector::long(self.gpu, row, words),
            Encoding::Vop3p => vector::packed(self.gpu, row, words),
            Encoding::Ds => memory::local(self.gpu, row, words),
            Encoding::Flat | Encoding::Scratch | Encoding::Global => memory::flat(self.gpu, row, words),
            Encoding::Mubuf | Encoding::Mtbuf => memory::buffer(self.gpu, row, words),
        }?;
        Ok((row, decoded))
    }
}
