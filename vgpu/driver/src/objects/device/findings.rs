//! What the checks of `GANGWAY_VGPU_CHECK` have found: each thing is told when the first launch with it ends, and how
//! many there were when the process ends.

use std::collections::BTreeSet;
use std::sync::{Mutex, Once, PoisonError};

use gangway_engine::{Facts, Fault, Listeners, Reason};
use gangway_findings::{Finding, Side, Source};
use gangway_trace::pretty_kernel_name;

use super::{Device, host, leaks, names};
use crate::objects::process::report::{self, report};
use crate::objects::process::state;

/// Who hears of what engines find.
pub const LISTENERS: Listeners =
    Listeners { name: names::find, obtained: leaks::place, code: host::find_code, tell };

fn tell(finding: Finding) {
    if !is_first(&finding) {
        return;
    }
    let kernel = pretty_kernel_name(&finding.kernel).into_owned();
    gangway_findings::tell(&Finding { kernel, ..finding }, report::line);
}

/// Whether lines of the program have not been told beside the same others: an instruction of the host's does not say which
/// line it is of until then.
fn is_first(finding: &Finding) -> bool {
    static TOLD: Mutex<BTreeSet<Vec<String>>> = Mutex::new(BTreeSet::new());
    if !finding.sides.iter().any(|side| side.what.ends_with(OF_HOST)) {
        return true;
    }
    let line = |side: &Side| match &side.source {
        Some(Source { file, line, .. }) => format!("{file}:{line}"),
        None => side.what.clone(),
    };
    let mut lines: Vec<_> = finding.sides.iter().map(line).collect();
    lines.sort();
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(lines)
}

/// What accesses of the host are said to be.
const OF_HOST: &str = " of the host";

/// An access that has ended its kernel is a finding of `memory` for tools. People have the report of the failure.
pub fn note(fault: &Fault) {
    if matches!(fault.reason, Reason::IllegalAddress | Reason::MisalignedAddress) {
        gangway_findings::note(&wrong_access(&fault.facts), report::line);
    }
}

fn wrong_access(facts: &Facts) -> Finding {
    let near = facts.near.as_ref().map(|near| format!(", {near}"));
    let source = facts.source.clone().map(Source::from);
    let side = Side {
        label: String::new(),
        what: facts.threads.clone().unwrap_or_default(),
        function: facts.function.clone().unwrap_or_default(),
        instruction: facts.instruction.clone().unwrap_or_default(),
        source,
    };
    Finding {
        check: "memory".to_owned(),
        message: facts.what.clone() + &near.unwrap_or_default(),
        kernel: pretty_kernel_name(&facts.kernel).into_owned(),
        sides: vec![side],
        notes: facts.remark.clone().into_iter().collect(),
        count: 1,
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
        host::end();
        let races = Device::all().iter().filter_map(|device| device.started()?.races());
        let unseen = races.map(|races| races.unseen).sum();
        if let Some(text) = text(gangway_findings::told(), unseen) {
            report!("{text}");
        }
    }
    // SAFETY: a function without parameters that may run at any exit.
    ONCE.call_once(|| unsafe {
        libc::atexit(at_exit);
    });
}

fn text(found: Option<String>, unseen: u64) -> Option<String> {
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
    fn what_was_found_and_what_was_not_looked_at_is_said() {
        let found = || Some("found 2 races".to_owned());
        assert_eq!(text(None, 0), None);
        assert_eq!(text(found(), 0), found());
        assert!(text(found(), 1).unwrap().starts_with("found 2 races; 1 launches"));
        assert!(text(None, 3).unwrap().contains("not looked at"));
    }
}
