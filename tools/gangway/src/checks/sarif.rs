//! What was found, for tools of code review.

use gangway_findings::{CHECKS, Check, Finding, Side};
use serde_json::{Value, json};

/// SARIF 2.1.0 (OASIS), as far as it is needed: a result for each finding, with both places.
pub fn sarif(findings: &[Finding]) -> Value {
    let location = |side: &Side| {
        let file = side.source.as_ref().map_or("unknown", |source| &source.file);
        let mut physical = json!({ "artifactLocation": { "uri": file } });
        if let Some(source) = &side.source {
            physical["region"] =
                json!({ "startLine": source.line.max(1), "startColumn": source.column.max(1) });
        }
        json!({ "physicalLocation": physical, "message": { "text": side.what } })
    };
    let result = |finding: &Finding| {
        let mut locations = finding.sides.iter().rev().map(location);
        let main: Vec<Value> = locations.next().into_iter().collect();
        let kernel = match &finding.kernel[..] {
            "" => String::new(),
            kernel => format!(" (kernel {kernel})"),
        };
        json!({
            "ruleId": finding.check,
            "level": "error",
            "message": { "text": finding.message.clone() + &kernel },
            "locations": main,
            "relatedLocations": locations.collect::<Vec<_>>(),
            // What tells it from others when a file is looked at again.
            "partialFingerprints": { "suppression/v1": finding.suppression() },
        })
    };
    let results: Vec<Value> = findings.iter().map(result).collect();
    let rule = |check: &Check| json!({ "id": check.name, "shortDescription": { "text": check.about } });
    let rules: Vec<Value> = CHECKS.iter().map(rule).collect();
    json!({
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [{
            "tool": { "driver": { "name": "gangway", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "results": results,
        }],
    })
}

#[cfg(test)]
mod tests {
    use gangway_findings::Source;

    use super::*;

    #[test]
    fn a_race_has_both_places() {
        let side = |source| Side { source, ..Side::default() };
        let source = Source { file: "a.c".to_owned(), line: 7, column: 0 };
        let (message, kernel) = ("m".to_owned(), "k".to_owned());
        let sides = vec![side(Some(source)), side(None)];
        let value = sarif(&[Finding { message, kernel, sides, ..Finding::default() }]);
        let result = &value["runs"][0]["results"][0];
        assert_eq!(result["message"]["text"], "m (kernel k)");
        assert_eq!(result["partialFingerprints"]["suppression/v1"], ":a.c:7");
        assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "unknown");
        let other = &result["relatedLocations"][0]["physicalLocation"];
        assert_eq!(
            (&other["artifactLocation"]["uri"], &other["region"]["startLine"]),
            (&json!("a.c"), &json!(7))
        );
    }
}
