//! Where virtual GPUs keep the code that they have compiled.

use std::ffi::OsString;
use std::path::PathBuf;

/// The folder that `GANGWAY_VGPU_CACHE` names, or else one below the user's own; `None` where code is to be kept
/// nowhere. `file` is asked for the variables, which name files.
#[must_use]
pub fn code_folder(file: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    match file("GANGWAY_VGPU_CACHE").filter(|value| !value.is_empty()) {
        Some(value) if matches!(value.to_str(), Some("off" | "none" | "0")) => None,
        Some(path) => Some(path.into()),
        None => {
            // The XDG base directory specification says that what is not absolute is to be ignored.
            let set = |name: &str| file(name).map(PathBuf::from).filter(|path| path.is_absolute());
            let base = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
            Some(base.join("gangway/vgpu"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(&str, &str)]) -> Option<PathBuf> {
        code_folder(|name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.into()))
    }

    #[test]
    fn code_is_kept_below_the_users_own_folder() {
        assert_eq!(with(&[("HOME", "/home/x")]), Some("/home/x/.cache/gangway/vgpu".into()));
        let both = [("HOME", "/home/x"), ("XDG_CACHE_HOME", "/var/x")];
        assert_eq!(with(&both), Some("/var/x/gangway/vgpu".into()));
        assert_eq!(with(&[("XDG_CACHE_HOME", "x")]), None);
        assert_eq!(with(&[]), None);
    }

    #[test]
    fn code_is_kept_where_the_user_says_or_nowhere() {
        let home = ("HOME", "/home/x");
        assert_eq!(with(&[home, ("GANGWAY_VGPU_CACHE", "/tmp/x")]), Some("/tmp/x".into()));
        assert_eq!(with(&[home, ("GANGWAY_VGPU_CACHE", "")]), Some("/home/x/.cache/gangway/vgpu".into()));
        for nowhere in ["off", "none", "0"] {
            assert_eq!(with(&[home, ("GANGWAY_VGPU_CACHE", nowhere)]), None);
        }
    }
}
