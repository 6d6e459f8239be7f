//! The committed lists: failures that are expected, and tests that are special.
//!
//! `expected-failures.txt` and `exceptions.txt` stand beside this crate's `Cargo.toml`, and
//! `expected-failures-gangway.txt` and `expected-failures-stock.txt` for what fails with Gangway's front end
//! or with stock libgomp only. `expected-failures-clang*.txt` and `exceptions-clang.txt` are about programs that
//! `gangway cc` compiles, and what they say of a failure begins with its type. Every line names tests, their level of optimisation and a reason, and may begin
//! with the releases of GCC that it is about: `13-16: NAME LEVEL REASON`. Called by `main`. A line that matches no test is an error, so that the lists cannot outlive what they are
//! about. Those for all releases are checked with GCC 12's tests, as later ones lack some.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::arguments::Device;
use crate::catalogue::Test;
use crate::selector::glob;
use crate::suite::Level;

/// One line of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    kind: Kind,
    /// The name of a test, in which `*` may stand for anything.
    pattern: String,
    /// Both levels, if none is named.
    level: Option<Level>,
    /// All releases of GCC, if none is named.
    releases: Option<RangeInclusive<u8>>,
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The test fails.
    Failure,
    /// The test passes without launching a kernel, and is right to.
    NoKernel,
    /// The test falls back to the host on purpose, so offloading is not mandatory.
    Fallback,
    /// gcc cannot build the test for the device as position-independent code.
    FixedPosition,
    /// The test measures time, which goes wrong now and then on a busy machine.
    Timing,
    /// clang's front end refuses the test.
    Refused,
    /// The test expects words of libgomp's or GCC's: what stands for the reason is the pattern of what is
    /// expected instead.
    Output,
    /// The test looks for GCC's names of kernels, and gets clang's.
    KernelNames,
    /// The test looks for the version of OpenACC that GCC's header has, and gets that of Gangway's.
    HeaderVersion,
    /// The program ends with an error, as the test's author wants and libgomp does not: with this pattern.
    Fails,
}

/// What a failure of a program of clang's may be about.
const TYPES: [&str; 5] = [
    // The test is about what only GCC has.
    "gcc: ",
    // It expects words, sizes or orders of events that are libgomp's own.
    "libgomp: ",
    // OpenACC 3.3 wants something else.
    "openacc: ",
    // clang fails behind its front end.
    "clang: ",
    // Gangway lacks it.
    "gangway: ",
];

/// What a failure on AMD's GPUs may be about.
const TYPES_OF_AMD: [&str; 5] = [
    // The compiler, or its library for devices, makes something else than the test wants.
    "gcc: ",
    // libgomp or its plugin does.
    "libgomp: ",
    // The test relies on what nothing promises.
    "test: ",
    // It takes longer than it may, as kernels are interpreted.
    "speed: ",
    // Gangway lacks it.
    "gangway: ",
];

/// The types of reasons in a list, if they have any.
fn types(list: &str) -> Option<&'static [&'static str]> {
    match list {
        _ if list.starts_with("expected-failures-clang") => Some(&TYPES),
        _ if list.starts_with("expected-failures-amd") => Some(&TYPES_OF_AMD),
        _ => None,
    }
}

/// Both lists, as far as they are about a release.
#[derive(Debug, Default)]
pub struct Rules {
    rules: Vec<Rule>,
}

/// The release whose tests all lines without releases have to match.
const FIRST: u8 = 12;

impl Rules {
    /// Reads the lists in `folder`: those of failures, and those of exceptions.
    pub fn read(folder: &Path, failures: &[&str], exceptions: &[&str], release: u8) -> Result<Self> {
        let mut rules = Vec::new();
        let mut file = |name: &str, parse: &dyn Fn(&str) -> Result<Rule>| -> Result<()> {
            let path = folder.join(name);
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            for (index, line) in text.lines().enumerate() {
                let line = line.trim();
                if !line.is_empty() && !line.starts_with('#') {
                    rules.push(parse(line).with_context(|| format!("{}:{}", path.display(), index + 1))?);
                }
            }
            Ok(())
        };
        for list in failures {
            let types = types(list);
            file(list, &|line| {
                let rule = Rule::parse(Kind::Failure, line)?;
                ensure!(
                    types.is_none_or(|types| types.iter().any(|name| rule.reason.starts_with(name))),
                    "`{}` begins with none of {:?}",
                    rule.reason,
                    types.unwrap_or_default()
                );
                Ok(rule)
            })?;
        }
        for list in exceptions {
            file(list, &|line| match line.split_once(char::is_whitespace) {
                Some(("no-kernel", rest)) => Rule::parse(Kind::NoKernel, rest),
                Some(("fallback", rest)) => Rule::parse(Kind::Fallback, rest),
                Some(("fixed-position", rest)) => Rule::parse(Kind::FixedPosition, rest),
                Some(("timing", rest)) => Rule::parse(Kind::Timing, rest),
                Some(("refused", rest)) => Rule::parse(Kind::Refused, rest),
                Some(("output", rest)) => Rule::parse(Kind::Output, rest),
                Some(("fails", rest)) => Rule::parse(Kind::Fails, rest),
                Some(("kernel-names", rest)) => Rule::parse(Kind::KernelNames, rest),
                Some(("header-version", rest)) => Rule::parse(Kind::HeaderVersion, rest),
                _ => bail!(
                    "`{line}` starts with none of no-kernel, fallback, fixed-position, timing, refused, output, \
                     fails, kernel-names, header-version"
                ),
            })?;
        }
        rules.retain(|rule| rule.releases.as_ref().is_none_or(|releases| releases.contains(&release)));
        if release != FIRST {
            // What is said of one release takes precedence.
            rules.sort_by_key(|rule| rule.releases.is_none());
        }
        Ok(Self { rules })
    }

    /// Checks that every line is about some test of a release.
    pub fn check(&self, tests: &[Test], release: u8) -> Result<()> {
        let checked = self.rules.iter().filter(|rule| release == FIRST || rule.releases.is_some());
        for rule in checked {
            ensure!(
                tests.iter().any(|test| rule.matches(&test.name, test.level)),
                "`{}` in the lists of tests matches no test",
                rule.pattern
            );
        }
        Ok(())
    }

    fn find(&self, kind: Kind, test: &Test) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.kind == kind && rule.matches(&test.name, test.level))
    }

    /// Why the test is expected to fail.
    pub fn expected_failure(&self, test: &Test) -> Option<&str> {
        self.find(Kind::Failure, test).map(|rule| rule.reason.as_str())
    }

    /// Why clang's front end refuses the test.
    pub fn refused(&self, test: &Test) -> Option<&str> {
        self.find(Kind::Refused, test).map(|rule| rule.reason.as_str())
    }

    /// What the test's output has to match instead of its own patterns.
    pub fn output(&self, test: &Test) -> Option<&str> {
        self.find(Kind::Output, test)
            .or_else(|| self.find(Kind::Fails, test))
            .map(|rule| rule.reason.as_str())
    }

    /// Whether the program has to end with an error, though its test does not say so.
    pub fn has_to_fail(&self, test: &Test) -> bool {
        self.find(Kind::Fails, test).is_some()
    }

    /// Whether the test may pass without a kernel.
    pub fn needs_no_kernel(&self, test: &Test) -> bool {
        self.find(Kind::NoKernel, test).is_some()
    }

    /// Whether the test measures time: a busy machine makes it fail now and then.
    pub fn measures_time(&self, test: &Test) -> bool {
        self.find(Kind::Timing, test).is_some()
    }

    /// The options that a test needs besides those of its suite.
    pub fn options(&self, test: &Test, device: Device) -> &'static [&'static str] {
        // What is position-independent has local aliases, which there are not on nvptx alone.
        if device != Device::Amd && self.find(Kind::FixedPosition, test).is_some() {
            return &["-foffload-options=-fno-pie"];
        }
        if self.find(Kind::HeaderVersion, test).is_some() {
            return &["-include", concat!(env!("CARGO_MANIFEST_DIR"), "/include/header_version.h")];
        }
        match self.find(Kind::KernelNames, test) {
            Some(_) => &["-include", concat!(env!("CARGO_MANIFEST_DIR"), "/include/kernel_names.h")],
            None => &[],
        }
    }

    /// Whether the test has to run with offloading mandatory.
    pub fn mandatory(&self, test: &Test) -> bool {
        self.find(Kind::Fallback, test).is_none()
    }
}

impl Rule {
    /// Reads `NAME LEVEL REASON`, with the releases before it if it is not about all.
    fn parse(kind: Kind, line: &str) -> Result<Self> {
        let (releases, line) = match line.split_once(": ").map(|(head, rest)| (releases(head), rest)) {
            Some((Some(releases), rest)) => (Some(releases), rest.trim_start()),
            _ => (None, line),
        };
        let mut fields = line.splitn(2, char::is_whitespace);
        let pattern = fields.next().unwrap_or_default().to_owned();
        let rest = fields.next().unwrap_or_default().trim_start();
        let (level, reason) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let level = match level {
            "*" => None,
            "-O0" => Some(Level::O0),
            "-O2" => Some(Level::O2),
            _ => bail!("`{level}` is not a level: -O0, -O2 or *"),
        };
        ensure!(!reason.trim().is_empty(), "no reason is given for `{pattern}`");
        Ok(Self { kind, pattern, level, releases, reason: reason.trim().to_owned() })
    }

    fn matches(&self, name: &str, level: Level) -> bool {
        self.level.is_none_or(|it| it == level) && glob(&self.pattern, name)
    }
}

/// The releases that `13` or `13-16` names.
fn releases(text: &str) -> Option<RangeInclusive<u8>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Kind, Rule, Rules};
    use crate::suite::Level;

    #[test]
    fn lines() {
        let rule = Rule::parse(Kind::Failure, "libgomp.oacc-c*/x.c  -O2  it needs y").unwrap();
        assert!(rule.matches("libgomp.oacc-c++/../common/x.c", Level::O2));
        assert!(!rule.matches("libgomp.oacc-c/x.c", Level::O0) && !rule.matches("libgomp.c/x.c", Level::O2));
        assert_eq!(rule.reason, "it needs y");
        for line in ["x.c", "x.c -O2", "x.c -O1 why", "x.c *"] {
            assert!(Rule::parse(Kind::Failure, line).is_err(), "{line}");
        }
    }

    #[test]
    fn files() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("expected-failures.txt"), "# comment\n\na.c * why\n").unwrap();
        fs::write(folder.path().join("exceptions.txt"), "no-kernel b.c -O0 why\nfallback c.c * why\n")
            .unwrap();
        let rules = Rules::read(folder.path(), &["expected-failures.txt"], &["exceptions.txt"], 12).unwrap();
        assert_eq!(
            rules.rules.iter().map(|rule| rule.kind).collect::<Vec<_>>(),
            [Kind::Failure, Kind::NoKernel, Kind::Fallback]
        );
        assert!(rules.check(&[], 12).unwrap_err().to_string().contains("`a.c`"));
        let both = ["expected-failures.txt", "expected-failures-gangway.txt"];
        assert!(Rules::read(folder.path(), &both, &["exceptions.txt"], 12).is_err());
        fs::write(folder.path().join("expected-failures-gangway.txt"), "d.c * why\n").unwrap();
        assert_eq!(Rules::read(folder.path(), &both, &["exceptions.txt"], 12).unwrap().rules.len(), 4);
        fs::write(folder.path().join("exceptions.txt"), "flaky b.c * why\n").unwrap();
        assert!(
            format!(
                "{:#}",
                Rules::read(folder.path(), &["expected-failures.txt"], &["exceptions.txt"], 12).unwrap_err()
            )
            .contains("exceptions.txt:1")
        );
    }

    #[test]
    fn failures_of_clangs_programs_have_types() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("exceptions.txt"), "refused a.c * why\noutput b.c * a .*b\n").unwrap();
        let list = "expected-failures-clang-gpu.txt";
        let read = |text: &str| {
            fs::write(folder.path().join(list), text).unwrap();
            Rules::read(folder.path(), &[list], &["exceptions.txt"], 12)
        };
        assert!(read("c.c * because\n").is_err());
        let rules = read("c.c * openacc: because\n").unwrap().rules;
        assert_eq!(rules[0].reason, "openacc: because");
        assert_eq!((rules[1].kind, rules[2].kind), (Kind::Refused, Kind::Output));
        assert_eq!(rules[2].reason, "a .*b");
    }

    #[test]
    fn lines_about_some_releases() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("list"), "a.c * always\n14-15: a.c * now\n12: b.c -O2 first\n").unwrap();
        fs::write(folder.path().join("exceptions.txt"), "no-kernel 13-16: c.c * why: so\n").unwrap();
        let reasons = |release| {
            let rules = Rules::read(folder.path(), &["list"], &["exceptions.txt"], release).unwrap();
            rules.rules.into_iter().map(|rule| rule.reason).collect::<Vec<_>>()
        };
        assert_eq!(reasons(12), ["always", "first"]);
        assert_eq!(reasons(13), ["why: so", "always"]);
        assert_eq!(reasons(15), ["now", "why: so", "always"]);
        // Later releases need not have the tests of lines that are about all.
        fs::write(folder.path().join("exceptions.txt"), "").unwrap();
        let check = |release| {
            Rules::read(folder.path(), &["list"], &["exceptions.txt"], release).unwrap().check(&[], release)
        };
        assert!(check(12).is_err() && check(13).is_ok() && check(14).is_err());
    }
}
