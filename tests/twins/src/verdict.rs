//! Whether what has been found is what should be.

use gangway_checked::Found;
use gangway_findings::CHECKS;

/// Whether a wrong program's findings are those that its marked lines ask for.
///
/// # Errors
/// What is missing, or too much.
pub fn judge(check: &str, wanted: &[(u32, Option<String>)], found: &[Found]) -> Result<(), String> {
    assert!(CHECKS.iter().any(|known| known.name == check), "`{check}` is a check");
    if let Some(other) = found.iter().find(|found| found.check != check) {
        return Err(format!("a finding of another check: {other:?}"));
    }
    if found.is_empty() {
        return Err("nothing was found".to_owned());
    }
    for (line, text) in wanted {
        let fits = |found: &&Found| {
            found.lines.contains(line) && text.as_ref().is_none_or(|text| found.message.contains(text))
        };
        if !found.iter().any(|found| fits(&found)) {
            let text = text.as_ref().map_or_else(String::new, |text| format!(" with `{text}`"));
            return Err(format!("no finding in line {line}{text}, but {found:?}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;

    #[test]
    fn each_marked_line_needs_a_finding() {
        let (check, message) = ("race".to_owned(), "two threads".to_owned());
        let one = Found { check, message, lines: vec![3, 7], ..Found::default() };
        let text = |text: &str| Some(text.to_owned());
        let judge = |wanted: &[(u32, Option<String>)], found: &[Found]| judge("race", wanted, found);
        assert_eq!(judge(&[], slice::from_ref(&one)), Ok(()));
        assert_eq!(judge(&[(3, None), (7, text("two"))], slice::from_ref(&one)), Ok(()));
        judge(&[], &[]).expect_err("nothing");
        judge(&[(4, None)], slice::from_ref(&one)).expect_err("another line");
        judge(&[(3, text("three"))], slice::from_ref(&one)).expect_err("another text");
        let other = Found { check: "memory".to_owned(), ..one.clone() };
        judge(&[(3, None)], &[one, other]).expect_err("another check");
    }
}
