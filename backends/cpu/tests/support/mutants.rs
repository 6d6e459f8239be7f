//! Images with random damage in what the loader reads: headers and tables.
//!
//! Code and data are spared: what those do when they are wrong is their own affair.

use std::ops::Range;

/// Random numbers that a seed repeats.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// A table that the loader reads, and how long its entries are.
#[derive(Clone, Debug)]
struct Table {
    at: Range<usize>,
    entry: usize,
}

/// An image and where its tables stand.
pub struct Original {
    pub name: String,
    pub bytes: Vec<u8>,
    tables: Vec<Table>,
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number[..N].copy_from_slice(&bytes[at..at + N]);
    u64::from_le_bytes(number)
}

impl Original {
    pub fn new(name: &str, bytes: Vec<u8>) -> Self {
        let word = |at| number::<8>(&bytes, at) as usize;
        let half = |at| number::<2>(&bytes, at) as usize;
        let segments = word(32)..word(32) + half(56) * 56;
        let mut tables = vec![Table { at: 0..64, entry: 64 }, Table { at: segments.clone(), entry: 56 }];
        for i in 0..half(60) {
            let section = word(40) + i * 64;
            let (kind, flags) = (number::<4>(&bytes, section + 4), word(section + 8));
            let at = word(section + 24)..word(section + 24) + word(section + 32);
            // Program text and data, and what only debuggers read.
            if flags & 2 == 0 || matches!(kind, 0 | 1 | 8) || at.is_empty() {
                continue;
            }
            // The dynamic section is small and says the most.
            let times = if kind == 6 { 3 } else { 1 };
            let entry = match word(section + 56) {
                0 => 4,
                entry => entry.min(at.len()),
            };
            tables.extend(std::iter::repeat_n(Table { at, entry }, times));
        }
        // So do the headers.
        tables.push(Table { at: segments, entry: 56 });
        Self { name: name.to_owned(), bytes, tables }
    }

    /// A copy with one to three places damaged, and what was done.
    pub fn mutant(&self, random: &mut Random) -> (Vec<u8>, String) {
        let mut bytes = self.bytes.clone();
        let mut told = Vec::new();
        for _ in 0..1 + random.below(3) {
            let table = &self.tables[random.below(self.tables.len())];
            told.push(damage(&mut bytes, table, random));
        }
        (bytes, format!("{}: {}", self.name, told.join(", ")))
    }
}

fn damage(bytes: &mut [u8], table: &Table, random: &mut Random) -> String {
    let length = table.at.len();
    let entry = |random: &mut Random| {
        let entries = (length / table.entry).max(1);
        let start = table.at.start + random.below(entries) * table.entry;
        start..(start + table.entry).min(table.at.end)
    };
    match random.below(10) {
        // A byte.
        0 | 1 => {
            let at = table.at.start + random.below(length);
            let value = [0, 0xff, 0x7f, 0x80, 1, random.below(256) as u8][random.below(6)];
            put(bytes, at, &[value])
        }
        // A bit.
        2 => {
            let at = table.at.start + random.below(length);
            put(bytes, at, &[bytes[at] ^ 1 << random.below(8)])
        }
        // A number of some size at a place where one may be.
        3..=6 => {
            let size = random.one_of(&[2, 4, 8, 8]).min(length);
            let at = table.at.start + random.below(length / size) * size;
            let old = bytes[at..at + size].iter().rev().fold(0, |all, b| all << 8 | u64::from(*b));
            let from = random.below(bytes.len() / 8) * 8;
            let new = match random.below(9) {
                0 => 0,
                1 => 1 << random.below(64),
                2 => u64::MAX - random.below(17) as u64,
                3 => old.wrapping_add(random.below(65) as u64).wrapping_sub(32),
                4 => old.wrapping_mul(2),
                5 => random.below(64) as u64,
                6 => number::<8>(bytes, from),
                7 => random.below(bytes.len() * 2) as u64,
                // A number that another place of the same table has.
                _ => number::<8>(bytes, (table.at.start + random.below(length)).min(bytes.len() - 8)),
            };
            put(bytes, at, &new.to_le_bytes()[..size])
        }
        // A whole entry, as another one has it.
        7 => {
            let (to, from) = (entry(random), entry(random));
            let from = bytes[from].to_vec();
            let size = from.len().min(to.len());
            put(bytes, to.start, &from[..size])
        }
        // The first word of an entry: what kind it is.
        8 => {
            let at = entry(random).start;
            let kind = random.one_of(&[
                1,
                2,
                3,
                4,
                5,
                6,
                7,
                8,
                12,
                13,
                15,
                16,
                18,
                20,
                21,
                22,
                24,
                25,
                26,
                29,
                30,
                32,
                33,
                36,
                37,
                0x6474_e550,
                0x6474_e551,
                0x6474_e552,
                0x6474_e553,
                0x6fff_fef5,
                0x6fff_fefc,
                0x6fff_fff0,
                0x6fff_fffb,
                0x6fff_fffe,
                0x7fff_fffd_u32,
            ]);
            put(bytes, at, &kind.to_le_bytes()[..4.min(table.at.end - at)])
        }
        // An entry of nothing, or of noise.
        _ => {
            let at = entry(random);
            let noise: Vec<u8> = match random.below(2) {
                0 => vec![0; at.len()],
                _ => at.clone().map(|_| random.below(256) as u8).collect(),
            };
            put(bytes, at.start, &noise)
        }
    }
}

fn put(bytes: &mut [u8], at: usize, new: &[u8]) -> String {
    let old = bytes[at..at + new.len()].to_vec();
    bytes[at..at + new.len()].copy_from_slice(new);
    format!("at {at:#x} {old:02x?} became {new:02x?}")
}
