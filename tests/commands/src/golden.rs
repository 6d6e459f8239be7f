//! Output that users see, compared with committed text.

use std::fs;
use std::path::Path;

use similar::TextDiff;

/// Whether committed texts are to be written anew, and not compared.
#[must_use]
pub fn is_blessing() -> bool {
    std::env::var_os("GANGWAY_BLESS").is_some_and(|value| value == "1")
}

/// Compares with a committed file. `GANGWAY_BLESS=1` writes it instead.
///
/// # Panics
/// They differ; the difference is told.
#[track_caller]
pub fn golden(file: &Path, actual: &str) {
    if is_blessing() {
        return fs::write(file, actual).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    let difference = TextDiff::from_lines(&*expected, actual);
    assert!(
        expected == actual,
        "{} differs; GANGWAY_BLESS=1 accepts it:\n{}",
        file.display(),
        difference.unified_diff().header("expected", "found")
    );
}
