//! From the directives of a test to what is done with it: build, run, expect.
//!
//! Called by `catalogue` once per test and level of optimisation. Directives are
//! taken in the order in which they stand, as DejaGnu does, since options given
//! so far decide what a later one matches. A directive that is not known is an
//! error: passing over it could turn a failure into a pass.

use anyhow::{Context, Result, bail, ensure};

use crate::arguments::Device;
use crate::directive::Directive;
use crate::pattern::compiled;
use crate::selector::{Clause, Selector};
use crate::suite::{Level, Suite};
use crate::target::{Target, is_level};

/// What becomes of a test.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    Run(Box<Plan>),
    /// Not run, for this reason.
    Skip(String),
}

/// How a test is built and run, and what it has to do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// All options between the source file and the libraries.
    pub options: Vec<String>,
    /// More source files, relative to the folder of the first.
    pub additional_sources: Vec<String>,
    pub environment: Vec<(String, String)>,
    /// Whether the program has to end with an error.
    pub should_fail: bool,
    /// What the output has to match: the patterns of all `dg-output` in a row.
    pub output: Option<String>,
    /// The file beside the source that has the whole output.
    pub output_file: Option<String>,
    /// The time limit in seconds, where the test has its own.
    pub seconds: Option<u64>,
    /// What to multiply the time limit by.
    pub time_factor: f64,
    pub marks: Marks,
}

/// Failures that the test itself announces, with the reasons that it gives.
/// They are failures on hardware too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    pub compile: Option<String>,
    pub run: Option<String>,
    pub output: Option<String>,
}

/// Reads the directives of a test of `suite` for one level of optimisation.
pub fn decide(
    suite: &'static Suite,
    device: Device,
    level: Level,
    directives: &[Directive],
) -> Result<Decision> {
    let mut draft = Draft::new(suite, device, level);
    for directive in directives {
        draft.take(directive).with_context(|| format!("line {}: {}", directive.line, directive.name))?;
    }
    draft.finish(level)
}

/// A plan while directives are being read.
struct Draft {
    suite: &'static Suite,
    device: Device,
    /// What the `.exp` file gives every test.
    fixed: Vec<String>,
    /// What `dg-options` replaces and `dg-additional-options` adds to.
    own: Vec<String>,
    /// `run`, `link`, `compile`...; a test without `dg-do` is run.
    action: String,
    /// What the targets of `dg-do` said so far.
    selected: Option<bool>,
    skip: Option<String>,
    plan: Plan,
}

impl Draft {
    fn new(suite: &'static Suite, device: Device, level: Level) -> Self {
        let mut fixed: Vec<String> = suite.options(device).into_iter().map(str::to_owned).collect();
        let mut own = Vec::new();
        let place = if suite.level_is_default() { &mut own } else { &mut fixed };
        place.push(level.option().to_owned());
        Self {
            suite,
            device,
            fixed,
            own,
            action: "run".to_owned(),
            selected: None,
            skip: None,
            plan: Plan { time_factor: 1.0, ..Plan::default() },
        }
    }

    fn options(&self) -> Vec<String> {
        [&self.fixed[..], &self.own[..]].concat()
    }

    /// Evaluates something against the machine and the options so far.
    fn ask<T>(&self, question: impl FnOnce(&Target) -> Result<T>) -> Result<T> {
        question(&Target { suite: self.suite, device: self.device, options: &self.options() })
    }

    fn applies(&self, clause: Option<&&str>) -> Result<bool> {
        let Some(clause) = clause else { return Ok(true) };
        let clause = Clause::parse(clause)?;
        self.ask(|target| clause.applies(target))
    }

    fn take(&mut self, directive: &Directive) -> Result<()> {
        let words: Vec<&str> = directive.words.iter().map(String::as_str).collect();
        match (directive.name.as_str(), &words[..]) {
            ("dg-do", [action, clause @ ..]) => self.take_do(action, clause.first())?,
            ("dg-options", [options, clause @ ..]) => {
                if self.applies(clause.first())? {
                    self.own = split_options(options);
                }
            }
            ("dg-additional-options", [options, clause @ ..]) => {
                if self.applies(clause.first())? {
                    self.own.extend(split_options(options));
                }
            }
            // What those in use would add, x86 needs not.
            ("dg-add-options", ["__float128" | "weak_undefined"]) => {}
            ("dg-additional-sources", [sources]) => {
                self.plan.additional_sources = split_options(sources);
            }
            // A slip of one test's for `dg-do run`.
            ("dg-run", []) => {}
            // All hosts of nvptx offloading have aliases.
            ("dg-require-alias", _) => {}
            ("dg-require-effective-target", [name, clause @ ..]) => {
                let needed = match clause.first() {
                    Some(text) => self.applies(Some(text))?,
                    None => true,
                };
                let keyword = Selector::Keyword((*name).to_owned());
                if needed && !self.ask(|target| keyword.holds(target))? {
                    self.skip_because(format!("needs {name}"));
                }
            }
            ("dg-skip-if", [reason, targets, lists @ ..]) => {
                if self.conditions_hold(targets, lists)? {
                    self.skip_because(said("dg-skip-if", reason));
                }
            }
            ("dg-xfail-if", [reason, targets, lists @ ..]) => {
                if self.conditions_hold(targets, lists)? {
                    self.plan.marks.compile = Some(said("dg-xfail-if", reason));
                }
            }
            ("dg-excess-errors", [reason, clause @ ..]) => {
                if self.applies(clause.first())? {
                    self.plan.marks.compile = Some(said("dg-excess-errors", reason));
                }
            }
            ("dg-xfail-run-if", [reason, targets, lists @ ..]) => {
                if self.conditions_hold(targets, lists)? {
                    self.plan.marks.run = Some(said("dg-xfail-run-if", reason));
                }
            }
            ("dg-shouldfail", []) | ("dg-shouldfail", [_]) => self.plan.should_fail = true,
            ("dg-shouldfail", [_, targets, lists @ ..]) => {
                self.plan.should_fail |= self.conditions_hold(targets, lists)?;
            }
            ("dg-output", [pattern, clause @ ..]) => self.take_output(pattern, clause.first())?,
            ("dg-output-file", [file]) => self.plan.output_file = Some((*file).to_owned()),
            ("dg-set-target-env-var", [name, value, clause @ ..]) => {
                if self.applies(clause.first())? {
                    self.plan.environment.push(((*name).to_owned(), (*value).to_owned()));
                }
            }
            ("dg-timeout", [seconds, clause @ ..]) => {
                if self.applies(clause.first())? {
                    self.plan.seconds = Some(seconds.parse()?);
                }
            }
            ("dg-timeout-factor", [factor, clause @ ..]) => {
                if self.applies(clause.first())? {
                    self.plan.time_factor = factor.parse()?;
                }
            }
            _ => bail!("not known in this form: {:?}", directive.words),
        }
        Ok(())
    }

    /// Several `dg-do` may name different targets: one that selects this machine
    /// wins over those that do not.
    fn take_do(&mut self, action: &str, clause: Option<&&str>) -> Result<()> {
        match clause {
            None => {
                self.selected = Some(true);
                self.plan.marks.run = None;
            }
            Some(text) => {
                let clause = Clause::parse(text)?;
                if !self.ask(|target| clause.applies(target))? {
                    self.selected = Some(self.selected == Some(true));
                } else {
                    self.selected = Some(true);
                    if self.ask(|target| clause.fails(target))? {
                        self.plan.marks.run = Some(format!("dg-do {action} {text}"));
                    }
                }
            }
        }
        self.action = action.to_owned();
        Ok(())
    }

    fn take_output(&mut self, pattern: &str, clause: Option<&&str>) -> Result<()> {
        let clause = clause.map_or_else(|| Ok(Clause::default()), |text| Clause::parse(text))?;
        if self.ask(|target| clause.applies(target))? {
            self.plan.output.get_or_insert_default().push_str(pattern);
            if self.ask(|target| clause.fails(target))? {
                self.plan.marks.output = Some("dg-output with xfail".to_owned());
            }
        }
        Ok(())
    }

    /// `{ targets } { included options } { excluded options }`, of which the
    /// lists of options may be missing.
    fn conditions_hold(&self, targets: &str, lists: &[&str]) -> Result<bool> {
        ensure!(lists.len() <= 2, "more than two lists of options");
        let targets = Selector::expression(targets)?;
        let list = |at: usize, default: &str| crate::tcl::words(lists.get(at).unwrap_or(&default));
        let (included, excluded) = (list(0, "*")?, list(1, "")?);
        self.ask(|target| Ok(targets.holds(target)? && target.options_match(&included, &excluded)))
    }

    fn skip_because(&mut self, reason: String) {
        self.skip.get_or_insert(reason);
    }

    fn finish(mut self, level: Level) -> Result<Decision> {
        if let Some(reason) = self.skip {
            return Ok(Decision::Skip(reason));
        }
        if self.selected == Some(false) {
            return Ok(Decision::Skip(format!("dg-do {}: not for this target", self.action)));
        }
        if self.action != "run" {
            return Ok(Decision::Skip(format!("dg-do {}: tests the compiler only", self.action)));
        }
        if self.suite.level_is_default() {
            match self.own.iter().rev().find(|option| is_level(option)).map(String::as_str) {
                None => self.own.insert(0, level.option().to_owned()),
                Some(own) if own == level.option() => {}
                Some("-O0") => return Ok(Decision::Skip("the test fixes -O0".to_owned())),
                // One run with another level of its own stands under -O2.
                Some(own) if level == Level::O0 => {
                    return Ok(Decision::Skip(format!("the test fixes {own}")));
                }
                Some(_) => {}
            }
        }
        self.plan.options = self.options();
        if let Some(pattern) = &self.plan.output {
            // A pattern that cannot be understood must show now, not when the test has run.
            compiled(pattern)?;
        }
        Ok(Decision::Run(Box::new(self.plan)))
    }
}

fn split_options(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// A reason for the tables.
fn said(directive: &str, reason: &str) -> String {
    if reason.is_empty() { directive.to_owned() } else { format!("{directive}: {reason}") }
}

#[cfg(test)]
mod tests {
    use super::{Decision, Plan, decide};
    use crate::arguments::Device;
    use crate::directive::directives;
    use crate::suite::{Level, SUITES};

    const C: usize = 0;
    const FORTRAN: usize = 2;
    const ACC_C: usize = 3;

    fn decision(suite: usize, level: Level, text: &str) -> Decision {
        decide(&SUITES[suite], Device::Nvidia, level, &directives(text).unwrap()).unwrap()
    }

    fn plan(suite: usize, level: Level, text: &str) -> Plan {
        match decision(suite, level, text) {
            Decision::Run(plan) => *plan,
            Decision::Skip(reason) => panic!("skipped: {reason}"),
        }
    }

    fn reason(suite: usize, level: Level, text: &str) -> String {
        match decision(suite, level, text) {
            Decision::Run(plan) => panic!("runs: {plan:?}"),
            Decision::Skip(reason) => reason,
        }
    }

    #[test]
    fn a_test_without_directives_is_run() {
        assert_eq!(plan(C, Level::O0, "").options, ["-foffload=nvptx-none", "-O0"]);
        assert_eq!(
            plan(ACC_C, Level::O2, "").options,
            ["-DACC_DEVICE_TYPE_nvidia=1", "-DACC_MEM_SHARED=0", "-foffload=nvptx-none", "-O2"]
        );
    }

    #[test]
    fn options_replace_and_add() {
        let text = "{ dg-options \"-std=c99\" }\n{ dg-additional-options \"-lm -g\" { target c } }\n\
                    { dg-additional-options \"-DX\" { target c++ } }";
        assert_eq!(
            plan(C, Level::O0, text).options,
            ["-foffload=nvptx-none", "-O0", "-std=c99", "-lm", "-g"]
        );
        assert_eq!(plan(FORTRAN, Level::O2, "{ dg-options \"-cpp\" }").options.last().unwrap(), "-cpp");
    }

    #[test]
    fn a_level_of_the_tests_own_runs_once() {
        let text = "{ dg-options \"-O3\" }";
        assert_eq!(reason(C, Level::O0, text), "the test fixes -O3");
        assert_eq!(plan(C, Level::O2, text).options, ["-foffload=nvptx-none", "-O3"]);
        assert_eq!(reason(C, Level::O2, "{ dg-options \"-O0\" }"), "the test fixes -O0");
        // OpenACC suites and Fortran go through both in any case.
        assert_eq!(plan(ACC_C, Level::O0, text).options.last().unwrap(), "-O3");
    }

    #[test]
    fn what_dg_do_selects() {
        assert_eq!(reason(C, Level::O2, "{ dg-do compile }"), "dg-do compile: tests the compiler only");
        plan(ACC_C, Level::O2, "{ dg-do run { target openacc_nvidia_accel_selected } }");
        assert!(
            reason(C, Level::O2, "{ dg-do run { target openacc_nvidia_accel_selected } }")
                .contains("not for")
        );
        let two = "{ dg-do link }\n{ dg-do run { target lto } }\n";
        plan(C, Level::O2, two);
        assert!(plan(C, Level::O2, "{ dg-do run { xfail *-*-* } }").marks.run.is_some());
    }

    #[test]
    fn skipping_looks_at_options() {
        let text = "{ dg-skip-if \"\" { *-*-* } { \"*\" } { \"-DACC_MEM_SHARED=0\" } }";
        plan(ACC_C, Level::O2, text);
        let text = "{ dg-skip-if \"why\" { *-*-* } { \"-O0\" } { \"\" } }";
        plan(ACC_C, Level::O2, text);
        assert_eq!(reason(ACC_C, Level::O0, text), "dg-skip-if: why");
        assert_eq!(
            reason(C, Level::O0, "{ dg-require-effective-target openacc_cublas }"),
            "needs openacc_cublas"
        );
    }

    #[test]
    fn expectations() {
        let text = "{ dg-output \"a\\n\" }\n{ dg-output \"b\" { target { ! openacc_host_selected } } }\n\
                    { dg-output \"c\" { target openacc_host_selected } }\n{ dg-shouldfail \"\" }\n\
                    { dg-set-target-env-var \"GOMP_DEBUG\" \"1\" }\n{ dg-timeout 10 }\n{ dg-timeout-factor 2.0 }\n\
                    { dg-xfail-run-if \"TODO\" { *-*-* } { \"-DACC_MEM_SHARED=0\" } }";
        let plan = plan(ACC_C, Level::O2, text);
        assert_eq!(plan.output.as_deref(), Some("a\nb"));
        assert!(plan.should_fail);
        assert_eq!(plan.environment, [("GOMP_DEBUG".to_owned(), "1".to_owned())]);
        assert_eq!((plan.seconds, plan.time_factor), (Some(10), 2.0));
        assert_eq!(plan.marks.run.as_deref(), Some("dg-xfail-run-if: TODO"));
    }

    #[test]
    fn unknown_directives_are_errors() {
        let found = directives("{ dg-mystery x }").unwrap();
        let error = decide(&SUITES[C], Device::Nvidia, Level::O2, &found).unwrap_err();
        assert!(format!("{error:#}").starts_with("line 1: dg-mystery"), "{error:#}");
    }
}
