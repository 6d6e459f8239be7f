//! The host ranges that a construct has copied already.
//!
//! List items may share storage. What one of them has copied is not copied again
//! for another one of the same construct.

/// A set of addresses, as ranges in order that neither overlap nor touch.
#[derive(Default)]
pub(super) struct Ranges(Vec<(usize, usize)>);

impl Ranges {
    /// Forgets all ranges. Their memory stays.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds `[begin, end)`; false if all of it was there before.
    pub(super) fn insert(&mut self, begin: usize, end: usize) -> bool {
        let ranges = &mut self.0;
        // Those that overlap it or touch it become one with it.
        let first = ranges.partition_point(|range| range.1 < begin);
        let behind = first + ranges[first..].partition_point(|range| range.0 <= end);
        if first == behind {
            ranges.insert(first, (begin, end));
            return true;
        }
        let joined = (begin.min(ranges[first].0), end.max(ranges[behind - 1].1));
        if behind == first + 1 && joined == ranges[first] {
            return false;
        }
        ranges[first] = joined;
        ranges.drain(first + 1..behind);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_set_of_addresses(added in prop::collection::vec((0..60usize, 1..12usize), 0..24)) {
            let mut ranges = Ranges::default();
            let mut model = [false; 80];
            for (begin, size) in added {
                let part = &mut model[begin..begin + size];
                let new = part.iter().any(|&inside| !inside);
                part.fill(true);
                prop_assert_eq!(ranges.insert(begin, begin + size), new, "[{}, {})", begin, begin + size);
                let mut expected = Vec::new();
                for (address, &inside) in model.iter().enumerate() {
                    match (inside, expected.last_mut()) {
                        (true, Some((_, end))) if *end == address => *end += 1,
                        (true, _) => expected.push((address, address + 1)),
                        (false, _) => {}
                    }
                }
                prop_assert_eq!(&ranges.0, &expected);
            }
        }
    }
}
