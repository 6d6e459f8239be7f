//! The environment variables that put a program on Gangway.
//!
//! `run` sets them, `env` prints them. The runtime reads the GANGWAY_ ones.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use crate::arguments::Settings;
use crate::devices;
use crate::exit::{Failure, NOT_STARTED, USAGE};
use crate::library::Libraries;
use crate::reports::ReportChoice;

/// The variables for the settings, without the search path of libraries.
pub fn variables(settings: &Settings) -> Result<Vec<(&'static str, OsString)>, Failure> {
    let mut variables = Vec::new();
    if let Some(device) = &settings.device {
        variables.push(("GANGWAY_DEVICE", devices::for_runtime(device).into()));
    }
    let named = settings.report.as_ref().and_then(|choice| choice.file.as_ref());
    let file = match (named, &settings.report_file) {
        (Some(one), Some(other)) if std::path::absolute(one)? != std::path::absolute(other)? => {
            let (one, other) = (one.display(), other.display());
            let both = format!("--report and --report-file name {one} and {other}: leave one of them out");
            return Err(Failure::new(USAGE, both));
        }
        (one, other) => one.or(other.as_ref()),
    };
    // Naming a file asks for a report.
    let choice = settings.report.clone().or_else(|| file.map(|_| ReportChoice::TEXT));
    if let Some(choice) = choice {
        let mut value = OsString::from(choice.form);
        if let Some(file) = file.map(PathBuf::as_path).or(choice.default_file()) {
            value.push(":");
            value.push(writable(file)?);
        }
        variables.push(("GANGWAY_REPORT", value));
    }
    if let Some(file) = &settings.trace {
        variables.push(("GANGWAY_TRACE", writable(file)?));
    }
    if let Some(checks) = settings.check {
        variables.extend(checks.variables());
    }
    if let Some(file) = &settings.suppress {
        let file = file
            .canonicalize()
            .map_err(|error| Failure::new(NOT_STARTED, format!("cannot read {}: {error}", file.display())))?;
        variables.push(("GANGWAY_CHECK_SUPPRESS", file.into_os_string()));
    }
    Ok(variables)
}

/// Where Triton takes ptxas from instead of its own: for processors of its choice, and for those from
/// sm_100 on.
const PTXAS_OF_TRITON: [&str; 2] = ["TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"];

/// What programs need to know that bring tools of NVIDIA's along: those make machine code, and the virtual GPU
/// runs PTX. What the user has set stays.
pub fn for_virtual_gpu(libraries: &Libraries) -> Vec<(&'static str, OsString)> {
    let ptxas = libraries.runtime.join("cuda/bin/ptxas");
    if libraries.driver.is_none() || !ptxas.is_file() {
        return Vec::new();
    }
    let unset = |name: &&str| env::var_os(name).is_none_or(|value| value.is_empty());
    PTXAS_OF_TRITON.into_iter().filter(unset).map(|name| (name, ptxas.clone().into_os_string())).collect()
}

/// A file that the program is to write, by its full name: the program may change its directory
/// before it writes.
pub fn writable(file: &Path) -> Result<OsString, Failure> {
    let file = std::path::absolute(file)?;
    let refused = |why: &str| Failure::new(NOT_STARTED, format!("cannot write {}: {why}", file.display()));
    let (place, mode) = match file.metadata() {
        Ok(found) if found.is_dir() => return Err(refused("it is a directory")),
        Ok(_) => (&*file, Access::WRITE_OK),
        // `%p` and `%r` in the name are the program's to replace, and stand for digits.
        Err(_) => (file.parent().unwrap_or(&file), Access::WRITE_OK | Access::EXEC_OK),
    };
    rustix::fs::access(place, mode)
        .map_err(|error| refused(&format!("{}: {}", place.display(), io::Error::from(error))))?;
    Ok(file.into_os_string())
}

/// The folders of our libraries, as they go into the search path.
pub fn search_path(libraries: &Libraries) -> OsString {
    let folders: Vec<_> = libraries.folders().map(Path::as_os_str).collect();
    folders.join(OsStr::new(":"))
}

/// `first` before what a colon-separated list holds already.
pub fn prepended(first: &OsStr, list: Option<&OsStr>) -> OsString {
    let mut all = first.to_owned();
    // An empty element would mean the current directory.
    if let Some(list) = list.filter(|list| !list.is_empty()) {
        all.push(":");
        all.push(list);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_get_no_empty_element() {
        assert_eq!(prepended(OsStr::new("/a"), None), "/a");
        assert_eq!(prepended(OsStr::new("/a"), Some(OsStr::new(""))), "/a");
        assert_eq!(prepended(OsStr::new("/a"), Some(OsStr::new("/b:/c"))), "/a:/b:/c");
    }

    #[test]
    fn a_report_file_asks_for_a_report() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r");
        let value = format!("text:{}", file.display());
        let settings = Settings { report_file: Some(file), ..Settings::default() };
        assert_eq!(variables(&settings).unwrap(), [("GANGWAY_REPORT", value.into())]);
    }

    #[test]
    fn a_page_without_a_name_is_looked_at_before_the_program_starts() {
        let settings = Settings { report: ReportChoice::of("html"), ..Settings::default() };
        let page = std::path::absolute(gangway_trace::PAGE).unwrap();
        let value = format!("html:{}", page.display());
        assert_eq!(variables(&settings).unwrap(), [("GANGWAY_REPORT", value.into())]);
    }

    #[test]
    fn a_report_goes_to_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.html");
        let value = format!("html:{}", file.display());
        let settings = Settings { report: ReportChoice::of(&value), ..Settings::default() };
        assert_eq!(variables(&settings).unwrap(), [("GANGWAY_REPORT", value.clone().into())]);
        let settings = Settings { report_file: Some(folder.path().join("b")), ..settings };
        assert!(variables(&settings).is_err());
        // Twice the same is once.
        let settings = Settings { report_file: Some(file), ..settings };
        assert_eq!(variables(&settings).unwrap(), [("GANGWAY_REPORT", value.into())]);
    }
}
