//! What copies and fills write, for the check of what nothing has written; and what they bring back to the program though
//! nothing has written it.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use gangway_device_memory::{Allocation, AllocationKind, SIZE, is_device_address, shadow};
use gangway_findings::{Finding, Side, Source};

use crate::objects::device::findings::LISTENERS;
use crate::objects::memory;

fn allocation(address: u64) -> Option<Allocation> {
    memory::space().ok()?.find(address)
}

/// Bytes are written by the host.
pub fn filled(address: u64, length: u64) {
    shadow::define(address, length);
}

/// Bytes are about to be copied.
pub fn copied(to: u64, from: u64, length: u64) {
    if !shadow::is_enabled() {
        return;
    }
    let of_host = |address: u64| {
        let kind = allocation(address).map(|found| found.kind);
        !is_device_address(address) || matches!(kind, Some(AllocationKind::Pinned | AllocationKind::Managed))
    };
    if !of_host(to) {
        return shadow::copy(to, from, length);
    }
    if is_device_address(from) {
        come_back(from, length);
    }
    shadow::define(to, length);
}

/// Bytes of the device come back to the program.
fn come_back(address: u64, length: u64) {
    let is_computed = |run: &Range<u64>| shadow::is_computed(run.start, run.end - run.start);
    let Some((first, bytes)) = data(runs(address, length), is_computed) else { return };
    /// What has been told: where variables begin, and where what was undefined came from.
    static TOLD: Mutex<Option<HashSet<(u64, u64)>>> = Mutex::new(None);
    let start = allocation(first).map_or(first, |found| found.id);
    let origin = shadow::origin(first);
    let place = origin / SIZE;
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if !told.get_or_insert_default().insert((start, place)) {
        return;
    }
    drop(told);
    (LISTENERS.tell)(finding(bytes, first, origin, LISTENERS.name));
}

/// Of runs that are undefined those that are no padding: where the first begins, and bytes in all. What is computed is none.
fn data(
    runs: impl Iterator<Item = Range<u64>>,
    is_computed: impl Fn(&Range<u64>) -> bool,
) -> Option<(u64, u64)> {
    let (mut first, mut bytes) = (None::<u64>, 0);
    let mut row = Row::default();
    for run in runs {
        let length = run.end - run.start;
        let (start, count) = match !may_be_padding(&run) || is_computed(&run) {
            true => (run.start, 1),
            false => match row.add(run) {
                before if before < LONG => continue,
                LONG => (row.first, LONG),
                _ => (row.first, 1),
            },
        };
        first = Some(first.map_or(start, |first| first.min(start)));
        bytes += count * length;
    }
    first.map(|first| (first, bytes))
}

/// So many in a row are no padding any more.
const LONG: u64 = 4;

/// Runs of one length, between which there is no more than belongs to one of them up to an alignment: elements of an array, of
/// which every other one is not written. A structure's padding has a member behind it that is at least as large as the alignment,
/// or is followed by another structure's.
#[derive(Debug, Default)]
struct Row {
    first: u64,
    last: Range<u64>,
    count: u64,
}

impl Row {
    /// How many there are with a run, which may be the first of a new row.
    fn add(&mut self, run: Range<u64>) -> u64 {
        let length = run.end - run.start;
        let period = (length + 1).next_power_of_two();
        let goes_on = self.last.end - self.last.start == length && run.start == self.last.start + period;
        (self.first, self.count) = if goes_on { (self.first, self.count + 1) } else { (run.start, 1) };
        self.last = run;
        self.count
    }
}

/// The runs of undefined bytes.
fn runs(address: u64, length: u64) -> impl Iterator<Item = Range<u64>> {
    let end = address + length;
    let mut at = address;
    std::iter::from_fn(move || {
        let (first, length) = shadow::first_undefined(at, end - at)?;
        let start = at + first;
        at = start + length;
        Some(start..at)
    })
}

/// Whether bytes that are not written may be what a compiler has left between members of a structure: members are
/// aligned to eight bytes at most, but for few.
fn may_be_padding(run: &Range<u64>) -> bool {
    let length = run.end - run.start;
    length < 4 || length < 8 && run.end.is_multiple_of(8)
}

fn finding(bytes: u64, first: u64, origin: u64, name: fn(u64) -> Option<String>) -> Finding {
    let unnamed = || memory::space().map_or_else(|_| format!("{first:#x}"), |space| space.describe(first));
    let what = name(first).unwrap_or_else(unnamed);
    let source = gangway_engine::init::told_of(origin, name);
    let by = match &source {
        Some((from, _)) => format!(", which comes from {from}"),
        None => String::new(),
    };
    let plural = if bytes == 1 { "" } else { "s" };
    let declared = declared(&what).map(|source| Side {
        what: "the variable is declared".to_owned(),
        source: Some(source),
        ..Side::default()
    });
    let memory = (LISTENERS.obtained)(first);
    Finding {
        check: "init".to_owned(),
        message: format!(
            "{bytes} byte{plural} that nothing has written are copied back to the program, the first at {what}{by}"
        ),
        sides: memory.into_iter().chain(source.map(|(_, side)| side)).chain(declared).collect(),
        count: 1,
        ..Finding::default()
    }
}

/// Where a variable is declared, of which there are words.
fn declared(words: &str) -> Option<Source> {
    let place = words.split_once("(declared at ")?.1.split_once(')')?.0;
    let (file, line) = place.rsplit_once(':')?;
    Some(Source { file: file.to_owned(), line: line.parse().ok()?, column: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_ends_where_members_begin() {
        for padding in [1..8, 4..8, 12..16, 5..8, 9..12] {
            assert!(may_be_padding(&padding), "{padding:?}");
        }
        for data in [0..4, 0..8, 8..16, 3..8 + 8, 4..12] {
            assert!(!may_be_padding(&data), "{data:?}");
        }
    }

    #[test]
    fn every_other_element_is_no_padding() {
        let apart = |count: u64, length: u64, period: u64| {
            data((1..=count).map(|number| number * period - length..number * period), |_| false)
        };
        assert_eq!(apart(100, 4, 8), Some((4, 400)));
        assert_eq!(apart(100, 1, 2), Some((1, 100)));
        assert_eq!(apart(3, 4, 8), None);
        // Structures: of a number of eight bytes and one of four, of three bytes and one, each with what is behind it.
        assert_eq!(apart(100, 4, 16), None);
        assert_eq!(data([5..8, 12..16, 20..24, 28..32, 36..40].into_iter(), |_| false), Some((12, 16)));
        assert_eq!(data([4..8, 12..16, 28..32, 36..40, 40..48].into_iter(), |_| false), Some((40, 8)));
        assert_eq!(data([4..8, 12..16].into_iter(), |run| run.start == 12), Some((12, 4)));
    }

    #[test]
    fn a_variables_line_is_that_of_the_finding() {
        let found = finding(12, 1 << 20, 0, |_| {
            Some("4 bytes into `a` of 400 bytes (declared at a:b.c:7)".to_owned())
        });
        let declared = found.sides.last().and_then(|side| side.source.clone());
        assert_eq!(declared, Some(Source { file: "a:b.c".to_owned(), line: 7, column: 0 }));
        assert!(found.message.starts_with("12 bytes that nothing has written are copied back"), "{found}");
    }
}
