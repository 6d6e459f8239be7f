//! Accesses of the lanes of a warp by one instruction, and the lines of memory that they are in.

use crate::LANES;
use crate::line::{LINE, WORD, between};

/// Where lanes access memory; in shared memory these are offsets.
#[derive(Clone, Copy, Debug)]
pub enum Places<'b> {
    /// Lane 0's place, and how far the next lane's is.
    Steps {
        first: u64,
        step: i64,
    },
    Each(&'b [u64; LANES]),
}

/// What lanes write.
#[derive(Clone, Copy, Debug)]
pub enum Values<'b> {
    /// Of one lane.
    Bytes(&'b [u8]),
    /// Elements of up to four bytes: for each one the lanes' values, `stride` from one element to the next.
    Narrow { words: &'b [u32], size: usize, stride: usize },
    /// The same of eight bytes, of which the lower half is first.
    Wide { words: &'b [u32], stride: usize },
}

/// An access of some lanes.
#[derive(Clone, Copy, Debug)]
pub struct Row<'b> {
    pub warp: usize,
    pub lanes: u32,
    pub places: Places<'b>,
    /// Bytes of each lane.
    pub size: u64,
    pub shared: bool,
    pub write: bool,
    /// Volatile, atomic, or with an order.
    pub strong: bool,
    /// So towards threads of the block alone.
    pub narrow: bool,
    /// What is written, if that is known.
    pub values: Option<Values<'b>>,
    /// The instruction: [`Device::site`](crate::Device::site).
    pub site: u16,
}

impl Values<'_> {
    /// Some of the bytes that a lane writes, up to four.
    #[must_use]
    pub fn part(&self, lane: usize, offset: usize, count: usize) -> u32 {
        let byte = |at: usize| match *self {
            Values::Bytes(bytes) => bytes.get(at).copied().unwrap_or(0),
            Values::Narrow { words, size, stride } => {
                (words[at / size * stride + lane] >> (8 * (at % size))) as u8
            }
            Values::Wide { words, stride } => {
                (words[at / 8 * stride + 2 * lane + at % 8 / 4] >> (8 * (at % 4))) as u8
            }
        };
        match *self {
            Values::Narrow { words, size: 4, stride } if count == 4 && offset.is_multiple_of(4) => {
                words[offset / 4 * stride + lane]
            }
            Values::Wide { words, stride } if count == 4 && offset.is_multiple_of(4) => {
                words[offset / 8 * stride + 2 * lane + offset % 8 / 4]
            }
            _ => (offset..offset + count).rev().fold(0, |value, at| value << 8 | u32::from(byte(at))),
        }
    }
}

/// The numbers of the bits of a mask.
pub fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then_some(mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(bit)
    })
}

/// Lanes that follow each other at equal steps: which they are, where the first lane of the warp would be, and
/// the step. Two alone are none, and have a step of 0 each.
pub fn in_steps(mut lanes: u32, places: &[u64; LANES]) -> impl Iterator<Item = (u32, (u64, i64))> {
    std::iter::from_fn(move || {
        let first = (lanes != 0).then_some(lanes.trailing_zeros() as usize)?;
        let mut taken = 1 << first;
        let mut step = 0;
        for lane in bits(lanes & !taken) {
            let distance = places[lane].wrapping_sub(places[first]) as i64;
            if taken.is_power_of_two() {
                // Mostly it is the next one, and a division takes its time.
                let gap = (lane - first) as i64;
                step = if gap == 1 { distance } else { distance / gap };
            }
            if distance != step * (lane - first) as i64 {
                break;
            }
            taken |= 1 << lane;
        }
        if taken.count_ones() == 2 {
            (taken, step) = (1 << first, 0);
        }
        lanes &= !taken;
        Some((taken, (places[first].wrapping_sub((step * first as i64) as u64), step)))
    })
}

/// Lanes that have words of their own, at steps of a power of two.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    lanes: u32,
    first: u64,
    step: u64,
    size: u64,
}

/// Words of a line that lanes access, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The address of the line.
    pub line: u64,
    pub words: u32,
    /// The lane of the first of them.
    pub lane: usize,
}

impl Steps {
    /// None: they have to be looked at one by one.
    #[must_use]
    pub fn of(lanes: u32, (first, step): (u64, i64), size: u64) -> Option<Self> {
        let step = u64::try_from(step).ok().filter(|step| step.is_power_of_two() && *step < LINE)?;
        let whole = size.is_multiple_of(WORD) && size.is_power_of_two() && size <= step;
        (whole && lanes != 0 && first.is_multiple_of(size)).then_some(Steps { lanes, first, step, size })
    }

    /// How many words have the same lane, as a power of two.
    #[must_use]
    pub fn shift(&self) -> u32 {
        (self.step / WORD).trailing_zeros()
    }

    /// The lane that has a word of a line.
    #[must_use]
    pub fn lane(&self, line: u64, word: usize) -> usize {
        ((line + WORD * word as u64).wrapping_sub(self.first) / self.step) as usize % LANES
    }

    /// The place of a lane.
    #[must_use]
    pub fn place(&self, lane: u32) -> u64 {
        self.first.wrapping_add(u64::from(lane) * self.step)
    }

    /// The parts of all lines that they are in.
    pub fn parts(self) -> impl Iterator<Item = Part> {
        let (lowest, highest) = (self.lanes.trailing_zeros(), self.lanes.ilog2());
        let (start, end) = (self.place(lowest), self.place(highest) + self.size);
        let dense = self.size == self.step && (self.lanes >> lowest).trailing_ones() == highest - lowest + 1;
        let lines = (start / LINE..end.div_ceil(LINE)).map(|number| number * LINE);
        lines.filter_map(move |line| {
            let words = if dense {
                between(start.max(line) - line, end.min(line + LINE) - line)
            } else {
                let lanes = (lowest..=highest).filter(|lane| self.lanes >> lane & 1 != 0);
                let inside = lanes.map(|lane| self.place(lane)).filter(|place| place / LINE == line / LINE);
                inside.fold(0, |words, place| words | between(place - line, place - line + self.size))
            };
            (words != 0).then(|| {
                let lane = self.lane(line, words.trailing_zeros() as usize);
                Part { line, words, lane }
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(lanes: u32, first: u64, step: i64, size: u64) -> Vec<(u64, u32, usize)> {
        let steps = Steps::of(lanes, (first, step), size).expect("a row");
        steps.parts().map(|part| (part.line, part.words, part.lane)).collect()
    }

    #[test]
    fn rows_are_in_lines() {
        const ALL: u32 = u32::MAX;
        assert_eq!(parts(ALL, 256, 4, 4), [(256, ALL, 0)]);
        assert_eq!(parts(ALL, 260, 4, 4), [(256, ALL - 1, 0), (384, 1, 31)]);
        assert_eq!(parts(ALL, 248, 8, 8), [(128, 3 << 30, 0), (256, ALL, 1), (384, ALL >> 2, 17)]);
        // Some lanes only, and words that are not accessed.
        assert_eq!(parts(0x0f0, 256, 4, 4), [(256, 0xf0, 4)]);
        assert_eq!(parts(0b1010, 256, 4, 4), [(256, 0b1010, 1)]);
        assert_eq!(parts(0xff, 260, 16, 4), [(256, 0x2222_2222, 0)]);
        assert_eq!(parts(1 << 31, 0, 64, 16), [(1920, 0xf << 16, 31)]);
    }

    #[test]
    fn others_are_looked_at_one_by_one() {
        for (first, step, size) in
            [(256, 1, 1), (256, 12, 4), (256, -4, 4), (256, 0, 4), (256, 4, 8), (258, 4, 4)]
        {
            assert!(Steps::of(1, (first, step), size).is_none(), "{first} {step} {size}");
        }
    }

    #[test]
    fn lanes_in_steps_are_found() {
        let found = |lanes, places: &[u64; LANES]| in_steps(lanes, places).collect::<Vec<_>>();
        // Two rows of 16 lanes.
        let rows: [u64; LANES] = std::array::from_fn(|lane| 1000 + 4 * (lane as u64 % 16));
        assert_eq!(found(u32::MAX, &rows), [(0xffff, (1000, 4)), (0xffff_0000, (1000 - 64, 4))]);
        let same: [u64; LANES] = std::array::from_fn(|lane| if lane < 16 { 8 } else { 512 });
        assert_eq!(found(u32::MAX, &same), [(0xffff, (8, 0)), (0xffff_0000, (512, 0))]);
        assert_eq!(found(0b1011, &rows), [(0b1011, (1000, 4))]);
        assert_eq!(found(0b11, &rows), [(0b01, (1000, 0)), (0b10, (1004, 0))]);
        assert_eq!(found(0, &rows), []);
    }

    #[test]
    fn parts_of_values() {
        let words: Vec<u32> = (0..128).map(|word| word * 0x0101_0101).collect();
        let pair = Values::Narrow { words: &words, size: 4, stride: 64 };
        assert_eq!(
            [pair.part(3, 0, 4), pair.part(3, 4, 4), pair.part(3, 5, 1)],
            [0x0303_0303, 0x4343_4343, 0x43]
        );
        let halves = Values::Narrow { words: &words, size: 2, stride: 64 };
        assert_eq!(halves.part(5, 0, 4), 0x4545_0505);
        let wide = Values::Wide { words: &words, stride: 64 };
        assert_eq!([wide.part(3, 0, 4), wide.part(3, 4, 4)], [0x0606_0606, 0x0707_0707]);
        assert_eq!(Values::Bytes(&[1, 2, 3, 4]).part(9, 1, 2), 0x0302);
    }
}
