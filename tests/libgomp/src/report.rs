//! The tables of a run: per folder, and what deserves a look.
//!
//! Called by `main` when all tests are done. One set of figures is written as
//! Markdown and as plain text. It also decides whether the run as a whole passed:
//! only if every failure was expected, and every expected failure failed.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::catalogue::Test;
use crate::record::Entry;
use crate::rules::Rules;
use crate::verdict::Verdict;

/// The figures of one folder.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Figures {
    passed: usize,
    unexpected_failures: usize,
    expected_failures: usize,
    unexpected_passes: usize,
    marked: usize,
    skipped: usize,
}

impl Figures {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.unexpected_failures += other.unexpected_failures;
        self.expected_failures += other.expected_failures;
        self.unexpected_passes += other.unexpected_passes;
        self.marked += other.marked;
        self.skipped += other.skipped;
    }

    /// Of the tests that could pass on hardware, how many do. Failures that the list expects count as failures.
    fn rate(self) -> Option<f64> {
        let all = self.passed + self.unexpected_failures + self.expected_failures;
        (all > 0).then(|| 100.0 * self.passed as f64 / all as f64)
    }

    fn row(self, name: &str) -> [String; COLUMNS] {
        let rate = self.rate().map_or_else(|| "-".to_owned(), |rate| format!("{rate:.1} %"));
        [
            name.to_owned(),
            self.passed.to_string(),
            self.unexpected_failures.to_string(),
            self.expected_failures.to_string(),
            self.unexpected_passes.to_string(),
            self.marked.to_string(),
            self.skipped.to_string(),
            rate,
        ]
    }
}

const COLUMNS: usize = 8;

const HEADINGS: [&str; COLUMNS] = [
    "folder",
    "passed",
    "failed",
    "expected to fail",
    "passed unexpectedly",
    "fail on hardware too",
    "not run",
    "rate",
];

/// What a run gave.
pub struct Report {
    folders: BTreeMap<String, Figures>,
    total: Figures,
    sections: Vec<(&'static str, Vec<String>)>,
}

impl Report {
    pub fn new(tests: &[Test], entries: &[Entry], rules: &Rules) -> Self {
        let mut folders: BTreeMap<String, Figures> = BTreeMap::new();
        let [mut failures, mut passes, mut expected, mut marked] = [const { Vec::new() }; 4];
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for (test, entry) in tests.iter().zip(entries) {
            let figures = folders.entry(folder(test)).or_default();
            match (&entry.verdict, rules.expected_failure(test)) {
                (Verdict::Failed(symptom), None) => {
                    figures.unexpected_failures += 1;
                    failures.push(format!("{}: {symptom}", entry.test));
                }
                (Verdict::Failed(symptom), Some(reason)) => {
                    figures.expected_failures += 1;
                    expected.push(format!("{}: {reason} ({symptom})", entry.test));
                }
                (Verdict::Passed | Verdict::PassedThoughMarked(_), Some(reason)) => {
                    figures.passed += 1;
                    figures.unexpected_passes += 1;
                    passes.push(format!("{}: {reason}", entry.test));
                }
                (Verdict::Passed, None) => figures.passed += 1,
                (Verdict::PassedThoughMarked(reason), None) => {
                    figures.passed += 1;
                    marked.push(format!("{}: passed though marked: {reason}", entry.test));
                }
                (Verdict::Marked(reason), _) => {
                    figures.marked += 1;
                    marked.push(format!("{}: {reason}", entry.test));
                }
                (Verdict::Skipped(reason), _) => {
                    figures.skipped += 1;
                    *reasons.entry(reason).or_default() += 1;
                }
            }
        }
        let mut total = Figures::default();
        folders.values().for_each(|figures| total.add(*figures));
        let mut slowest: Vec<&Entry> = entries.iter().filter(|entry| entry.seconds > 0.0).collect();
        slowest.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let slowest =
            slowest.iter().take(20).map(|entry| format!("{:.1} s: {}", entry.seconds, entry.test)).collect();
        let reasons = reasons.into_iter().map(|(reason, count)| format!("{count}: {reason}")).collect();
        let sections = vec![
            ("Failed", failures),
            ("Passed unexpectedly: take them off the list", passes),
            ("Failed as expected", expected),
            ("Fail on hardware too, as their own marks say", marked),
            ("Not run", reasons),
            ("Slowest", slowest),
        ];
        Self { folders, total, sections }
    }

    /// Whether everything came as expected.
    pub fn as_expected(&self) -> bool {
        self.total.unexpected_failures == 0 && self.total.unexpected_passes == 0
    }

    /// The figures in the words of `cargo test`, which scripts add up.
    pub fn result_line(&self) -> String {
        let total = self.total;
        format!(
            "test result: {}. {} passed; {} failed; {} ignored",
            if self.as_expected() { "ok" } else { "FAILED" },
            total.passed + total.expected_failures + total.marked - total.unexpected_passes,
            total.unexpected_failures + total.unexpected_passes,
            total.skipped
        )
    }

    fn rows(&self) -> Vec<[String; COLUMNS]> {
        let mut rows: Vec<_> = self.folders.iter().map(|(name, figures)| figures.row(name)).collect();
        rows.push(self.total.row("all"));
        rows
    }

    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let mut text = line(&HEADINGS.map(str::to_owned));
        text += &format!("|---|{}\n", "---:|".repeat(COLUMNS - 1));
        self.rows().iter().for_each(|row| text += &line(row));
        for (title, items) in self.sections.iter().filter(|(_, items)| !items.is_empty()) {
            let _ = write!(text, "\n## {title} ({})\n\n", items.len());
            items.iter().for_each(|item| text += &format!("- {item}\n"));
        }
        text
    }

    /// The same for a terminal; `brief` leaves out everything that needs no look.
    pub fn plain(&self, brief: bool) -> String {
        let mut rows = self.rows();
        rows.insert(0, HEADINGS.map(str::to_owned));
        let mut widths = [0; COLUMNS];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.len());
            }
        }
        let mut text = String::new();
        for row in rows {
            let _ = write!(text, "{:<width$}", row[0], width = widths[0]);
            row[1..].iter().zip(&widths[1..]).for_each(|(cell, width)| text += &format!("  {cell:>width$}"));
            text.push('\n');
        }
        let shown = if brief { 2 } else { self.sections.len() };
        for (title, items) in self.sections[..shown].iter().filter(|(_, items)| !items.is_empty()) {
            let _ = write!(text, "\n{title} ({}):\n", items.len());
            items.iter().for_each(|item| text += &format!("  {item}\n"));
        }
        text
    }
}

/// The folder that a test stands under in the tables: its file's, with the suite
/// that it runs in where several share it.
fn folder(test: &Test) -> String {
    match test.suite.common.filter(|common| test.name.contains(&format!("/../{common}/"))) {
        Some(common) => format!("{common} ({})", test.suite.name),
        None => test.suite.name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::Report;
    use crate::catalogue::Test;
    use crate::plan::Decision;
    use crate::record::Entry;
    use crate::rules::Rules;
    use crate::suite::{Level, SUITES};
    use crate::verdict::Verdict;

    fn report(verdicts: &[(&str, Verdict)]) -> Report {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("expected-failures.txt"), "libgomp.c/known.c * because\n").unwrap();
        fs::write(folder.path().join("exceptions.txt"), "").unwrap();
        let rules = Rules::read(folder.path(), &["expected-failures.txt"], &["exceptions.txt"], 12).unwrap();
        let tests: Vec<_> = verdicts
            .iter()
            .map(|(name, _)| Test {
                suite: &SUITES[0],
                name: format!("libgomp.c/{name}"),
                level: Level::O2,
                source: PathBuf::new(),
                decision: Decision::Skip(String::new()),
                files: Vec::new(),
            })
            .collect();
        let entries: Vec<_> = tests
            .iter()
            .zip(verdicts)
            .map(|(test, (_, verdict))| Entry {
                test: test.id(),
                driver: String::new(),
                verdict: verdict.clone(),
                seconds: 0.0,
            })
            .collect();
        Report::new(&tests, &entries, &rules)
    }

    #[test]
    fn expected_failures_are_fine_but_count() {
        let report = report(&[
            ("a.c", Verdict::Passed),
            ("known.c", Verdict::Failed("x".into())),
            ("b.c", Verdict::Marked("TODO".into())),
            ("c.c", Verdict::Skipped("needs y".into())),
        ]);
        assert!(report.as_expected());
        assert_eq!(report.result_line(), "test result: ok. 3 passed; 0 failed; 1 ignored");
        assert!(
            report.markdown().contains("| libgomp.c | 1 | 0 | 1 | 0 | 1 | 1 | 50.0 % |"),
            "{}",
            report.markdown()
        );
        assert!(report.plain(false).contains("libgomp.c/known.c -O2: because (x)"));
        assert!(!report.plain(true).contains("because"));
    }

    #[test]
    fn surprises_of_both_kinds_fail_the_run() {
        let failed = report(&[("a.c", Verdict::Failed("x".into()))]);
        assert!(!failed.as_expected() && failed.plain(true).contains("libgomp.c/a.c -O2: x"));
        let passed = report(&[("known.c", Verdict::Passed)]);
        assert!(!passed.as_expected());
        assert_eq!(passed.result_line(), "test result: FAILED. 0 passed; 1 failed; 0 ignored");
    }
}
