//! What LLVM bitcode is for. No more of it is read: only LLVM itself can.
//!
//! Bitcode is a stream of bits: blocks, which say how long they are, and records. The record with the triple
//! stands near the begin of the module's block, before anything that is abbreviated in a way of its own
//! (LLVM's `BitCodeFormat`).

const MAGIC: [u8; 4] = [b'B', b'C', 0xc0, 0xde];
/// Before bitcode, for loaders that want to know its place and size first.
const WRAPPER: [u8; 4] = [0xde, 0xc0, 0x17, 0x0b];
const MODULE_BLOCK: u64 = 8;
const TRIPLE_RECORD: u64 = 2;
/// Letters of a triple.
const MOST_LETTERS: u64 = 256;

/// What every width of abbreviations has in common.
mod abbreviation {
    pub const ENTER_BLOCK: u64 = 1;
    pub const RECORD: u64 = 3;
}

/// The triple of the first module; `None` if that cannot be told.
pub fn triple(bytes: &[u8]) -> Option<String> {
    let stream = unwrapped(bytes)?.strip_prefix(&MAGIC)?;
    let mut bits = Bits { bytes: stream, at: 0 };
    // Outside of blocks an abbreviation has two bits.
    while bits.fixed(2)? == abbreviation::ENTER_BLOCK {
        let block = bits.block()?;
        if block.kind == MODULE_BLOCK {
            return triple_of_module(bits, block.width);
        }
        bits.at = block.end;
    }
    None
}

fn unwrapped(bytes: &[u8]) -> Option<&[u8]> {
    if !bytes.starts_with(&WRAPPER) {
        return Some(bytes);
    }
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    let begin = word(8)?;
    bytes.get(begin..begin.checked_add(word(12)?)?)
}

fn triple_of_module(mut bits: Bits<'_>, width: u32) -> Option<String> {
    loop {
        match bits.fixed(width)? {
            abbreviation::ENTER_BLOCK => bits.at = bits.block()?.end,
            abbreviation::RECORD => {
                let (kind, length) = (bits.variable(6)?, bits.variable(6)?);
                if kind == TRIPLE_RECORD && length <= MOST_LETTERS {
                    let letter = |_| Some(char::from(u8::try_from(bits.variable(6)?).ok()?));
                    return (0..length).map(letter).collect();
                }
                for _ in 0..length {
                    bits.variable(6)?;
                }
            }
            _ => return None,
        }
    }
}

/// A block, behind its head.
struct Block {
    kind: u64,
    /// Bits of an abbreviation in it.
    width: u32,
    end: usize,
}

/// Bits, the lowest of each byte first.
#[derive(Clone, Copy)]
struct Bits<'a> {
    /// Behind the magic number, whose four bytes no alignment minds.
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn fixed(&mut self, width: u32) -> Option<u64> {
        let mut value = 0;
        for place in 0..width {
            let byte = *self.bytes.get(self.at / 8)?;
            value |= u64::from(byte >> (self.at % 8) & 1) << place;
            self.at += 1;
        }
        Some(value)
    }

    /// Chunks, of which each but the last has its highest bit set.
    fn variable(&mut self, width: u32) -> Option<u64> {
        let more = 1 << (width - 1);
        let mut value = 0;
        for place in (0..u64::BITS).step_by(width as usize - 1) {
            let chunk = self.fixed(width)?;
            value |= (chunk & (more - 1)) << place;
            if chunk & more == 0 {
                return Some(value);
            }
        }
        None
    }

    fn block(&mut self) -> Option<Block> {
        let kind = self.variable(8)?;
        let width = u32::try_from(self.variable(4)?).ok().filter(|width| (2..=32).contains(width))?;
        self.at = self.at.next_multiple_of(32);
        let words = self.fixed(32)? as usize;
        Some(Block { kind, width, end: self.at.checked_add(words * 32)? })
    }
}
