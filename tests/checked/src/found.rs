//! What has been found in a run, as tools read it.

use serde_json::Value;

/// A finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub check: String,
    pub message: String,
    /// The line that would suppress it: `race:heat.c:17`.
    pub suppression: String,
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
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let read = |result: &Value| {
        let places =
            ["locations", "relatedLocations"].map(|key| result[key].as_array().cloned().unwrap_or_default());
        let line = |place: &Value| place["physicalLocation"]["region"]["startLine"].as_u64();
        Found {
            check: text(&result["ruleId"]),
            message: text(&result["message"]["text"]),
            suppression: text(&result["partialFingerprints"]["suppression/v1"]),
            lines: places.concat().iter().filter_map(line).filter_map(|line| line.try_into().ok()).collect(),
        }
    };
    Ok(results.iter().map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_from_both_lists() {
        let place = r#"[{"physicalLocation":{"region":{"startLine":4}}}]"#;
        let result = format!(
            r#"{{"ruleId":"race","message":{{"text":"m"}},"locations":{place},"relatedLocations":{place},
                "partialFingerprints":{{"suppression/v1":"race:a.c:4"}}}}"#
        );
        let all = found(&format!(r#"{{"runs":[{{"results":[{result}]}}]}}"#)).unwrap();
        let suppression = "race:a.c:4".to_owned();
        let wanted =
            Found { check: "race".to_owned(), message: "m".to_owned(), suppression, lines: vec![4, 4] };
        assert_eq!(all, [wanted]);
        found("{}").expect_err("no results");
    }
}
