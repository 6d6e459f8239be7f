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
    let is_data =
        |run: &Range<u64>| !may_be_padding(run) || shadow::is_computed(run.start, run.end - run.start);
    let runs: Vec<Range<u64>> = runs(address, length).filter(is_data).collect();
    let Some(first) = runs.first().map(|run| run.start) else { return };
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
    let bytes: u64 = runs.iter().map(|run| run.end - run.start).sum();
    (LISTENERS.tell)(finding(bytes, first, origin, LISTENERS.name));
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
    Finding {
        check: "init".to_owned(),
        message: format!(
            "{bytes} byte{plural} that nothing has written are copied back to the program, the first at {what}{by}"
        ),
        sides: source.map(|(_, side)| side).into_iter().chain(declared).collect(),
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
    fn a_variables_line_is_that_of_the_finding() {
        let found = finding(12, 1 << 20, 0, |_| {
            Some("4 bytes into `a` of 400 bytes (declared at a:b.c:7)".to_owned())
        });
        let declared = found.sides.last().and_then(|side| side.source.clone());
        assert_eq!(declared, Some(Source { file: "a:b.c".to_owned(), line: 7, column: 0 }));
        assert!(found.message.starts_with("12 bytes that nothing has written are copied back"), "{found}");
    }
}
