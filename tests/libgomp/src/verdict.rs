//! Decides whether a test passed.
//!
//! Called by `schedule` with what building and running it gave. The rules are
//! DejaGnu's: the exit status has to be zero (or not, for `dg-shouldfail`) and
//! the output has to match; added is that a kernel must have been launched.

use anyhow::{Context, Result};
use gangway_checked::{Entry, Kind, found, judge};
use serde::{Deserialize, Serialize};

use crate::execute::Run;
use crate::pattern::matches;
use crate::plan::Plan;
use crate::process::Ending;

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Passed,
    /// With what went wrong.
    Failed(String),
    /// It failed as it says itself that it does, on hardware too; with its reason.
    Marked(String),
    /// It passed although it says that it fails.
    PassedThoughMarked(String),
    /// It was not run, for this reason.
    Skipped(String),
}

impl Verdict {
    /// Whether the test failed where it should have passed.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Failed(_))
    }
}

/// What a test that passes has to have launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernels {
    Some,
    None,
    /// There are no devices.
    NoDriver,
}

/// The verdict on a test that a compiler refused.
pub fn on_refusal(plan: &Plan, compiler: &str, output: &str) -> Verdict {
    match &plan.marks.compile {
        Some(reason) => Verdict::Marked(reason.clone()),
        None => Verdict::Failed(format!("{compiler}: {}", telling_line(output))),
    }
}

/// The verdict on a test of which the list says that clang's front end refuses it.
pub fn on_refused_by_clang(reason: &str, is_refused: bool) -> Verdict {
    match is_refused {
        true => Verdict::Skipped(format!("clang refuses it: {reason}")),
        false => Verdict::Failed(format!("it is not refused, and exceptions-clang.txt says: {reason}")),
    }
}

/// The verdict on a test that ran.
pub fn on_run(plan: &Plan, run: &Run, kernels: Kernels) -> Result<Verdict> {
    let output = &run.finished.output;
    if let Some(why) = wrong_ending(plan, run.finished.ending) {
        let why = format!("{why}: {}", telling_line(output));
        return Ok(plan.marks.run.clone().map_or(Verdict::Failed(why), Verdict::Marked));
    }
    if let Some(pattern) = &plan.output
        && !matches(pattern, &without_reports(output))?
    {
        let why = format!("the output does not match: {}", telling_line(output));
        let marks = plan.marks.output.as_ref().or(plan.marks.run.as_ref());
        return Ok(marks.cloned().map_or(Verdict::Failed(why), Verdict::Marked));
    }
    // A program that is to fail may do so before its first kernel.
    if !plan.should_fail {
        let wrong = match (kernels, run.launches) {
            (Kernels::None, Some(count @ 1..)) => {
                Some(format!("exceptions.txt says that it launches no kernel, but it launched {count}"))
            }
            (Kernels::Some, Some(0)) => Some("it passed without launching a kernel".to_owned()),
            (Kernels::Some, None) => Some("it never started the virtual GPU's driver".to_owned()),
            (Kernels::NoDriver, Some(_)) => {
                Some("it started a driver, though the host is its device".to_owned())
            }
            _ => None,
        };
        if let Some(why) = wrong {
            return Ok(Verdict::Failed(why));
        }
    }
    let marks = plan.marks.run.as_ref().or(plan.marks.output.as_ref());
    Ok(marks.cloned().map_or(Verdict::Passed, Verdict::PassedThoughMarked))
}

/// The verdict on a test that ran under checks, of which this is known and which has come to `verdict`.
/// A program that is to fail is wrong, and anything may be found in it.
pub fn on_checks(plan: &Plan, run: &Run, known: &[&Entry], verdict: Verdict) -> Result<Verdict> {
    if let Some(entry) = known.iter().find(|entry| entry.kind == Kind::Differs) {
        return Ok(match verdict {
            Verdict::Failed(_) => Verdict::Passed,
            _ => Verdict::Failed(format!("it does not differ though the list says: {}", entry.reason)),
        });
    }
    if verdict != Verdict::Passed || plan.should_fail {
        return Ok(verdict);
    }
    let text = run.findings.as_deref().context("what was found was not written")?;
    let found = found(text).map_err(anyhow::Error::msg)?;
    Ok(judge(known, &found).err().map_or(Verdict::Passed, Verdict::Failed))
}

/// The verdict on a test that measures time, after its last attempt. Where all that is wrong is what it
/// measured, the machine was too slow or too busy for it: that is told, and is no failure of ours. What such
/// times ought to be is for the benchmarks.
pub fn on_time(attempts: usize, run: &Run, verdict: Verdict) -> Verdict {
    const OF_TIME: [&str; 3] =
        ["actual time", "asynchronous operation not running", "operation still running"];
    let output = &run.finished.output;
    match verdict {
        Verdict::Failed(why) if OF_TIME.iter().any(|words| output.contains(words)) => {
            Verdict::Skipped(format!("{attempts} attempts were too slow on this machine: {why}"))
        }
        verdict => verdict,
    }
}

fn wrong_ending(plan: &Plan, ending: Ending) -> Option<String> {
    match ending {
        Ending::TimedOut => Some(ending.to_string()),
        _ if !plan.should_fail && !ending.succeeded() => Some(ending.to_string()),
        _ if plan.should_fail && ending.succeeded() => Some("it should have failed".to_owned()),
        _ => None,
    }
}

/// The output without what the virtual GPU itself reports on standard error, which
/// hardware does not: a line that starts with its name, and indented ones after it. What the
/// front end says to the program's user begins so, too, and stays.
fn without_reports(output: &str) -> String {
    const OF_FRONT_END: [&str; 2] = ["gangway: error: ", "gangway: debug: "];
    let mut in_report = false;
    let kept = output.split_inclusive('\n').filter(|line| {
        let is_report = line.starts_with("gangway: ") && !OF_FRONT_END.iter().any(|it| line.starts_with(it));
        in_report = is_report || in_report && line.starts_with("  ");
        !in_report
    });
    kept.collect()
}

/// The line of a program's output that says most about what went wrong.
fn telling_line(output: &str) -> String {
    const TELLING: [&str; 8] =
        ["gangway: ", "error: ", "libgomp: ", "cannot find", "undefined", "rror", "ssert", "STOP"];
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty());
    let telling = TELLING.iter().find_map(|word| lines().find(|line| line.contains(word)));
    let line = telling.or_else(|| lines().next_back()).unwrap_or("no output");
    line.chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Kernels, Verdict, on_refusal, on_refused_by_clang, on_run, on_time};
    use crate::execute::Run;
    use crate::plan::{Marks, Plan};
    use crate::process::{Ending, Finished};

    fn run(ending: Ending, output: &str, launches: Option<usize>) -> Run {
        Run {
            finished: Finished { ending, output: output.to_owned(), elapsed: Duration::ZERO },
            launches,
            findings: None,
        }
    }

    fn verdict(plan: &Plan, run: &Run) -> Verdict {
        on_run(plan, run, Kernels::Some).unwrap()
    }

    #[test]
    fn a_pass_needs_a_kernel() {
        let plan = Plan::default();
        assert_eq!(verdict(&plan, &run(Ending::Exit(0), "", Some(1))), Verdict::Passed);
        assert!(verdict(&plan, &run(Ending::Exit(0), "", Some(0))).is_failure());
        assert!(verdict(&plan, &run(Ending::Exit(0), "", None)).is_failure());
        assert_eq!(
            on_run(&plan, &run(Ending::Exit(0), "", Some(0)), Kernels::None).unwrap(),
            Verdict::Passed
        );
        assert!(on_run(&plan, &run(Ending::Exit(0), "", Some(1)), Kernels::None).unwrap().is_failure());
    }

    #[test]
    fn a_slow_machine_fails_no_test() {
        let late = run(Ending::Signal(6), "actual time too long\n", Some(1));
        let wrong = run(Ending::Signal(6), "acc_async_test failed on unseen async-argument\n", Some(1));
        let plan = Plan::default();
        let skipped = on_time(20, &late, verdict(&plan, &late));
        assert!(
            matches!(&skipped, Verdict::Skipped(why) if why.contains("actual time too long")),
            "{skipped:?}"
        );
        assert!(on_time(20, &wrong, verdict(&plan, &wrong)).is_failure());
        assert_eq!(on_time(20, &late, Verdict::Passed), Verdict::Passed);
    }

    #[test]
    fn without_devices_no_driver_starts() {
        let plan = Plan::default();
        let verdict =
            |launches| on_run(&plan, &run(Ending::Exit(0), "", launches), Kernels::NoDriver).unwrap();
        assert_eq!(verdict(None), Verdict::Passed);
        assert!(verdict(Some(0)).is_failure());
    }

    #[test]
    fn endings() {
        let plan = Plan::default();
        for ending in [Ending::Exit(1), Ending::Signal(6), Ending::TimedOut] {
            assert!(verdict(&plan, &run(ending, "", Some(1))).is_failure(), "{ending}");
        }
        let plan = Plan { should_fail: true, ..Plan::default() };
        assert!(verdict(&plan, &run(Ending::Exit(0), "", Some(1))).is_failure());
        assert!(verdict(&plan, &run(Ending::TimedOut, "", None)).is_failure());
        assert_eq!(verdict(&plan, &run(Ending::Signal(6), "", None)), Verdict::Passed);
    }

    #[test]
    fn marks() {
        let marks = Marks { run: Some("why".into()), compile: Some("how".into()), output: None };
        let builds =
            Plan { marks: Marks { compile: Some("how".into()), ..Marks::default() }, ..Plan::default() };
        assert_eq!(verdict(&builds, &run(Ending::Exit(0), "", Some(1))), Verdict::Passed);
        let plan = Plan { marks, ..Plan::default() };
        assert_eq!(verdict(&plan, &run(Ending::Exit(1), "", Some(1))), Verdict::Marked("why".into()));
        assert_eq!(
            verdict(&plan, &run(Ending::Exit(0), "", Some(1))),
            Verdict::PassedThoughMarked("why".into())
        );
        assert_eq!(on_refusal(&plan, "gcc", "error"), Verdict::Marked("how".into()));
        assert!(on_refusal(&Plan::default(), "gcc", "error").is_failure());
    }

    #[test]
    fn what_clang_refuses_is_not_run_and_what_it_takes_is() {
        let refused = on_refused_by_clang("a builtin of GCC's", true);
        assert_eq!(refused, Verdict::Skipped("clang refuses it: a builtin of GCC's".into()));
        assert!(on_refused_by_clang("a builtin of GCC's", false).is_failure());
    }

    #[test]
    fn output() {
        let plan = Plan { output: Some("a.*\\[b".into()), ..Plan::default() };
        assert_eq!(verdict(&plan, &run(Ending::Exit(0), "x a\n\n[b", Some(1))), Verdict::Passed);
        assert!(verdict(&plan, &run(Ending::Exit(0), "a b", Some(1))).is_failure());
    }

    #[test]
    fn reports_of_the_virtual_gpu_are_no_output() {
        let plan = Plan { output: Some("^a\nlibgomp: b$".into()), should_fail: true, ..Plan::default() };
        let text = "a\ngangway: kernel 'k' failed: trap\n  at x.c:1\nlibgomp: b";
        assert_eq!(verdict(&plan, &run(Ending::Exit(1), text, Some(1))), Verdict::Passed);
    }

    #[test]
    fn symptoms_name_the_telling_line() {
        let run = run(Ending::Exit(1), "noise\nlibgomp: cuInit error\nmore\n", Some(0));
        assert_eq!(
            verdict(&Plan::default(), &run),
            Verdict::Failed("exit status 1: libgomp: cuInit error".into())
        );
    }
}
