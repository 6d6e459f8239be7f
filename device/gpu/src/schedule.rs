//! How iterations are dealt to threads and teams: arithmetic alone.
//!
//! Iterations are counted from 0 in 64 bits. `u64` is enough for all loops but one of 2^64
//! iterations, which no program finishes.

/// The kinds that compilers pass, `kmp_sched_t` of LLVM.
pub mod kind {
    pub const STATIC_CHUNKED: i32 = 33;
    pub const STATIC: i32 = 34;
    pub const DYNAMIC: i32 = 35;
    pub const GUIDED: i32 = 36;
    pub const RUNTIME: i32 = 37;
    pub const AUTO: i32 = 38;
    /// Chunks as even as possible, in multiples of the vector width.
    pub const STATIC_BALANCED: i32 = 45;
    /// Kinds with an `ordered` clause are these and [`ORDERED`] apart.
    pub const ORDERED_FIRST: i32 = 65;
    pub const ORDERED_LAST: i32 = 72;
    pub const DISTRIBUTE_CHUNKED: i32 = 91;
    pub const DISTRIBUTE: i32 = 92;
    /// `distribute parallel for` in one step: threads of all teams take iterations in turn.
    pub const DISTRIBUTE_BY_THREAD: i32 = 93;

    /// Takes the modifiers `monotonic` and `nonmonotonic` off.
    #[must_use]
    #[inline(always)]
    pub const fn plain(kind: i32) -> i32 {
        kind & !(1 << 29 | 1 << 30)
    }
}

/// One thread's, or one team's, part of a loop: the first chunk, and where the next one is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    pub first: u64,
    /// Iterations of each chunk; 0 if there is none.
    pub chunk: u64,
    /// From one chunk of this part to the next.
    pub stride: u64,
    /// Whether the last iteration of the loop is in this part.
    pub last: bool,
}

impl Part {
    /// The same part with bounds that fit in the loop's type, as the number of iterations does: what
    /// is beyond the end is cut off. Compilers add the stride after the last chunk, too: from the first
    /// chunk it leads to the end at most.
    #[must_use]
    #[inline(always)]
    pub fn within(self, trips: u64) -> Self {
        let first = self.first.min(trips);
        let left = trips - first;
        Self { first, chunk: self.chunk.min(left), stride: self.stride.min(left), last: self.last }
    }
}

/// The multiple of a chunk's size with which each of so many teams has one chunk at most.
#[must_use]
#[inline(always)]
pub const fn merged(chunk: u64, trips: u64, teams: u64) -> u64 {
    let round = chunk * teams;
    // Most loops are one round: no division.
    if trips <= round { chunk } else { trips.div_ceil(round) * chunk }
}

/// Chunks of one size, in turn.
#[must_use]
#[inline(always)]
pub const fn chunked(trips: u64, chunk: u64, entity: u64, entities: u64) -> Part {
    Part {
        first: entity.wrapping_mul(chunk),
        chunk,
        stride: entities.wrapping_mul(chunk),
        last: trips != 0 && (trips - 1) / chunk % entities == entity,
    }
}

/// One chunk for each, of sizes that differ by one at most.
#[must_use]
#[inline(always)]
pub const fn even(trips: u64, entity: u64, entities: u64) -> Part {
    let (each, left) = (trips / entities, trips % entities);
    let more = entity < left;
    let chunk = each + more as u64;
    let first = entity * each + if more { entity } else { left };
    Part { first, chunk, stride: trips, last: chunk != 0 && first + chunk == trips }
}

/// Even chunks that are multiples of `width`.
#[must_use]
#[inline(always)]
pub const fn balanced(trips: u64, width: u64, entity: u64, entities: u64) -> Part {
    chunked(trips, trips.div_ceil(entities).next_multiple_of(width), entity, entities)
}

/// The size of the next chunk of a guided loop, `left` iterations before its end.
#[must_use]
pub const fn guided(left: u64, least: u64, entities: u64) -> u64 {
    let share = left / (2 * entities);
    let size = if share > least { share } else { least };
    if size < left { size } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a part covers.
    fn iterations(part: Part, trips: u64) -> Vec<u64> {
        let mut all = Vec::new();
        let mut first = part.first;
        while part.chunk != 0 && first < trips {
            all.extend(first..trips.min(first + part.chunk));
            first += part.stride;
        }
        all
    }

    /// Each iteration belongs to one part, and the last one to the part that says so.
    fn check(trips: u64, entities: u64, part: impl Fn(u64) -> Part) {
        let mut seen = vec![0; trips as usize];
        for entity in 0..entities {
            let part = part(entity);
            let own = iterations(part, trips);
            for &iteration in &own {
                seen[iteration as usize] += 1;
            }
            assert_eq!(part.last, own.contains(&(trips.wrapping_sub(1))), "{trips} {entities} {part:?}");
        }
        assert!(seen.iter().all(|&count| count == 1), "{trips} iterations for {entities}: {seen:?}");
    }

    #[test]
    fn each_iteration_is_dealt_once() {
        for trips in [0, 1, 2, 3, 7, 31, 32, 33, 100, 1000] {
            for entities in [1, 2, 3, 5, 32, 128] {
                check(trips, entities, |entity| even(trips, entity, entities));
                for chunk in [1, 2, 3, 8, 50, 2000] {
                    check(trips, entities, |entity| chunked(trips, chunk, entity, entities));
                    check(trips, entities, |entity| balanced(trips, chunk, entity, entities));
                }
            }
        }
    }

    /// A team has one chunk of whole rounds of its threads, and no more iterations than without.
    #[test]
    fn merged_chunks_are_one_for_each_team() {
        for trips in [1, 127, 128, 129, 5000, 1 << 24] {
            for teams in [1, 3, 100, 4096, 1 << 20] {
                let chunk = merged(128, trips, teams);
                assert!(chunk.is_multiple_of(128) && chunk * teams >= trips, "{trips} {teams}: {chunk}");
                assert_eq!(chunk / 128, trips.div_ceil(128).div_ceil(teams));
            }
        }
        assert_eq!(merged(128, 0, 7), 128);
        check(100_000, 7, |entity| chunked(100_000, merged(32, 100_000, 7), entity, 7));
    }

    /// Bounds never go beyond the end, where they would not fit in the loop's type.
    #[test]
    fn parts_end_with_the_loop() {
        let trips = (1 << 31) - 2;
        for entity in 0..128 {
            let part = chunked(trips, 1 << 30, entity, 128).within(trips);
            assert!(part.first <= trips && part.first + part.chunk <= trips, "{part:?}");
        }
        check(1000, 5, |entity| chunked(1000, 300, entity, 5).within(1000));
        check(1000, 5, |entity| chunked(1000, 30, entity, 5).within(1000));
        let merged = merged(128, trips, 100);
        for entity in 0..100 {
            let part = chunked(trips, merged, entity, 100).within(trips);
            assert_eq!(part.first + part.stride, trips, "{part:?}");
        }
    }

    #[test]
    fn guided_chunks_shrink_to_the_least() {
        let (mut left, mut sizes) = (1000, Vec::new());
        while left > 0 {
            let size = guided(left, 7, 4);
            sizes.push(size);
            left -= size;
        }
        assert_eq!(sizes[..4], [125, 109, 95, 83]);
        assert!(sizes.windows(2).all(|pair| pair[0] >= pair[1]));
        assert!(sizes[..sizes.len() - 1].iter().all(|&size| size >= 7));
    }
}
