//! What has been found in a run, and whether that is what should be.

use serde_json::Value;

use gangway_findings::CHECKS;

/// A finding, as other tools read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub check: String,
    pub message: String,
    /// Of each of its places.
    pub lines: Vec<u32>,
}

/// Reads the findings of a SARIF file.
///
/// # Errors
/// The text is none of SARIF's.
pub fn found(sarif: &str) -> Result<Vec<Found>, String> {
    let value: Value = serde_json::from_str(sarif).map_err(|error| error.to_string())?;
    let results = value["runs"][0]["results"].as_array().ok_or("no results")?;
    let read = |result: &Value| {
        let places =
            ["locations", "relatedLocations"].map(|key| result[key].as_array().cloned().unwrap_or_default());
        let line = |place: &Value| place["physicalLocation"]["region"]["startLine"].as_u64();
        Found {
            check: result["ruleId"].as_str().unwrap_or_default().to_owned(),
            message: result["message"]["text"].as_str().unwrap_or_default().to_owned(),
            lines: places.concat().iter().filter_map(line).filter_map(|line| line.try_into().ok()).collect(),
        }
    };
    Ok(results.iter().map(read).collect())
}

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
        let one = Found { check: "race".to_owned(), message: "two threads".to_owned(), lines: vec![3, 7] };
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

    #[test]
    fn places_are_read_from_both_lists() {
        let place = r#"[{"physicalLocation":{"region":{"startLine":4}}}]"#;
        let result = format!(
            r#"{{"ruleId":"race","message":{{"text":"m"}},"locations":{place},"relatedLocations":{place}}}"#
        );
        let all = found(&format!(r#"{{"runs":[{{"results":[{result}]}}]}}"#)).unwrap();
        assert_eq!(all, [Found { check: "race".to_owned(), message: "m".to_owned(), lines: vec![4, 4] }]);
        found("{}").expect_err("no results");
    }
}
