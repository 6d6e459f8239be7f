//! Reads the recorder's environment variables.
//!
//! A value it does not understand is a complaint for standard error, never a reason to
//! stop the program.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::Report;
use crate::buffer::DEFAULT_EVENT_LIMIT;
use crate::say::say;

/// The page that is written where none is named.
pub const PAGE: &str = "gangway-report.html";

/// What is to be recorded for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Files that the trace is written to.
    pub traces: Vec<PathBuf>,
    pub report: Report,
    /// Spans that a trace keeps.
    pub event_limit: u64,
}

impl Default for Request {
    fn default() -> Self {
        Request { traces: Vec::new(), report: Report::Off, event_limit: DEFAULT_EVENT_LIMIT }
    }
}

impl Request {
    /// What the environment asks for; what it asks for in vain is said.
    #[must_use]
    pub fn from_env() -> Self {
        let mut request = Request::default();
        if let Some(value) = env::var_os("GANGWAY_REPORT") {
            match parse_report(&value) {
                Ok(report) => request.report = report,
                Err(complaint) => say(&complaint),
            }
        }
        if let Some(value) = env::var_os("GANGWAY_TRACE_EVENTS") {
            let value = value.to_string_lossy();
            match value.trim().parse() {
                Ok(limit) => request.event_limit = limit,
                Err(_) => say(&format!(
                    "GANGWAY_TRACE_EVENTS is '{value}', expected a number of spans; using {DEFAULT_EVENT_LIMIT}"
                )),
            }
        }
        let trace = env::var_os("GANGWAY_TRACE").filter(|file| !file.is_empty());
        request.traces.extend(trace.map(PathBuf::from));
        request
    }

    /// Whether it is for anything.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        !self.traces.is_empty() || self.report != Report::Off
    }

    /// Whether single spans are kept, and not only their sums.
    #[must_use]
    pub fn wants_spans(&self) -> bool {
        !self.traces.is_empty() || matches!(self.report, Report::Html(_))
    }
}

/// The name of a file need not be UTF-8.
fn parse_report(value: &OsStr) -> Result<Report, String> {
    let bytes = value.as_bytes();
    let (form, file) = match bytes.iter().position(|&byte| byte == b':') {
        Some(colon) => (&bytes[..colon], &bytes[colon + 1..]),
        None => (bytes, &b""[..]),
    };
    let file = (!file.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(file)));
    match form {
        b"" | b"0" | b"off" => Ok(Report::Off),
        b"1" | b"text" => Ok(Report::Text(file)),
        b"json" => Ok(Report::Json(file)),
        b"html" => Ok(Report::Html(file.unwrap_or_else(|| PAGE.into()))),
        _ => Err(format!(
            "GANGWAY_REPORT is '{}', expected 1, text[:FILE], json[:FILE], html[:FILE] or 0; no report will be made",
            value.display()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_forms() {
        let parse_report = |value: &str| super::parse_report(value.as_ref());
        assert_eq!(parse_report("1"), Ok(Report::Text(None)));
        assert_eq!(parse_report("text:r.txt"), Ok(Report::Text(Some("r.txt".into()))));
        assert_eq!(parse_report("json"), Ok(Report::Json(None)));
        assert_eq!(parse_report("json:/tmp/a:b"), Ok(Report::Json(Some("/tmp/a:b".into()))));
        assert_eq!(parse_report("html:a.html"), Ok(Report::Html("a.html".into())));
        assert_eq!(parse_report("html"), Ok(Report::Html("gangway-report.html".into())));
        assert_eq!(parse_report("0"), Ok(Report::Off));
        let strange = OsStr::from_bytes(b"json:r\xff");
        let file = PathBuf::from(OsStr::from_bytes(b"r\xff"));
        assert_eq!(super::parse_report(strange), Ok(Report::Json(Some(file))));
        assert_eq!(
            parse_report("yes").unwrap_err(),
            "GANGWAY_REPORT is 'yes', expected 1, text[:FILE], json[:FILE], html[:FILE] or 0; no report will be made"
        );
    }
}
