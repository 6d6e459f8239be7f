//! Every iteration exactly once, for all combinations of sizes.

use super::{Member, composite, share};
use core::ops::Range;

/// All members of a group of `of`.
fn members(of: u64) -> impl Iterator<Item = Member> {
    (0..of).map(move |index| Member { index, of })
}

/// Asserts that `ranges` are not empty and cover `whole` exactly once.
fn assert_covers(whole: Range<u64>, mut ranges: Vec<Range<u64>>, case: &str) {
    ranges.sort_by_key(|range| range.start);
    let mut next = whole.start;
    for range in ranges {
        assert!(range.start < range.end, "{case}: empty range {range:?}");
        assert_eq!(range.start, next, "{case}: gap or overlap at {range:?}");
        next = range.end;
    }
    assert_eq!(next, whole.end.max(whole.start), "{case}: end of the loop");
}

const COUNTS: [u64; 14] = [0, 1, 2, 3, 5, 7, 8, 31, 32, 33, 100, 127, 1000, 1237];
const CHUNKS: [u64; 11] = [0, 1, 2, 3, 4, 7, 16, 100, 1236, 1237, 5000];
const SIZES: [u64; 9] = [1, 2, 3, 4, 5, 8, 13, 64, 2000];

#[test]
fn every_iteration_of_a_shared_loop_once() {
    for count in COUNTS {
        for chunk in CHUNKS {
            for size in SIZES {
                for start in [0, 1, 1 << 40] {
                    let whole = start..start + count;
                    let ranges =
                        members(size).flat_map(|member| share(whole.clone(), chunk, member)).collect();
                    assert_covers(whole, ranges, &format!("{count} by {chunk} on {size}"));
                }
            }
        }
    }
}

#[test]
fn every_iteration_of_a_composite_loop_once() {
    for count in [0, 1, 9, 64, 257] {
        for (team_chunk, thread_chunk) in CHUNKS.iter().flat_map(|&t| CHUNKS.map(|u| (t, u))) {
            for (teams, threads) in [1, 2, 3, 8].into_iter().flat_map(|t| SIZES.map(|u| (t, u))) {
                let ranges = members(teams)
                    .flat_map(|team| members(threads).map(move |thread| (team, thread)))
                    .flat_map(|(team, thread)| composite(count, team_chunk, team, thread_chunk, thread))
                    .collect();
                let case = format!("{count} by {team_chunk}, {thread_chunk} on {teams} x {threads}");
                assert_covers(0..count, ranges, &case);
            }
        }
    }
}

#[test]
fn nothing_overflows_at_the_limits() {
    let huge = [u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) + 1, u64::from(u32::MAX)];
    for count in huge {
        for size in [1, 2, 3, 7, 64, 1 << 31, u64::MAX] {
            // With so many members only the first, the last and some between
            // can be looked at; their shares must meet where they adjoin.
            let chosen = [0, 1, 2, size / 2, size - 2.min(size), size - 1];
            for index in chosen.into_iter().filter(|&index| index + 1 < size) {
                let this = share(0..count, 0, Member { index, of: size }).next();
                let next = share(0..count, 0, Member { index: index + 1, of: size }).next();
                match (this, next) {
                    (Some(this), Some(next)) => assert_eq!(this.end, next.start),
                    (None, Some(next)) => panic!("{next:?} after an idle member"),
                    _ => {}
                }
            }
            let last = share(0..count, 0, Member { index: size.min(count) - 1, of: size }).next();
            assert_eq!(last.expect("has a share").end, count);
            assert_eq!(share(0..count, 0, Member { index: 0, of: size }).next().unwrap().start, 0);
        }
        // Chunks so large that member 1's would start, or end, past 2^64.
        for chunk in [1 << 62, (1 << 63) - 1, 1 << 63, u64::MAX - 1, u64::MAX] {
            for size in [1, 2, 3, 5, u64::MAX] {
                let ranges = [0, 1, 2, 3, 4]
                    .into_iter()
                    .filter(|&index| index < size)
                    .flat_map(|index| share(0..count, chunk, Member { index, of: size }))
                    .collect();
                assert_covers(0..count, ranges, &format!("{count} by {chunk} on {size}"));
            }
        }
    }
}

#[test]
fn a_range_that_ends_at_the_limit_terminates() {
    let whole = u64::MAX - 10..u64::MAX;
    for chunk in [0, 1, 3, 4, 10, 11, u64::MAX] {
        for size in [1, 2, 3, 4] {
            let ranges = members(size).flat_map(|member| share(whole.clone(), chunk, member)).collect();
            assert_covers(whole.clone(), ranges, &format!("chunk {chunk} on {size}"));
        }
    }
}

#[test]
fn without_a_chunk_shares_differ_by_at_most_one() {
    for count in COUNTS {
        for size in SIZES {
            let lengths: Vec<u64> = members(size)
                .map(|member| share(0..count, 0, member).map(|r| r.end - r.start).sum())
                .collect();
            let (least, most) = (lengths.iter().min().unwrap(), lengths.iter().max().unwrap());
            assert!(most - least <= 1, "{count} on {size}: {least} to {most}");
        }
    }
}

#[test]
fn chunks_go_round_in_order() {
    let ranges: Vec<_> = share(0..10, 2, Member { index: 1, of: 2 }).collect();
    assert_eq!(ranges, [2..4, 6..8]);
    let ranges: Vec<_> = share(0..9, 4, Member { index: 0, of: 2 }).collect();
    assert_eq!(ranges, [0..4, 8..9]);
    // A composite loop: the team has 10..15, its three threads 2 at a time.
    let second_of_three = Member { index: 1, of: 3 };
    let ranges: Vec<_> = composite(15, 5, Member { index: 2, of: 3 }, 2, second_of_three).collect();
    assert!(matches!(ranges.as_slice(), [Range { start: 12, end: 14 }]));
}

#[test]
fn members_that_do_not_exist_get_nothing() {
    assert_eq!(share(0..10, 0, Member { index: 3, of: 3 }).next(), None);
    assert_eq!(share(0..10, 1, Member { index: 3, of: 3 }).next(), None);
    assert_eq!(share(0..10, 0, Member { index: 0, of: 0 }).next(), Some(0..10));
}
