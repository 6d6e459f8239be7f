//! Races of kernels (`GANGWAY_VGPU_CHECK=race`): each is told when its first launch ends, and how many there were
//! when the process ends. Tools find them in `GANGWAY_CHECK_LOG`, a line of JSON each. Those that a line of
//! `GANGWAY_CHECK_SUPPRESS` matches are told to nobody.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use gangway_engine::{Accessed, Listeners, Race, Races};
use gangway_trace::pretty_kernel_name;
use serde_json::json;

use super::suppressed::is_suppressed;
use super::{Device, names};
use crate::objects::process::report::report;
use crate::objects::process::state;

/// Who hears of races.
pub const LISTENERS: Listeners = Listeners { name: names::find, tell };

/// Those that a line of the user's has kept back.
static SUPPRESSED: AtomicU64 = AtomicU64::new(0);

fn tell(race: &Race) {
    let race = &Race { kernel: pretty_kernel_name(&race.kernel).into_owned(), ..race.clone() };
    if is_suppressed("race", &words(race)) {
        SUPPRESSED.fetch_add(1, Ordering::Relaxed);
        return;
    }
    report!("{race}\n  to hear no more of it: the line `race:{}` in the file of --suppress", line(race));
    log(race);
}

/// What a line that suppresses it may be about.
fn words(race: &Race) -> Vec<String> {
    let of_side = |side: &Accessed| {
        let place = side.source.as_ref().map(|(file, line, _)| format!("{file}:{line}"));
        [place, Some(side.function.clone())].into_iter().flatten().collect::<Vec<_>>()
    };
    let sides = race.sides.iter().flat_map(of_side);
    std::iter::once(race.kernel.clone()).chain(sides).collect()
}

/// The pattern that fits this one best.
fn line(race: &Race) -> String {
    let [_, then] = &race.sides;
    match &then.source {
        Some((file, line, _)) => format!("{}:{line}", file.rsplit('/').next().unwrap_or(file)),
        None => then.function.clone(),
    }
}

/// Adds it to the file for tools, if there is one. Processes of a program share it: a line is written at once.
fn log(race: &Race) {
    let Some(file) = std::env::var_os("GANGWAY_CHECK_LOG") else { return };
    let side = |side: &Accessed| {
        let place = side.source.as_ref();
        json!({
            "what": side.what,
            "function": side.function,
            "instruction": side.instruction,
            "file": place.map(|(file, ..)| file),
            "line": place.map(|(_, line, _)| line),
            "column": place.map(|(.., column)| column),
        })
    };
    let sides: Vec<_> = race.sides.iter().map(side).collect();
    let Race { kernel, between, at, count, .. } = race;
    let line = json!({
        "kind": "race",
        "message": format!("nothing orders two accesses of {between}, to {at}"),
        "kernel": kernel,
        "count": count,
        "sides": sides,
    });
    let opened = OpenOptions::new().append(true).create(true).open(&file);
    let written = opened.and_then(|mut opened| opened.write_all(format!("{line}\n").as_bytes()));
    if let Err(error) = written {
        report!("cannot write {}: {error}", file.display());
    }
}

/// Has the sum told at the end of the process.
pub fn watch() {
    static ONCE: Once = Once::new();
    extern "C" fn at_exit() {
        // What a forked child has is its parent's.
        if state::is_forked() {
            return;
        }
        let all = Device::all().iter().filter_map(|device| device.started()?.races());
        let mut all = all.fold(Races::default(), Races::and);
        let suppressed = SUPPRESSED.load(Ordering::Relaxed);
        all.places = all.places.saturating_sub(suppressed as usize);
        if let Some(text) = text(all) {
            report!("{text}");
        }
    }
    // SAFETY: a function without parameters that may run at any exit.
    ONCE.call_once(|| unsafe {
        libc::atexit(at_exit);
    });
}

fn text(Races { places, unseen, .. }: Races) -> Option<String> {
    let found = match places {
        0 => None,
        1 => Some("found races of 1 pair of instructions".to_owned()),
        _ => Some(format!("found races of {places} pairs of instructions")),
    };
    let unseen = (unseen > 0).then(|| {
        format!("{unseen} launches or blocks were too large or too long, or interpreted, and not looked at for races")
    });
    match (found, unseen) {
        (Some(found), Some(unseen)) => Some(format!("{found}; {unseen}")),
        (found, unseen) => found.or(unseen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_race_names_the_line_that_suppresses_it() {
        let side = |file: Option<&str>| Accessed {
            what: String::new(),
            function: "f".to_owned(),
            instruction: String::new(),
            source: file.map(|file| (file.to_owned(), 7, 3)),
        };
        let race = |file| Race {
            kernel: "k".to_owned(),
            between: "threads of a block",
            at: String::new(),
            sides: [side(None), side(file)],
            count: 1,
        };
        assert_eq!(line(&race(Some("/home/x/a.c"))), "a.c:7");
        assert_eq!(line(&race(None)), "f");
        assert_eq!(words(&race(Some("/home/x/a.c"))), ["k", "f", "/home/x/a.c:7", "f"]);
    }

    #[test]
    fn what_was_found_and_what_was_not_looked_at_is_said() {
        let said = |places, count, unseen| text(Races { places, count, unseen });
        assert_eq!(said(0, 0, 0), None);
        assert_eq!(said(1, 7, 0).unwrap(), "found races of 1 pair of instructions");
        assert!(said(2, 7, 1).unwrap().starts_with("found races of 2 pairs of instructions; 1 launches"));
        assert!(said(0, 0, 3).unwrap().contains("not looked at"));
    }
}
