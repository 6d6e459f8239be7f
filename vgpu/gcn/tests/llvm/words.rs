//! Random code, and systematic code. Random numbers repeat from run to run.

use gangway_gcn::table::{self, Row, Slot};
use gangway_gcn::{Encoding, Gpu};

pub struct Words {
    gpu: Gpu,
    state: u64,
    rows: Vec<&'static Row>,
}

impl Words {
    pub fn new(gpu: Gpu) -> Self {
        let rows = table::rows().filter(|row| row.gpus.contains(gpu)).collect();
        Self { gpu, state: 0x9e37_79b9_7f4a_7c15 ^ gpu as u64, rows }
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

    /// Every instruction of the table, with each special number in each field of a register or constant, and
    /// with the bits of its modifiers: all of their combinations where they are few, else all pairs.
    /// With `share` the processors that have an instruction take turns.
    pub fn systematic(&self, share: bool) -> Vec<u32> {
        let mut words = Vec::new();
        let mut number = 0;
        for (row, (encoding, base)) in
            self.rows.iter().flat_map(|row| forms(row).into_iter().map(move |form| (row, form)))
        {
            let having = Gpu::ALL.into_iter().filter(|gpu| row.gpus.contains(*gpu));
            let (turn, turns) = match share {
                true => (having.clone().position(|gpu| gpu == self.gpu), having.count()),
                false => (Some(0), 1),
            };
            let mut add = |code: u64| {
                number += 1;
                if Some(number % turns) == turn {
                    words.extend([code as u32, (code >> 32) as u32, NOP]);
                }
            };
            let (fields, modifiers) = layout(encoding, base);
            for &(low, count) in fields {
                let numbers = SPECIAL.iter().filter(|number| **number < 1 << count);
                numbers.for_each(|number| add(base & !(((1 << count) - 1) << low) | number << low));
            }
            if let Some(code) = literal(encoding, base) {
                LITERALS.iter().for_each(|value| add(code | value << 32));
            }
            let all = 1u32 << modifiers.len();
            let chosen = (0..all).filter(|set| modifiers.len() <= 8 || set.count_ones() <= 2);
            for set in chosen {
                let bits = modifiers.iter().enumerate().filter(|(number, _)| set >> number & 1 != 0);
                add(bits.fold(base, |code, (_, bit)| code ^ 1 << bit));
            }
        }
        // No row has it: `buffer_store_lds_dword`.
        words.extend([0xe0f5_0000, 0, NOP]);
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

/// Where the word before is no instruction's second, this is its.
const NOP: u32 = 0xbf80_0000;

/// Where registers and constants of one kind end, and those of the next begin.
#[rustfmt::skip]
const SPECIAL: [u64; 60] = [
    0, 1, 2, 3, 5, 8, 31, 48, 50, 51, 62, 63, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109,
    112, 116, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 192, 193, 208, 209, 230, 235, 239, 240, 247,
    248, 249, 250, 251, 253, 254, 255, 256, 257, 504, 509, 510, 511,
];

/// Literals that an inline constant of some type could replace, and some that none could.
#[rustfmt::skip]
const LITERALS: [u64; 22] = [
    0, 1, 0x40, 0x41, 0x3c00, 0xffef, 0xfff0, 0xffff, 0x1_0001, 0x3118, 0x13c00, 0x3c00_3c00, 0x3e22_f983,
    0x3f80_0000, 0x3fe0_0000, 0x3ff0_0000, 0x3fc4_5f30, 0xc010_0000, 0x8000_0000, 0xffff_ffef, 0xffff_fff0,
    0xffff_ffff,
];

/// The instruction with a literal as its first source, if there is such a form.
fn literal(encoding: Encoding, base: u64) -> Option<u64> {
    match encoding {
        Encoding::Sop1 => Some(base & !0xff | 255),
        Encoding::Sop2 | Encoding::Sopc => Some(base & !0x1ff | 255),
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc if base >> 32 == 0 => Some(base & !0x1ff | 255),
        _ => None,
    }
}

/// The forms of an instruction, the second word above the first. Fields without use are 0, and those that
/// cannot be 0 have their plain value.
fn forms(row: &Row) -> Vec<(Encoding, u64)> {
    let parts = 0x0606_0600_u64 << 32 | 249;
    let exchange = 0xff00_e400_u64 << 32 | 250;
    let off = 0x007f_0000_u64 << 32;
    // A vector register where there can be one.
    let sources = row.from.iter().enumerate().filter(|(_, slot)| !matches!(slot, Slot::Lane | Slot::Mask));
    let sources = sources.fold(0, |code, (index, _)| code | 256 << (32 + 9 * index));
    let plain = match row.encoding {
        Encoding::Vop1 => vec![256, parts & 0x00ff_ffff_ffff_ffff, exchange],
        Encoding::Vop2 | Encoding::Vopc => vec![256, parts, exchange],
        Encoding::Vop3 | Encoding::Vop3p => vec![sources],
        // Vector or accumulation registers.
        Encoding::Global | Encoding::Scratch => vec![0, off, off | 1 << 55],
        Encoding::Ds => vec![0, 1 << 16, 1 << 25],
        _ => vec![0],
    };
    let code = u64::from(prefix(row).0);
    let mut forms: Vec<_> = plain.into_iter().map(|fields| (row.encoding, code | fields)).collect();
    if row.allows.any(table::row::E64) {
        // Vega ISA, 12.9
        let first = match row.encoding {
            Encoding::Vop2 => 0x100,
            Encoding::Vop1 => 0x140,
            _ => 0,
        };
        forms.push((Encoding::Vop3, 0xd000_0000 | (u64::from(row.opcode) + first) << 16 | sources));
    }
    forms
}

/// Places and sizes of the fields, and the bits of modifiers.
type Layout = (&'static [(u32, u32)], &'static [u32]);

fn layout(encoding: Encoding, base: u64) -> Layout {
    match encoding {
        Encoding::Sop2 | Encoding::Sop1 | Encoding::Sopc | Encoding::Sopk | Encoding::Sopp => {
            (&[(0, 8), (8, 8), (16, 7)], &[])
        }
        Encoding::Smem => (&[(0, 6), (6, 7), (32, 7), (57, 7)], &[14, 15, 16, 17, 52]),
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc => match base & 0x1ff {
            249 => (
                &[(9, 8), (17, 8), (32, 8), (40, 3), (43, 2), (48, 3), (56, 3)],
                &[45, 46, 47, 51, 52, 53, 55, 59, 60, 61, 63],
            ),
            250 => (&[(9, 8), (17, 8), (32, 8), (40, 9)], &[49, 50, 51, 52, 53, 54, 55, 56, 60]),
            _ => (&[(0, 9), (9, 8), (17, 8)], &[]),
        },
        Encoding::Vop3 => (
            &[(0, 8), (8, 7), (32, 9), (41, 9), (50, 9)],
            &[8, 9, 10, 11, 12, 13, 14, 15, 59, 60, 61, 62, 63],
        ),
        Encoding::Vop3p => {
            (&[(0, 8), (32, 9), (41, 9), (50, 9)], &[8, 9, 10, 11, 12, 13, 14, 15, 59, 60, 61, 62, 63])
        }
        Encoding::Ds => (&[(32, 8), (40, 8), (48, 8), (56, 8)], &[0, 7, 8, 15, 16, 25]),
        Encoding::Flat | Encoding::Scratch | Encoding::Global => {
            (&[(32, 8), (40, 8), (48, 7), (56, 8)], &[0, 12, 13, 16, 17, 25, 55])
        }
        Encoding::Mubuf => (&[(32, 8), (40, 8), (48, 5), (56, 8)], &[0, 12, 13, 14, 15, 16, 17, 55]),
        Encoding::Mtbuf => {
            (&[(19, 4), (23, 3), (32, 8), (40, 8), (48, 5), (56, 8)], &[0, 12, 13, 14, 53, 54, 55])
        }
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
