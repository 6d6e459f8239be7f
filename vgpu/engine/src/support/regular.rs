//! Registers of a frame whose values are regular: the same in all lanes, or in equal steps in each row.
//!
//! Converged code has one scalar for such a register, or one for each row. Where it hands lanes over it
//! writes these alone, and has the other lanes' values written here. Where it takes lanes back it has
//! them looked at here. Its own code for that would be ten times what the rest of a kernel is with
//! many places where lanes part.

use super::helper::run;
use crate::abi::{LANES, Warp};

/// A register of a frame, packed into a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Regular {
    /// The offset of the lanes' values in the frame, a multiple of 16.
    pub home: i32,
    /// Whether values have 64 bits.
    pub wide: bool,
    /// The step from lane to lane of a row; none where all lanes of the warp have one value.
    pub step: Option<i64>,
}

/// Steps are below this.
const MOST_STEP: i64 = 1024;

impl Regular {
    /// How many fit where compiled code puts them for a helper: in the warp's `values`.
    pub const MOST: usize = std::mem::size_of::<[crate::abi::Lanes64; 5]>() / 4;

    /// None: the step is too large.
    #[must_use]
    pub fn bits(self) -> Option<u32> {
        let step = match self.step {
            None => 0,
            Some(step) if step.abs() < MOST_STEP => (step + MOST_STEP) as u32,
            Some(_) => return None,
        };
        let home = u32::try_from(self.home / 16).ok().filter(|home| home >> 20 == 0)?;
        Some(home << 12 | step << 1 | u32::from(self.wide))
    }

    #[must_use]
    fn from_bits(bits: u32) -> Self {
        let step = i64::from(bits >> 1 & 0x7ff);
        Self {
            home: (bits >> 12) as i32 * 16,
            wide: bits & 1 != 0,
            step: (step != 0).then_some(step - MOST_STEP),
        }
    }
}

/// What is done with the lanes' values of a register, in rows of so many lanes.
trait Work {
    fn narrow(&mut self, values: &mut [u32; LANES], row: usize, step: Option<i64>);
    fn wide(&mut self, values: &mut [u64; LANES], row: usize, step: Option<i64>);
}

/// What a lane has to have, by what its row's first lane has, or the warp's.
macro_rules! expected {
    ($values:ident, $lane:expr, $row:expr, $step:expr, $type:ty) => {
        match $step {
            None => $values[0],
            Some(step) => {
                let place = $lane % $row;
                $values[$lane - place].wrapping_add((step as $type).wrapping_mul(place as $type))
            }
        }
    };
}

struct Spread;

impl Work for Spread {
    fn narrow(&mut self, values: &mut [u32; LANES], row: usize, step: Option<i64>) {
        for lane in 0..LANES {
            values[lane] = expected!(values, lane, row, step, u32);
        }
    }

    fn wide(&mut self, values: &mut [u64; LANES], row: usize, step: Option<i64>) {
        for lane in 0..LANES {
            values[lane] = expected!(values, lane, row, step, u64);
        }
    }
}

struct Compare(u64);

impl Work for Compare {
    fn narrow(&mut self, values: &mut [u32; LANES], row: usize, step: Option<i64>) {
        let odd =
            (0..LANES).fold(0, |odd, lane| odd | values[lane] ^ expected!(values, lane, row, step, u32));
        self.0 |= u64::from(odd);
    }

    fn wide(&mut self, values: &mut [u64; LANES], row: usize, step: Option<i64>) {
        self.0 |=
            (0..LANES).fold(0, |odd, lane| odd | values[lane] ^ expected!(values, lane, row, step, u64));
    }
}

/// Works on the first `count` registers that the warp's `values` name.
///
/// # Safety
/// The warp runs, `frame` is one of the function's, and the registers have places in it.
unsafe fn each(warp: *mut Warp, frame: *mut u8, count: u64, row: u64, work: &mut impl Work) {
    // SAFETY: by the caller; the registers' places are aligned to 16 bytes and do not overlap.
    unsafe {
        let registers = (&raw const (*warp).values).cast::<u32>();
        let row = (row as usize).clamp(1, LANES);
        for index in 0..(count as usize).min(Regular::MOST) {
            let Regular { home, wide, step } = Regular::from_bits(registers.add(index).read());
            let place = frame.add(home as usize);
            if wide {
                work.wide(&mut *place.cast(), row, step);
            } else {
                work.narrow(&mut *place.cast(), row, step);
            }
        }
    }
}

/// Writes what all lanes have in the registers of which the first lanes' values are in the frame.
pub(super) unsafe extern "C" fn spread(warp: *mut Warp, frame: *mut u8, count: u64, row: u64) {
    // SAFETY: compiled code passes its warp, its frame and registers of that.
    unsafe { run(warp, |warp| each(warp, frame, count, row, &mut Spread)) }
}

/// Not zero if a lane has another value than its register is to have.
pub(super) unsafe extern "C" fn compare(warp: *mut Warp, frame: *mut u8, count: u64, row: u64) -> u64 {
    // SAFETY: as for `spread`.
    unsafe {
        run(warp, |warp| {
            let mut compare = Compare(0);
            each(warp, frame, count, row, &mut compare);
            compare.0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_packed_and_read_again() {
        for step in [None, Some(0), Some(1), Some(-8), Some(1023), Some(-1023)] {
            for (home, wide) in [(0x110, false), (8 << 20, true)] {
                let register = Regular { home, wide, step };
                assert_eq!(register.bits().map(Regular::from_bits), Some(register));
            }
        }
        assert_eq!(Regular { home: 16, wide: false, step: Some(1024) }.bits(), None);
        assert_eq!(Regular { home: 1 << 24, wide: false, step: None }.bits(), None);
    }

    /// What is spread is regular, and one lane that is odd is found, in rows of every length.
    #[test]
    fn what_is_spread_compares_as_equal() {
        for row in [4, 8, 16, 32] {
            for step in [None, Some(0), Some(4), Some(-3)] {
                let mut values: [u64; LANES] = std::array::from_fn(|lane| 1 << lane);
                Spread.wide(&mut values, row, step);
                let last = values[LANES - 1];
                let first = if step.is_none() { 1 } else { 1u64 << (LANES - row) };
                let steps = step.unwrap_or(0) * (row as i64 - 1);
                assert_eq!(last, first.wrapping_add_signed(steps), "{row} {step:?}");
                let odd = |values: &mut [u64; LANES]| {
                    let mut compare = Compare(0);
                    compare.wide(values, row, step);
                    compare.0 != 0
                };
                assert!(!odd(&mut values));
                values[LANES - 1] ^= 1 << 63;
                assert!(odd(&mut values));
                let mut narrow: [u32; LANES] = std::array::from_fn(|lane| 7 * lane as u32);
                Spread.narrow(&mut narrow, row, step);
                let mut compare = Compare(0);
                compare.narrow(&mut narrow, row, step);
                assert_eq!(compare.0, 0);
            }
        }
    }
}
