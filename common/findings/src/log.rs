//! The file for tools, `GANGWAY_CHECK_LOG`: a line of JSON for each finding.

use std::fmt::Arguments;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use crate::finding::Finding;

/// Adds it to the file, if there is one.
pub fn add(finding: &Finding, print: impl Fn(Arguments<'_>)) {
    let Some(file) = std::env::var_os("GANGWAY_CHECK_LOG") else { return };
    if let Err(error) = append(Path::new(&file), finding) {
        print(format_args!("cannot write {}: {error}", Path::new(&file).display()));
    }
}

/// Processes of a program share the file: a line is written at once.
fn append(file: &Path, finding: &Finding) -> io::Result<()> {
    let line = serde_json::to_string(finding)? + "\n";
    OpenOptions::new().append(true).create(true).open(file)?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_lines() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("found");
        let finding = Finding { message: "two\nlines".to_owned(), ..Finding::default() };
        append(&file, &finding).unwrap();
        append(&file, &finding).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.lines().filter_map(Finding::read).count(), 2);
        append(folder.path(), &finding).expect_err("a folder is no file");
    }
}
