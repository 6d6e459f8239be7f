//! `gangway env`: the same environment as `run`, for a shell to keep.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{Write, stdout};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::arguments::{Env, Shell};
use crate::environment::{for_virtual_gpu, prepended, search_path, variables};
use crate::exit::{Outcome, SUCCESS};
use crate::library;
use crate::variables::warn_of_misspelt;

pub fn print(options: &Env) -> Outcome {
    warn_of_misspelt();
    let libraries = library::for_device(options.settings.device.as_deref())?;
    let shell = options.shell.unwrap_or_else(|| from_login(env::var_os("SHELL").as_deref()));
    let mut out = stdout().lock();
    out.write_all(library_path(shell, &search_path(&libraries)).as_bytes())?;
    for (name, value) in variables(&options.settings)?.into_iter().chain(for_virtual_gpu(&libraries)) {
        out.write_all(assignment(shell, name, &quoted(shell, &value)).as_bytes())?;
    }
    Ok(SUCCESS)
}

fn from_login(shell: Option<&OsStr>) -> Shell {
    let name = shell.and_then(|shell| Path::new(shell).file_name());
    match name.and_then(OsStr::to_str) {
        Some("fish") => Shell::Fish,
        Some("csh" | "tcsh") => Shell::Csh,
        _ => Shell::Sh,
    }
}

/// The library path, with what the shell has in it when the line is evaluated; csh has
/// no such expression that survives `eval` of several lines, so it gets today's value.
fn library_path(shell: Shell, ours: &OsStr) -> OsString {
    let name = "LD_LIBRARY_PATH";
    match shell {
        Shell::Sh => {
            let mut value = quoted(shell, ours);
            value.push("\"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"");
            assignment(shell, name, &value)
        }
        Shell::Fish => {
            // fish keeps variables whose names end in PATH as lists.
            let mut value = quoted(shell, ours);
            value.push(" $LD_LIBRARY_PATH");
            assignment(shell, name, &value)
        }
        Shell::Csh => {
            let all = prepended(ours, env::var_os(name).as_deref());
            assignment(shell, name, &quoted(shell, &all))
        }
    }
}

fn assignment(shell: Shell, name: &str, value: &OsStr) -> OsString {
    let (before, after) = match shell {
        Shell::Sh => (format!("export {name}="), "\n"),
        Shell::Fish => (format!("set -gx {name} "), "\n"),
        Shell::Csh => (format!("setenv {name} "), ";\n"),
    };
    let mut line = OsString::from(before);
    line.push(value);
    line.push(after);
    line
}

/// In single quotes, which all three shells take literally but for a few characters.
fn quoted(shell: Shell, value: &OsStr) -> OsString {
    let mut out = vec![b'\''];
    for &byte in value.as_bytes() {
        match (shell, byte) {
            (Shell::Fish, b'\'' | b'\\') => out.extend([b'\\', byte]),
            (_, b'\'') => out.extend(b"'\\''"),
            // History and line ends reach into csh's quotes.
            (Shell::Csh, b'!' | b'\n') => out.extend([b'\\', byte]),
            _ => out.push(byte),
        }
    }
    out.push(b'\'');
    OsString::from_vec(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes() {
        let odd = OsStr::new("/it's a\\b!");
        assert_eq!(quoted(Shell::Sh, odd), "'/it'\\''s a\\b!'");
        assert_eq!(quoted(Shell::Fish, odd), "'/it\\'s a\\\\b!'");
        assert_eq!(quoted(Shell::Csh, odd), "'/it'\\''s a\\b\\!'");
    }

    #[test]
    fn login_shells() {
        assert_eq!(from_login(Some(OsStr::new("/usr/bin/fish"))), Shell::Fish);
        assert_eq!(from_login(Some(OsStr::new("/bin/tcsh"))), Shell::Csh);
        assert_eq!(from_login(Some(OsStr::new("/bin/zsh"))), Shell::Sh);
        assert_eq!(from_login(None), Shell::Sh);
    }
}
