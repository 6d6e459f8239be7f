//! Builds and runs many tests at once, with progress.
//!
//! Called by `main`. As many workers as jobs take tests from one list, build and
//! run them, and note each result at once, so that an interrupted run can go on
//! where it was. A failure leaves a file that tells how to repeat it.

use std::fs;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};

use gangway_checked::{Kind, Known};

use crate::arguments::Device;
use crate::catalogue::Test;
use crate::compile::{Built, Compiler};
use crate::execute::Runner;
use crate::plan::{Decision, Plan};
use crate::record::{Entry, Record};
use crate::rules::Rules;
use crate::verdict::{self, Kernels, Verdict};

/// How often a run whose output is no terminal tells how far it is.
const REPORT_INTERVAL: Duration = Duration::from_secs(30);

/// How often a test that measures time is run until it passes.
const TIMING_ATTEMPTS: usize = 20;

/// Everything that a test needs.
pub struct Bench {
    pub compiler: Compiler,
    /// None where tests are only built.
    pub runner: Option<Runner>,
    pub rules: Rules,
    /// What checks find.
    pub known: Known,
    pub record: Record,
    /// Identifies the driver in the record.
    pub driver: String,
    /// Where failures are described.
    pub failures: PathBuf,
    /// Whether results of earlier runs with the same driver are taken over.
    pub resume: bool,
    /// Held for reading while a test is built or runs, for writing by a test that must run alone.
    pub running: RwLock<()>,
}

/// Takes all `tests` to their results, in the same order, with `jobs` workers.
pub fn run(bench: &Bench, tests: &[Test], jobs: usize) -> Result<Vec<Entry>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Entry>>> = Mutex::new(vec![None; tests.len()]);
    let progress = Progress::new(tests.len());
    std::thread::scope(|scope| {
        let worker = || -> Result<()> {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(test) = tests.get(at) else { return Ok(()) };
                let entry = bench.take(test).with_context(|| test.id())?;
                progress.finished(&entry);
                results.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(entry);
            }
        };
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("workers do not panic"))
    })?;
    progress.end();
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(results.into_iter().map(|entry| entry.expect("every test was taken")).collect())
}

impl Bench {
    /// Builds and runs one test, unless its result is there.
    fn take(&self, test: &Test) -> Result<Entry> {
        let earlier =
            self.record.earlier(&test.id()).filter(|entry| self.resume && entry.driver == self.driver);
        if let Some(entry) = earlier {
            return Ok(entry.clone());
        }
        let (verdict, elapsed) = match &test.decision {
            Decision::Skip(reason) => (Verdict::Skipped(reason.clone()), Duration::ZERO),
            Decision::Run(plan) => self.build_and_run(test, plan)?,
        };
        let driver = self.driver.clone();
        let entry = Entry { test: test.id(), driver, verdict, seconds: elapsed.as_secs_f64() };
        if self.runner.is_some() {
            self.record.add(&entry)?;
        }
        Ok(entry)
    }

    /// Does something beside other tests and compilers, or without any.
    fn alone_if<T>(&self, alone: bool, run: impl FnOnce() -> T) -> T {
        if alone {
            let _running = self.running.write().unwrap_or_else(PoisonError::into_inner);
            run()
        } else {
            let _running = self.running.read().unwrap_or_else(PoisonError::into_inner);
            run()
        }
    }

    /// The verdict, and how long the program ran.
    fn build_and_run(&self, test: &Test, plan: &Plan) -> Result<(Verdict, Duration)> {
        let report = self.failures.join(test.id().replace(['/', ' '], "_") + ".txt");
        // An earlier run's.
        let _ = fs::remove_file(&report);
        let mut elapsed = Duration::ZERO;
        if let Some(reason) = self.rules.refused(test) {
            // What clang refuses Gangway may take all the same, and what Gangway refuses clang may take.
            let is_refused = self.alone_if(false, || -> Result<bool> {
                Ok(!self.compiler.is_taken_by_clang(test, plan)?
                    && matches!(self.compiler.build(test, plan)?, Built::Failed(_)))
            })?;
            return Ok((verdict::on_refused_by_clang(reason, is_refused), elapsed));
        }
        let name = test.id().replace(' ', "@");
        let known = self.known.of(&[&test.name, &name]);
        if let Some(slow) = known.iter().find(|entry| entry.kind == Kind::Slow) {
            return Ok((Verdict::Skipped(format!("too slow under checks: {}", slow.reason)), elapsed));
        }
        let (verdict, output) = match self.alone_if(false, || self.compiler.build(test, plan))? {
            Built::Failed(output) => (verdict::on_refusal(plan, self.compiler.short_name(), &output), output),
            Built::Program(program) => {
                let Some(runner) = &self.runner else {
                    return Ok((Verdict::Skipped("built, but not run".to_owned()), elapsed));
                };
                let mandatory = self.rules.mandatory(test);
                let kernels = match runner.mode.device {
                    Device::Host => Kernels::NoDriver,
                    Device::Nvidia | Device::Amd if self.rules.needs_no_kernel(test) => Kernels::None,
                    Device::Nvidia | Device::Amd => Kernels::Some,
                };
                let mut left = if self.rules.measures_time(test) { TIMING_ATTEMPTS } else { 1 };
                let (run, verdict) = loop {
                    left -= 1;
                    let run = self.alone_if(self.rules.measures_time(test), || {
                        runner.run(test, plan, &program, mandatory)
                    })?;
                    let mut verdict = verdict::on_run(plan, &run, kernels)?;
                    if let Some(checks) = &runner.checks {
                        let known: Vec<_> =
                            known.iter().copied().filter(|entry| entry.is_of(checks)).collect();
                        verdict = verdict::on_checks(plan, &run, &known, verdict)?;
                    }
                    if left == 0 && self.rules.measures_time(test) {
                        verdict = verdict::on_time(TIMING_ATTEMPTS, &run, verdict);
                    }
                    if left == 0 || !verdict.is_failure() {
                        break (run, verdict);
                    }
                };
                elapsed = run.finished.elapsed;
                let environment = runner.environment(test, plan, mandatory);
                let assignments: Vec<_> =
                    environment.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
                let command = runner.command(&program).join(" ");
                let how = format!("{} {command}", assignments.join(" "));
                (verdict, format!("run: {how}\nended: {}\n\n{}", run.finished.ending, run.finished.output))
            }
        };
        if let Verdict::Failed(symptom) = &verdict {
            let arguments = self.compiler.arguments(test, plan).join(" ");
            let text =
                format!("{}\n{symptom}\nbuild: {} {arguments}\n{output}", test.id(), self.compiler.name());
            fs::write(&report, text).with_context(|| report.display().to_string())?;
        }
        Ok((verdict, elapsed))
    }
}

/// A bar on a terminal; a line now and then anywhere else.
struct Progress {
    bar: ProgressBar,
    state: Mutex<State>,
}

struct State {
    failed: usize,
    reported: Instant,
}

impl Progress {
    fn new(tests: usize) -> Self {
        let style = ProgressStyle::with_template(
            "{bar:30} {pos}/{len} {percent}%  {per_sec:.1}  {elapsed} gone, {eta} to go  {msg}",
        );
        let bar = ProgressBar::new(tests as u64).with_style(style.expect("a constant that every run uses"));
        Self { bar, state: Mutex::new(State { failed: 0, reported: Instant::now() }) }
    }

    fn finished(&self, entry: &Entry) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.bar.inc(1);
        if entry.verdict.is_failure() {
            state.failed += 1;
            self.bar.set_message(format!("{} failed, last: {}", state.failed, entry.test));
        }
        if !std::io::stderr().is_terminal() && state.reported.elapsed() >= REPORT_INTERVAL {
            state.reported = Instant::now();
            let (done, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
            let (rate, left) = (self.bar.per_sec(), self.bar.eta().as_secs());
            eprintln!(
                "{done}/{all} done, {} failed, {rate:.1} per second, about {left} s to go",
                state.failed
            );
        }
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}
