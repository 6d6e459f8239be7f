//! Commands that a benchmark runs: compilers and programs.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Variables that would change what is measured.
const FOREIGN_PREFIXES: [&str; 8] =
    ["ACC_", "GOMP_", "OMP_", "KMP_", "LIBOMPTARGET_", "GANGWAY_", "OMPT_", "LD_"];

/// A command that sees none of the variables that would change what is measured.
pub fn undisturbed(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if FOREIGN_PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    // A benchmark that quietly ran on the host would look very fast.
    command.env("OMP_TARGET_OFFLOAD", "MANDATORY");
    command
}

/// What a command prints; an error with what it says unless it succeeds.
pub fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output =
        command.output().with_context(|| format!("cannot start {name}: run scripts/bootstrap.sh"))?;
    if !output.status.success() {
        bail!("{name} ended with {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Compiles one source.
pub fn compile(
    mut compiler: Command,
    source: &Path,
    target: &Path,
    arguments: impl Fn(&mut Command) -> &mut Command,
) -> Result<()> {
    // Libraries come behind the source that needs them.
    compiler.arg(source);
    arguments(&mut compiler).arg("-o").arg(target);
    output(&mut compiler).map(|_| ())
}

/// The number behind a key in what a benchmark program prints.
pub fn figure(text: &str, key: &str) -> Result<f64> {
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
    let value = value.with_context(|| format!("the figure {key} is missing in:\n{text}"))?;
    value.trim().parse().with_context(|| format!("{key} is no number: {value}"))
}

/// Functions of the driver, and how often one region calls them.
pub type Calls = BTreeMap<String, f64>;

/// The `call NAME COUNT` lines of what a benchmark program prints.
///
/// # Errors
/// There is none, or a count is no number.
pub fn calls(text: &str) -> Result<Calls> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("call "));
    let calls: Calls = lines
        .map(|line| {
            let (name, count) = line.split_once(' ').context("a call without a count")?;
            Ok((name.to_owned(), count.parse::<f64>()?))
        })
        .collect::<Result<_>>()?;
    if calls.is_empty() {
        bail!("no call of the driver was counted:\n{text}");
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    #[test]
    fn figures_are_found_by_their_whole_key() {
        let text = "best_ns_of 1\nbest_ns 2.5\n";
        assert_eq!(super::figure(text, "best_ns").unwrap(), 2.5);
        assert!(super::figure(text, "best").is_err());
    }
}
