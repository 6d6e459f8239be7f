//! Random code. Numbers repeat from run to run.

use gangway_gcn::table::{self, Row};
use gangway_gcn::{Encoding, Gpu};

pub struct Words {
    state: u64,
    rows: Vec<&'static Row>,
}

impl Words {
    pub fn new(gpu: Gpu) -> Self {
        let rows = table::rows().filter(|row| row.gpus.contains(gpu)).collect();
        Self { state: 0x9e37_79b9_7f4a_7c15 ^ gpu as u64, rows }
    }

    fn next(&mut self) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 16) as u32
    }

    /// Any words.
    pub fn any(&mut self, number: usize) -> Vec<u32> {
        let words = (0..number).map(|_| self.next()).collect();
        harmless(words)
    }

    /// Instructions of the table with random fields; each bit that is no opcode's is more often 0
    /// than 1 in half of them.
    pub fn of_table(&mut self, number: usize) -> Vec<u32> {
        let mut words = Vec::with_capacity(number + 3);
        while words.len() < number {
            let chosen = self.next() as usize % self.rows.len();
            let row = self.rows[chosen];
            let (prefix, mask) = prefix(row);
            let (mut first, mut second) = (self.next(), self.next());
            if self.next().is_multiple_of(2) {
                first &= self.next() | self.next();
                second &= self.next();
                first &= self.next();
            }
            let source = self.next();
            first = first & !mask | prefix;
            if matches!(row.encoding, Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc) {
                // Forms with a second word are a few of 512 otherwise.
                match source % 4 {
                    0 => first = first & !0x1ff | 249,
                    1 => first = first & !0x1ff | 250,
                    _ => {}
                }
                if source % 4 < 2 && source & 0x100 != 0 {
                    second &= 0xff7f_ffff & !(1 << 13);
                }
            }
            // Scalar addresses that are off, and no modifiers.
            if matches!(row.encoding, Encoding::Flat) {
                second &= 0xff80_ffff;
            } else if matches!(row.encoding, Encoding::Global | Encoding::Scratch) && source.is_multiple_of(2)
            {
                second |= 0x007f_0000;
            }
            if row.encoding == Encoding::Ds {
                for (index, low) in [0u32, 8, 16].into_iter().enumerate() {
                    if row.from.get(index).is_none_or(|slot| *slot == table::Slot::Missing) {
                        second &= !(0xff << low);
                    }
                }
                if row.to.is_empty() {
                    second &= 0x00ff_ffff;
                }
            }
            words.push(first);
            words.push(second);
            if source & 0x1000 != 0 {
                words.push(0xbf80_0000);
            }
        }
        harmless(words)
    }

    /// First words of all encodings with random opcodes, and few other bits.
    pub fn of_encodings(&mut self, number: usize) -> Vec<u32> {
        let mut words = Vec::with_capacity(number + 1);
        while words.len() < number {
            let prefix = 0x30 + self.next() % 16;
            words.push(
                prefix << 26 | self.next() & 0x03ff_0000 | self.next() & self.next() & self.next() & 0xffff,
            );
            words.push(self.next() & self.next() & self.next());
        }
        harmless(words)
    }
}

/// The bits that make an instruction, and which those are.
fn prefix(row: &Row) -> (u32, u32) {
    let opcode = u32::from(row.opcode);
    match row.encoding {
        Encoding::Sop2 => (0x8000_0000 | opcode << 23, 0xff80_0000),
        Encoding::Sopk => (0xb000_0000 | opcode << 23, 0xff80_0000),
        Encoding::Sop1 => (0xbe80_0000 | opcode << 8, 0xff80_ff00),
        Encoding::Sopc => (0xbf00_0000 | opcode << 16, 0xffff_0000),
        Encoding::Sopp => (0xbf80_0000 | opcode << 16, 0xffff_0000),
        Encoding::Smem => (0xc000_0000 | opcode << 18, 0xfffc_0000),
        Encoding::Vop2 => (opcode << 25, 0xfe00_0000),
        Encoding::Vop1 => (0x7e00_0000 | opcode << 9, 0xfe01_fe00),
        Encoding::Vopc => (0x7c00_0000 | opcode << 17, 0xfffe_0000),
        Encoding::Vop3 => (0xd000_0000 | opcode << 16, 0xffff_0000),
        Encoding::Vop3p => (0xd380_0000 | opcode << 16, 0xffff_0000),
        Encoding::Ds => (0xd800_0000 | opcode << 17, 0xfdfe_0000),
        Encoding::Flat => (0xdc00_0000 | opcode << 18, 0xfdfc_e000),
        Encoding::Scratch => (0xdc00_4000 | opcode << 18, 0xfdfc_c000),
        Encoding::Global => (0xdc00_8000 | opcode << 18, 0xfdfc_e000),
        Encoding::Mubuf => (0xe000_0000 | opcode << 18, 0xfdfc_0000),
        Encoding::Mtbuf => (0xe800_0000 | opcode << 15, 0xfc07_8000),
    }
}

/// Takes out of the words what ends LLVM's tool: literals where there can be none, and selections of
/// parts that do not exist.
fn harmless(mut words: Vec<u32>) -> Vec<u32> {
    for index in 0..words.len().saturating_sub(1) {
        let (first, next) = (words[index], words[index + 1]);
        words[index + 1] = match first >> 26 {
            0x34 => [0, 9, 18]
                .into_iter()
                .fold(next, |word, low| if word >> low & 0x1ff == 255 { word ^ 1 << low } else { word }),
            0x38 | 0x3a if next >> 24 == 255 => next ^ 1 << 24,
            0..0x20 if first & 0x1ff == 249 => {
                let word = [8, 16, 24]
                    .into_iter()
                    .fold(next, |word, low| if word >> low & 7 == 7 { word ^ 1 << low } else { word });
                if word >> 11 & 3 == 3 { word ^ 1 << 11 } else { word }
            }
            _ => next,
        };
    }
    words
}
