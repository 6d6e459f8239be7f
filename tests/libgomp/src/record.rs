//! What came of each test, kept in a file that survives an interruption.
//!
//! Called by `schedule`, which adds a line per finished test, and by `main`, for
//! `--resume` and `--retry-failures`. The last line about a test counts.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::verdict::Verdict;

/// One test's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// `Test::id`.
    pub test: String,
    /// The digest of the driver that it ran on.
    pub driver: String,
    pub verdict: Verdict,
    /// How long it ran.
    pub seconds: f64,
}

/// The file of results.
pub struct Record {
    file: Mutex<File>,
    earlier: HashMap<String, Entry>,
}

impl Record {
    /// Opens the file and reads what earlier runs left.
    pub fn open(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).unwrap_or_default();
        // A line that was cut off by an interruption is as good as none.
        let entries = text.lines().filter_map(|line| serde_json::from_str::<Entry>(line).ok());
        let earlier: HashMap<String, Entry> = entries.map(|entry| (entry.test.clone(), entry)).collect();
        let mut kept: Vec<&Entry> = earlier.values().collect();
        kept.sort_by(|a, b| a.test.cmp(&b.test));
        let mut compact = String::new();
        for entry in kept {
            compact.push_str(&serde_json::to_string(entry)?);
            compact.push('\n');
        }
        fs::write(path, compact).with_context(|| path.display().to_string())?;
        let file = OpenOptions::new().append(true).open(path)?;
        Ok(Self { file: Mutex::new(file), earlier })
    }

    /// What an earlier run found out about a test.
    pub fn earlier(&self, test: &str) -> Option<&Entry> {
        self.earlier.get(test)
    }

    /// Adds a result.
    pub fn add(&self, entry: &Entry) -> Result<()> {
        let line = serde_json::to_string(entry)? + "\n";
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(file.write_all(line.as_bytes())?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Entry, Record};
    use crate::verdict::Verdict;

    #[test]
    fn the_last_result_counts_and_half_a_line_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        let entry = |verdict| Entry { test: "t".into(), driver: "d".into(), verdict, seconds: 1.0 };
        let record = Record::open(&path).unwrap();
        assert!(record.earlier("t").is_none());
        record.add(&entry(Verdict::Failed("x".into()))).unwrap();
        record.add(&entry(Verdict::Passed)).unwrap();
        fs::write(&path, fs::read_to_string(&path).unwrap() + "{\"test\":\"u\"").unwrap();
        let record = Record::open(&path).unwrap();
        assert_eq!(record.earlier("t").unwrap().verdict, Verdict::Passed);
        assert!(record.earlier("u").is_none());
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1);
    }
}
