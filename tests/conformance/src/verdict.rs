//! Compares what a program did with what it should have done.
//!
//! Called by the test target once the runs are over. Works on [`Outcome`]s only,
//! so it can be tested without a compiler; starts nothing and reads no file.

use similar::TextDiff;

use crate::execute::Outcome;
use crate::header::Status;

/// One side of a comparison, with its name for messages.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    pub name: &'a str,
    pub outcome: &'a Outcome,
}

/// The process has to end as the header says.
pub fn check_status(side: Side, wanted: Status) -> Result<(), String> {
    let got = side.outcome.status;
    if got == wanted {
        return Ok(());
    }
    let Outcome { stdout, stderr, .. } = side.outcome;
    Err(format!(
        "under {}: ended with {got}, wanted {wanted}\n--- stdout\n{stdout}--- stderr\n{stderr}",
        side.name
    ))
}

/// `got` has to have printed what `wanted` printed.
pub fn check_output(wanted: Side, got: Side) -> Result<(), String> {
    check_text(wanted.name, &wanted.outcome.stdout, got)
}

/// `got` has to have reported what `wanted` reported, as [`masked`] shows it: the
/// lines that hold one of `texts`, in any order, or all of them if there are no texts.
pub fn check_messages(texts: &[String], wanted: Side, got: Side) -> Result<(), String> {
    let held = |line: &&str| texts.is_empty() || texts.iter().any(|text| line.contains(text));
    let shown = |side: Side| -> String {
        let masked = masked(&side.outcome.stderr);
        let mut lines: Vec<&str> = masked.lines().filter(held).collect();
        if !texts.is_empty() {
            lines.sort_unstable();
        }
        lines.into_iter().flat_map(|line| [line, "\n"]).collect()
    };
    let (expected, found) = (shown(wanted), shown(got));
    if expected == found {
        return Ok(());
    }
    let difference = TextDiff::from_lines(&expected, &found);
    Err(format!("messages differ\n{}", difference.unified_diff().header(wanted.name, got.name)))
}

/// `text` with every hexadecimal address replaced, which differs from run to run.
/// The null pointer is no address and stays. So do quotes, but for those around a name that LLVM's library
/// wrote in them up to 22.
fn masked(text: &str) -> String {
    let text = text.replace("\"PluginInterface\"", "PluginInterface");
    // LLVM 19 tells one dimension of a launch.
    let text = text.replace("with [", "with ").replace("blocks and [", "blocks and ").replace(",1,1]", "");
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find("0x") {
        let (before, from) = rest.split_at(at + 2);
        let digits = from.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(from.len());
        let (number, after) = from.split_at(digits);
        out.push_str(before);
        let null = number.bytes().all(|digit| digit == b'0');
        out.push_str(if null { number } else { "ADDRESS" });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// `got` has to have printed `text`.
pub fn check_text(name: &str, text: &str, got: Side) -> Result<(), String> {
    if got.outcome.stdout == text {
        return Ok(());
    }
    let difference = TextDiff::from_lines(text, &got.outcome.stdout);
    let shown = difference.unified_diff().header(name, got.name).to_string();
    Err(format!("output differs\n{shown}--- stderr of {}\n{}", got.name, got.outcome.stderr))
}

/// A program that prints nothing proves nothing.
pub fn check_not_empty(side: Side) -> Result<(), String> {
    if side.outcome.stdout.trim().is_empty() {
        return Err(format!("under {}: printed nothing, so nothing was checked", side.name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(status: Status, stdout: &str) -> Outcome {
        Outcome { status, stdout: stdout.into(), stderr: "note".into(), findings: None }
    }

    #[test]
    fn equal_outcomes_pass() {
        let (a, b) = (outcome(Status::Exit(0), "1\n"), outcome(Status::Exit(0), "1\n"));
        let (a, b) = (Side { name: "stock", outcome: &a }, Side { name: "gangway", outcome: &b });
        check_output(a, b).unwrap();
        check_status(b, Status::Exit(0)).unwrap();
        check_not_empty(b).unwrap();
    }

    #[test]
    fn a_difference_is_shown_line_by_line() {
        let (a, b) = (outcome(Status::Exit(0), "1\n2\n"), outcome(Status::Exit(0), "1\n3\n"));
        let error = check_output(Side { name: "stock", outcome: &a }, Side { name: "gangway", outcome: &b })
            .unwrap_err();
        assert!(error.contains("--- stock\n+++ gangway\n"), "{error}");
        assert!(error.contains("-2\n+3\n") && error.contains("note"), "{error}");
    }

    #[test]
    fn messages_are_compared_without_their_addresses() {
        let mut a = outcome(Status::Exit(0), "1\n");
        let mut b = a.clone();
        a.stderr = "at 0x7ffd12, size 8, a.c:1:2\n".into();
        b.stderr = "at 0x55aa, size 8, a.c:1:2\n".into();
        let stock = Side { name: "stock", outcome: &a };
        check_messages(&[], stock, Side { name: "gangway", outcome: &b }).unwrap();
        b.stderr = "at 0x0000, size 8, a.c:1:2\n".into();
        let error = check_messages(&[], stock, Side { name: "gangway", outcome: &b }).unwrap_err();
        assert!(error.contains("-at 0xADDRESS, size 8, a.c:1:2\n+at 0x0000, size 8, a.c:1:2\n"), "{error}");
        check_messages(&["other".into()], stock, Side { name: "gangway", outcome: &b }).unwrap();
    }

    #[test]
    fn a_wrong_end_names_both_ends() {
        let got = outcome(Status::Signal(11), "");
        let side = Side { name: "gangway", outcome: &got };
        let error = check_status(side, Status::Exit(1)).unwrap_err();
        assert!(error.contains("signal 11") && error.contains("exit 1"), "{error}");
        assert!(check_not_empty(side).is_err());
    }
}
