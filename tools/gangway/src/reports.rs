//! The values that `--report` takes: a form, and perhaps a file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};

/// The forms, and what is said of each.
const FORMS: [(&str, &str); 3] = [
    ("text", "Aligned tables"),
    ("json", "One JSON object"),
    ("html", "A page for a browser, with a time line, in gangway-report.html or FILE"),
];

/// A form that a report can have, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportChoice {
    pub form: &'static str,
    pub file: Option<PathBuf>,
}

impl ReportChoice {
    /// Aligned tables on standard error.
    pub const TEXT: Self = ReportChoice { form: FORMS[0].0, file: None };

    /// Where a form goes that is in a file whether one is named or not.
    pub fn default_file(&self) -> Option<&'static Path> {
        (self.form == "html").then(|| Path::new(gangway_trace::PAGE))
    }

    /// `FORM` or `FORM:FILE`, if it is one.
    pub fn of(value: &str) -> Option<Self> {
        let (form, file) = match value.split_once(':') {
            Some((form, file)) => (form, Some(PathBuf::from(file))),
            None => (value, None),
        };
        let known = FORMS.iter().find(|(known, _)| *known == form)?;
        let named = file.as_ref().is_none_or(|file| !file.as_os_str().is_empty());
        named.then_some(ReportChoice { form: known.0, file })
    }
}

/// Takes `FORM` and `FORM:FILE`.
#[derive(Clone, Copy, Debug)]
pub struct ReportForms;

impl TypedValueParser for ReportForms {
    type Value = ReportChoice;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<ReportChoice, clap::Error> {
        let text = StringValueParser::new().parse_ref(command, argument, value)?;
        if let Some(choice) = ReportChoice::of(&text) {
            return Ok(choice);
        }
        // The message names the forms.
        let forms = PossibleValuesParser::new(FORMS.map(|(form, _)| form));
        let form = forms.parse_ref(command, argument, value)?;
        Ok(ReportChoice::of(&form).unwrap_or(ReportChoice::TEXT))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(FORMS.into_iter().map(|(form, what)| PossibleValue::new(form).help(what))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        assert_eq!(ReportChoice::of("text"), Some(ReportChoice::TEXT));
        let page = ReportChoice { form: "html", file: Some("a:b.html".into()) };
        assert_eq!(ReportChoice::of("html:a:b.html"), Some(page));
        assert_eq!((ReportChoice::of("yes"), ReportChoice::of("json:")), (None, None));
    }
}
