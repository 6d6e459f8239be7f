//! Who runs which iterations of a static loop.
//!
//! Pure arithmetic, called by [`crate::workshare`] on every thread of a team
//! for itself: the shares of all members cover every iteration exactly once,
//! whatever the sizes, without any value overflowing. All loops are normalised
//! (0 to n - 1) by the compiler; 32-bit loops are widened to 64 bits here.

#![forbid(unsafe_code)]

use core::ops::Range;

/// One member of a team (a thread) or of a league (a team).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its number, from 0 to `of - 1`.
    pub index: u64,
    /// How many members there are; 0 counts as 1.
    pub of: u64,
}

impl Member {
    /// The only member of its group.
    pub const ONLY: Member = Member { index: 0, of: 1 };
}

/// The part of `iterations` that is `member`'s, in ascending ranges.
///
/// With a `chunk` of 0 it is at most one range, and all members' ranges differ
/// by at most one in length: on a CPU, consecutive iterations on one thread
/// use caches and vector loads best. Otherwise chunks of that size go to the
/// members in turn, starting with member 0, as `schedule(static, chunk)` and
/// `dist_schedule(static, chunk)` require.
pub fn share(iterations: Range<u64>, chunk: u64, member: Member) -> Share {
    let members = member.of.max(1);
    let count = iterations.end.saturating_sub(iterations.start);
    if chunk == 0 {
        let (quotient, remainder) = (count / members, count % members);
        let length = quotient + u64::from(member.index < remainder);
        // Each term is at most `count`, and so is the sum where length is not 0.
        let offset = member.index.saturating_mul(quotient).saturating_add(member.index.min(remainder));
        let start = iterations.start.saturating_add(offset.min(count));
        return Share {
            next: (length > 0 && member.index < members).then_some(start),
            end: start.saturating_add(length).min(iterations.end),
            chunk: u64::MAX,
            stride: u64::MAX,
        };
    }
    let first = member.index.checked_mul(chunk).and_then(|offset| iterations.start.checked_add(offset));
    Share {
        next: first.filter(|&start| start < iterations.end && member.index < members),
        end: iterations.end,
        chunk,
        // A stride that does not fit is past the end of any loop.
        stride: members.saturating_mul(chunk),
    }
}

/// The ranges of one member, made by [`share`].
#[derive(Clone, Debug)]
pub struct Share {
    next: Option<u64>,
    end: u64,
    chunk: u64,
    stride: u64,
}

impl Iterator for Share {
    type Item = Range<u64>;

    #[inline]
    fn next(&mut self) -> Option<Range<u64>> {
        let start = self.next?;
        self.next = start.checked_add(self.stride).filter(|&start| start < self.end);
        Some(start..start.saturating_add(self.chunk).min(self.end))
    }
}

/// The part of `0..count` that belongs to a thread of a team of a league in a
/// composite `distribute parallel do`: the league's teams share the loop, and
/// a team's threads share each range that the team got.
pub fn composite(
    count: u64,
    team_chunk: u64,
    team: Member,
    thread_chunk: u64,
    thread: Member,
) -> impl Iterator<Item = Range<u64>> {
    share(0..count, team_chunk, team).flat_map(move |range| share(range, thread_chunk, thread))
}

#[cfg(test)]
#[path = "partition_tests.rs"]
mod tests;
