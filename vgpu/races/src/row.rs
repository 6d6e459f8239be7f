//! Accesses of the lanes of a warp by one instruction, and the lines of memory that they are in.

use crate::LANES;
use crate::line::{LINE, WORD, WORDS, between};

/// Where lanes access memory; in shared memory these are offsets.
#[derive(Clone, Copy, Debug)]
pub enum Places<'b> {
    /// Lane 0's place, and how far the next lane's is.
    Steps {
        first: u64,
        step: i64,
    },
    Each(&'b [u64; LANES]),
    /// The same, of which it is known how they lie to each other.
    Alike(&'b [u64; LANES], &'b Pattern),
    /// All lanes the same words of a line.
    Words {
        line: u64,
        words: u32,
    },
}

/// How the places of an instruction's lanes lie to each other: mostly as they did the last time.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    lanes: u32,
    /// From the first lane's place; 0 for lanes that are not there.
    distances: [u64; LANES],
    /// Lanes at equal steps, as distances.
    parts: Vec<(u32, (u64, i64))>,
    /// The least and the greatest distance.
    ends: [i64; 2],
    /// Of lanes that were all alone, how often to assume that they still are, and whether that has been done.
    rest: u8,
    assumed: bool,
}

/// Lanes without any order have none the next time, mostly.
const REST: u8 = 15;

impl Pattern {
    /// Whether places lie as they did; they do from now on.
    pub fn fit(&mut self, lanes: u32, places: &[u64; LANES]) {
        let first = places[lanes.trailing_zeros() as usize % LANES];
        // Without a branch for each lane.
        let distances: [u64; LANES] = std::array::from_fn(|lane| {
            let inside = u64::from(lanes >> lane & 1).wrapping_neg();
            places[lane].wrapping_sub(first) & inside
        });
        let differ =
            distances.iter().zip(&self.distances).fold(0, |differ, (one, other)| differ | one ^ other);
        let is_same = differ == 0 && self.lanes == lanes;
        if is_same && !self.assumed {
            return;
        }
        let signed = distances.map(|distance| distance as i64);
        self.ends = signed.iter().fold([0; 2], |[least, most], &at| [least.min(at), most.max(at)]);
        (self.lanes, self.distances) = (lanes, distances);
        self.assumed = !is_same && self.rest > 0;
        self.parts.clear();
        if self.assumed {
            self.rest -= 1;
            self.parts.extend(bits(lanes).map(|lane| (1 << lane, (distances[lane], 0))));
            return;
        }
        self.parts.extend(in_steps(lanes, &distances));
        self.rest = if self.parts.len() >= LANES / 2 { REST } else { 0 };
    }

    /// From the first place to the beginning of the last one.
    #[must_use]
    pub fn ends(&self, places: &[u64; LANES]) -> [u64; 2] {
        self.ends.map(|end| self.first(places).wrapping_add_signed(end))
    }

    fn first(&self, places: &[u64; LANES]) -> u64 {
        places[self.lanes.trailing_zeros() as usize % LANES]
    }

    /// Lanes that follow each other at equal steps, as [`in_steps`] finds them.
    pub fn parts(&self, places: &[u64; LANES]) -> impl Iterator<Item = (u32, (u64, i64))> {
        let first = self.first(places);
        self.parts.iter().map(move |&(lanes, (distance, step))| (lanes, (first.wrapping_add(distance), step)))
    }
}

/// What lanes write.
#[derive(Clone, Copy, Debug)]
pub enum Values<'b> {
    /// Of one lane.
    Bytes(&'b [u8]),
    /// Of all lanes, the words of a line.
    Words(&'b [u32; WORDS]),
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
    /// Whether lanes write the same, `bytes` each.
    #[must_use]
    pub fn are_same(&self, lanes: u32, bytes: usize) -> bool {
        let (words, size, stride) = match *self {
            Values::Bytes(_) | Values::Words(_) => return true,
            Values::Narrow { words, size, stride } => (words, size, stride),
            Values::Wide { words, stride } => (words, 8, stride),
        };
        (0..bytes / size).all(|element| match size {
            8 => are_same::<2>(lanes, &words[element * stride..]),
            _ => are_same::<1>(lanes, &words[element * stride..]),
        })
    }

    /// What lanes write one after the other, `bytes` each, from a lane's word on, if it stands like that.
    #[must_use]
    pub fn following(&self, bytes: u64, lane: usize, offset: usize) -> Option<&[u32]> {
        let (words, start) = match *self {
            Values::Narrow { words, size: 4, .. } if bytes == 4 => (words, lane),
            Values::Wide { words, .. } if bytes == 8 => (words, 2 * lane + offset / 4),
            _ => return None,
        };
        words.get(start..)
    }

    /// Some of the bytes that a lane writes, up to four.
    #[must_use]
    pub fn part(&self, lane: usize, offset: usize, count: usize) -> u32 {
        let byte = |at: usize| match *self {
            Values::Bytes(bytes) => bytes.get(at).copied().unwrap_or(0),
            Values::Words(words) => (words[at / 4 % WORDS] >> (8 * (at % 4))) as u8,
            Values::Narrow { words, size, stride } => {
                (words[at / size * stride + lane] >> (8 * (at % size))) as u8
            }
            Values::Wide { words, stride } => {
                (words[at / 8 * stride + 2 * lane + at % 8 / 4] >> (8 * (at % 4))) as u8
            }
        };
        match *self {
            Values::Words(words) if count == 4 && offset.is_multiple_of(4) => words[offset / 4 % WORDS],
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

/// Whether lanes have the same words, so many each. Without a branch for each lane.
fn are_same<const PER: usize>(lanes: u32, words: &[u32]) -> bool {
    let (each, _) = words.as_chunks::<PER>();
    let each = &each[..LANES];
    let first = each[lanes.trailing_zeros() as usize % LANES];
    let differ = each.iter().enumerate().fold(0, |differ, (lane, own)| {
        let inside = (lanes >> lane & 1).wrapping_neg();
        let apart = own.iter().zip(&first).fold(0, |apart, (one, other)| apart | one ^ other);
        differ | apart & inside
    });
    differ == 0
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
    /// As a power of two.
    step: u32,
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
        let is_row = whole && lanes != 0 && first.is_multiple_of(size);
        is_row.then_some(Steps { lanes, first, step: step.trailing_zeros(), size })
    }

    /// How many words have the same lane, as a power of two.
    #[must_use]
    pub fn shift(&self) -> u32 {
        self.step - WORD.trailing_zeros()
    }

    /// The lane that has a word of a line.
    #[must_use]
    pub fn lane(&self, line: u64, word: usize) -> usize {
        ((line + WORD * word as u64).wrapping_sub(self.first) >> self.step) as usize % LANES
    }

    /// The place of a lane.
    #[must_use]
    pub fn place(&self, lane: u32) -> u64 {
        self.first.wrapping_add(u64::from(lane) << self.step)
    }

    /// The parts of all lines that they are in.
    pub fn parts(self) -> impl Iterator<Item = Part> {
        let (lowest, highest) = (self.lanes.trailing_zeros(), self.lanes.ilog2());
        let (start, end) = (self.place(lowest), self.place(highest) + self.size);
        let dense =
            self.size == 1 << self.step && (self.lanes >> lowest).trailing_ones() == highest - lowest + 1;
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
    fn a_pattern_is_found_once() {
        let mut pattern = Pattern::default();
        let mut check = |lanes: u32, places: [u64; LANES]| {
            pattern.fit(lanes, &places);
            let found: Vec<_> = pattern.parts(&places).collect();
            assert_eq!(found, in_steps(lanes, &places).collect::<Vec<_>>(), "{lanes:x}");
            let of_lanes = || bits(lanes).map(|lane| places[lane]);
            assert_eq!(pattern.ends(&places).map(Some), [of_lanes().min(), of_lanes().max()]);
        };
        let halves = |start: u64| std::array::from_fn(|lane| start + 4 * (lane as u64 % 16));
        check(u32::MAX, halves(1000));
        check(u32::MAX, halves(2000));
        check(!1, halves(2000));
        check(0xff00, halves(1000));
        // Lanes that are not there may be anywhere.
        let mut other = halves(500);
        other[0] = 9;
        check(0xff00, other);
        check(u32::MAX, other);
        // Once there was no order it is not looked for each time, but found where it stays.
        let mut random = 1u64;
        let mut places = [0; LANES];
        for place in &mut places {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            *place = 1000 + (random >> 40);
        }
        check(u32::MAX, places);
        let mut after = pattern.clone();
        after.fit(u32::MAX, &halves(1000));
        assert_eq!(after.parts(&halves(1000)).count(), LANES);
        after.fit(u32::MAX, &halves(3000));
        assert_eq!(after.parts(&halves(3000)).count(), 2);
        let row: [u64; LANES] = std::array::from_fn(|lane| 10_000 - 8 * lane as u64);
        (0..2).for_each(|_| pattern.fit(u32::MAX, &row));
        assert_eq!(pattern.parts.len(), 1);
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
        // Where they stand one behind the other they are found together.
        let following = |values: &Values<'_>, bytes, lane, offset| {
            values.following(bytes, lane, offset).map(|words| words[..3].to_vec())
        };
        let each = |values: &Values<'_>, places: [(usize, usize); 3]| {
            Some(places.map(|(lane, offset)| values.part(lane, offset, 4)).to_vec())
        };
        assert_eq!(following(&wide, 8, 3, 4), each(&wide, [(3, 4), (4, 0), (4, 4)]));
        assert_eq!(following(&pair, 4, 3, 0), each(&pair, [(3, 0), (4, 0), (5, 0)]));
        assert_eq!(
            [following(&pair, 8, 3, 0), following(&halves, 4, 3, 0), following(&wide, 16, 3, 0)],
            [const { None }; 3]
        );
        assert_eq!(Values::Bytes(&[1, 2, 3, 4]).part(9, 1, 2), 0x0302);
        let mut same = [7; 128];
        (same[5], same[64 + 9]) = (1, 2);
        let pair = Values::Narrow { words: &same, size: 4, stride: 64 };
        assert!(pair.are_same(!(1 << 5), 4) && !pair.are_same(!(1 << 5), 8) && pair.are_same(0b1111, 8));
        let wide = Values::Wide { words: &same, stride: 64 };
        assert!(wide.are_same(!(1 << 2), 8) && !wide.are_same(0b110, 8) && !wide.are_same(!(1 << 2), 16));
    }
}
