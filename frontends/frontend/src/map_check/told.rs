//! Mistakes in words.

use super::places::Place;
use super::tracker::{Found, Mistake, TRACKER};
use crate::message::print_line;
use gangway_backend::SourceLocation;
use gangway_findings::{Finding, Side, Source};
use gangway_runtime::Label;
use std::sync::{Mutex, PoisonError};

/// Tells all that waits. Called outside of the tracker's lock: a process is started for names and lines.
pub fn tell_waiting() {
    let waiting = TRACKER.try_with(|tracker| {
        if !tracker.has_waiting() {
            return Vec::new();
        }
        let found = tracker.take().into_iter();
        found
            .map(|found| (found, tracker.places.get(found.stale.origin), tracker.places.get(found.place)))
            .collect()
    });
    for (found, newer, place) in waiting.unwrap_or_default() {
        let finding = in_words(&found, &newer, &place);
        if is_new(&found, finding.sides.last().and_then(|side| side.source.clone())) {
            gangway_findings::tell(&finding, |text| print_line(format_args!("gangway: {text}")));
        }
    }
}

/// Whether it is the first mistake of its kind with this variable in that line, which may have many instructions.
fn is_new(found: &Found, source: Option<Source>) -> bool {
    static TOLD: Mutex<Vec<(Mistake, usize, Source)>> = Mutex::new(Vec::new());
    let Some(source) = source else { return true };
    let known = (found.mistake, found.variable(), Source { column: 0, ..source });
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    let is_new = !told.contains(&known);
    if is_new {
        told.push(known);
    }
    is_new
}

/// A variable, its size and where it was declared.
pub fn variable(label: Label, host: usize, size: usize) -> String {
    let described = label.describe();
    let name = match described.name {
        Some(name) => format!("`{name}`"),
        None => format!("data at {host:#x}"),
    };
    let declared = |at: SourceLocation<'_>| format!(" (declared at {}:{})", at.file, at.line);
    let declared = described.location.map(declared).unwrap_or_default();
    format!("{name} of {size} bytes{declared}")
}

fn in_words(found: &Found, newer: &Place, place: &Place) -> Finding {
    let Found { mistake, label, host, size, stale, .. } = *found;
    let element = gangway_backends::element_name(label.describe(), stale.offset.cast_signed());
    let part = match element {
        Some(element) => format!("`{element}`, byte {} of", stale.offset),
        None => format!("byte {} of", stale.offset),
    };
    let what = format!("{part} {}", variable(label, host, size));
    let (message, newer_what, label, then_what, help) = match mistake {
        Mistake::HostReads => (
            format!("the host reads an old value: {what}, which the device has overwritten"),
            "a write by a kernel",
            "read:",
            "a read of the host",
            "copy it back before: `target update from`, or `from` or `tofrom` where it is mapped (OpenACC: `update self`, \
             `copyout` or `copy`)",
        ),
        Mistake::DeviceReads => (
            format!("a kernel reads an old value: {what}, which the host has changed since it was copied"),
            "a write of the host",
            "read:",
            "a read by a kernel",
            "what is mapped already is not copied again: use `target update to`, or `always` in the clause (OpenACC: \
             `update device`)",
        ),
        Mistake::Overwrites => (
            format!(
                "a copy back overwrites a newer value of the host: {what}, and {} bytes in all",
                stale.bytes
            ),
            "a write of the host",
            "copy:",
            "a copy back",
            "copy the host's values to the device before (`target update to`), copy back before the host writes, or do not \
             copy back what the host has (`to`, `release`)",
        ),
        Mistake::Frees => (
            format!("the host frees what is mapped: {}", variable(label, host, size)),
            "",
            "",
            "freed by the host",
            "unmap it before (`target exit data`; OpenACC: `exit data`): what is allocated there next is taken for it, and copies \
             back overwrite that",
        ),
        Mistake::Exceeds => (
            format!(
                "more is mapped than the program has: {}, of which memory ends behind byte {}",
                variable(label, host, size),
                stale.offset
            ),
            "",
            "",
            "mapped",
            "the length of a section counts elements, and not bytes; map no more than has been allocated",
        ),
    };
    let sides = match mistake {
        Mistake::Frees | Mistake::Exceeds => vec![side("", then_what, place)],
        _ => vec![side("newer:", newer_what, newer), side(label, then_what, place)],
    };
    let kernel = [place, newer].into_iter().find_map(|place| match place {
        Place::Kernel { kernel, .. } => Some(kernel.clone()),
        _ => None,
    });
    Finding {
        check: "map".to_owned(),
        message,
        kernel: kernel.unwrap_or_default(),
        sides,
        notes: vec![format!("help: {help}")],
        count: 1,
    }
}

fn side(label: &str, what: &str, place: &Place) -> Side {
    let label = label.trim_end_matches(':').to_owned();
    let (mut what, mut function) = (what.to_owned(), String::new());
    let (mut instruction, mut source) = (String::new(), None);
    match place {
        Place::Kernel { source: at, code, instruction: of, .. } => {
            (source, instruction) = (at.clone().or_else(|| code_source(*code)), of.clone());
        }
        Place::Construct { source: at, code } => {
            source = at.clone().or_else(|| code_source(*code));
            if what.ends_with("the host") {
                what += ", before the construct";
            }
        }
        Place::Code(address) => match gangway_backends::code_place(*address) {
            Some(at) => {
                function = at.function;
                source = at.source.map(Source::from);
            }
            None => what += &format!(" at address {address:#x}"),
        },
        Place::Unknown => {}
    }
    Side { label, what, function, instruction, source }
}

/// The line of an instruction, if it is known.
fn code_source(address: usize) -> Option<Source> {
    let (file, line, column) = gangway_backends::code_place(address).filter(|_| address != 0)?.source?;
    Some(Source { file, line, column })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gangway_freshness::Stale;

    #[test]
    fn a_line_is_told_once_for_each_variable_and_mistake() {
        let found = |mistake, host| {
            let stale = Stale { offset: 0, bytes: 4, origin: 0 };
            Found { mistake, label: Label::NONE, host, size: 8, stale, place: 0 }
        };
        let at = |line, column| Some(Source { file: "once.c".to_owned(), line, column });
        let first = found(Mistake::HostReads, 16);
        assert!(is_new(&first, at(7, 3)) && !is_new(&first, at(7, 9)));
        assert!(is_new(&first, at(8, 3)) && is_new(&found(Mistake::HostReads, 32), at(7, 3)));
        assert!(is_new(&found(Mistake::DeviceReads, 16), at(7, 3)));
        assert!(is_new(&first, None) && is_new(&first, None));
    }
}
