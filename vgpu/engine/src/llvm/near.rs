//! Values of a loop that stay near one that it does not change: a table's address and an index of 32 bits make such a
//! value, whatever the index is.
//!
//! Far below device memory and some way behind it there is nothing else. So where a table is well inside, an access by
//! any index is to device memory or faults, and needs no look at its address.

use gangway_device_memory::{Range, range};
use gangway_simt::Scalar;

use super::text::Value;

/// Values are no farther than this from what they are near to.
const FARTHEST: i64 = 1 << 38;

/// An address of 64 bits: some bytes behind `base`, which the loop does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Near {
    pub base: Value,
    /// The distance is one of these, both included...
    low: i64,
    high: i64,
    /// ...and a multiple of this power of two.
    unit: u64,
}

impl Near {
    /// The value itself.
    pub fn to(base: Value) -> Self {
        Near { base, low: 0, high: 0, unit: 1 << 38 }
    }

    /// What an integer of at most 32 bits can be.
    pub fn of(ty: Scalar) -> Option<Self> {
        let bits = ty.bits();
        if ty.is_float() || ty == Scalar::Predicate || bits > 32 {
            return None;
        }
        let (low, high) =
            if ty.is_signed() { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        Some(Near { low, high, unit: 1, ..Self::to(Value::wide(0)) })
    }

    pub const fn is_fixed(self) -> bool {
        self.low == 0 && self.high == 0
    }

    /// Of a factor, with the base that comes of it.
    pub fn times(self, factor: u64, base: Value) -> Option<Self> {
        let factor = i64::try_from(factor).ok().filter(|factor| (1..=FARTHEST).contains(factor))?;
        let unit = self.unit.checked_mul(1 << factor.trailing_zeros()).unwrap_or(self.unit);
        Near { base, low: self.low.checked_mul(factor)?, high: self.high.checked_mul(factor)?, unit }.near()
    }

    /// Of both, with the base that comes of both.
    pub fn plus(self, other: Self, base: Value) -> Option<Self> {
        let (low, high) = (self.low + other.low, self.high + other.high);
        Near { base, low, high, unit: self.unit.min(other.unit) }.near()
    }

    fn near(self) -> Option<Self> {
        (-FARTHEST <= self.low && self.high <= FARTHEST).then_some(self)
    }
}

/// An access near what stays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearby {
    pub operation: u32,
    pub near: Near,
    pub offset: i64,
    pub bytes: u64,
}

/// What has to hold of a base, so that no address needs a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inside {
    /// With this added...
    pub add: u64,
    /// ...it is at most so much.
    pub most: u64,
    /// With this added, it has none of these bits.
    pub offset: u64,
    pub low_bits: u64,
}

impl Nearby {
    /// None where an index could miss the alignment, or where lower addresses than those of memory may be somebody
    /// else's.
    pub fn inside(&self) -> Option<Inside> {
        self.inside_of(range())
    }

    fn inside_of(&self, range: &Range) -> Option<Inside> {
        let Nearby { near, offset, bytes, .. } = *self;
        let below = u64::try_from(-near.low).ok()?;
        if near.unit < bytes || below > range.base - range.first {
            return None;
        }
        let first = offset.checked_add(near.low)?;
        let span = (near.high - near.low) as u64 + bytes;
        Some(Inside {
            add: (first as u64).wrapping_sub(range.first),
            most: (range.windows - range.first).checked_sub(span)?,
            offset: offset as u64,
            low_bits: bytes - 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use gangway_device_memory::{AMD, NVIDIA};

    use super::*;

    fn nearby(near: Near, bytes: u64) -> Nearby {
        Nearby { operation: 0, near, offset: 16, bytes }
    }

    fn element(ty: Scalar, size: u64) -> Near {
        let base = Value::wide(0);
        Near::of(ty).and_then(|index| index.times(size, base)).expect("it is near")
    }

    #[test]
    fn bounds_are_those_of_the_index() {
        let inside = nearby(element(Scalar::S32, 8), 8).inside_of(&NVIDIA).expect("there is much below");
        let (first, windows) = (NVIDIA.first, NVIDIA.windows);
        let holds = |base: u64| base.wrapping_add(inside.add) <= inside.most;
        assert!(holds(first + (16 << 30) - 16) && !holds(first + (16 << 30) - 17));
        // The highest index's element ends where memory ends.
        let last = windows - 8 - 16 - 8 * ((1 << 31) - 1);
        assert!(holds(last) && !holds(last + 1));
        assert_eq!((inside.offset, inside.low_bits), (16, 7));
    }

    #[test]
    fn what_is_below_memory_must_be_ours() {
        assert_eq!(nearby(element(Scalar::S32, 8), 8).inside_of(&AMD), None);
        assert!(nearby(element(Scalar::U32, 8), 8).inside_of(&AMD).is_some());
    }

    #[test]
    fn elements_are_aligned_as_far_as_their_size() {
        assert_eq!(nearby(element(Scalar::U32, 4), 8).inside_of(&NVIDIA), None);
        assert!(nearby(element(Scalar::U32, 12), 4).inside_of(&NVIDIA).is_some());
        assert_eq!(nearby(element(Scalar::U32, 12), 8).inside_of(&NVIDIA), None);
    }

    #[test]
    fn what_is_far_is_not_near() {
        let index = Near::of(Scalar::U32).expect("it is narrow");
        assert!(index.times(1 << 6, index.base).is_some() && index.times(1 << 7, index.base).is_none());
        assert!(index.times(0, index.base).is_none() && index.times(u64::MAX, index.base).is_none());
        assert!(Near::of(Scalar::U64).is_none() && Near::of(Scalar::F32).is_none());
        let large = element(Scalar::U32, 64);
        assert!(
            large.plus(large, large.base).is_none() && large.plus(Near::to(large.base), large.base).is_some()
        );
    }
}
