//! Reads the recorder's environment variables.
//!
//! Called once, by `configure_from_env`. A value it does not understand is a
//! complaint for standard error, never a reason to stop the program.

use std::env;
use std::path::PathBuf;

use crate::Report;
use crate::recorder::DEFAULT_EVENT_LIMIT;

pub struct Requested {
    pub trace: Option<PathBuf>,
    pub report: Report,
    pub event_limit: u64,
    pub complaints: Vec<String>,
}

pub fn from_env() -> Requested {
    let mut complaints = Vec::new();
    let report = env::var("GANGWAY_REPORT")
        .ok()
        .and_then(|value| parse_report(&value).map_err(|complaint| complaints.push(complaint)).ok());
    let event_limit = env::var("GANGWAY_TRACE_EVENTS").ok().and_then(|value| {
        value
            .trim()
            .parse()
            .map_err(|_| {
                complaints.push(format!(
                    "GANGWAY_TRACE_EVENTS is '{value}', expected a number of spans; using {DEFAULT_EVENT_LIMIT}"
                ))
            })
            .ok()
    });
    Requested {
        trace: env::var_os("GANGWAY_TRACE").filter(|file| !file.is_empty()).map(PathBuf::from),
        report: report.unwrap_or_default(),
        event_limit: event_limit.unwrap_or(DEFAULT_EVENT_LIMIT),
        complaints,
    }
}

fn parse_report(value: &str) -> Result<Report, String> {
    let (form, file) = match value.split_once(':') {
        Some((form, file)) => (form, (!file.is_empty()).then(|| PathBuf::from(file))),
        None => (value, None),
    };
    match form {
        "" | "0" | "off" => Ok(Report::Off),
        "1" | "text" => Ok(Report::Text(file)),
        "json" => Ok(Report::Json(file)),
        _ => Err(format!(
            "GANGWAY_REPORT is '{value}', expected 1, text[:FILE], json[:FILE] or 0; no report will be made"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_forms() {
        assert_eq!(parse_report("1"), Ok(Report::Text(None)));
        assert_eq!(parse_report("text:r.txt"), Ok(Report::Text(Some("r.txt".into()))));
        assert_eq!(parse_report("json"), Ok(Report::Json(None)));
        assert_eq!(parse_report("json:/tmp/a:b"), Ok(Report::Json(Some("/tmp/a:b".into()))));
        assert_eq!(parse_report("0"), Ok(Report::Off));
        assert_eq!(
            parse_report("yes").unwrap_err(),
            "GANGWAY_REPORT is 'yes', expected 1, text[:FILE], json[:FILE] or 0; no report will be made"
        );
    }
}
