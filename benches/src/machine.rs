//! What the figures were taken on: date, processor, memory and versions, for
//! the head of the report. A fact that cannot be found out is left "unknown";
//! it never stops a benchmark.

use std::path::Path;
use std::process::Command;

/// The stock library's version, as its package has it.
pub fn stock_library() -> (&'static str, String) {
    let package = output(Command::new("dpkg-query").args(["-W", "liboffload-22"]));
    ("Stock library", package.replace('\t', " "))
}

/// Which GCC compiled programs.
pub fn gcc() -> (&'static str, String) {
    ("GCC", output(gangway_compilers::gcc().arg("--version")))
}

/// Pairs of label and value, in the order of the report.
pub fn describe(root: &Path) -> Vec<(&'static str, String)> {
    vec![
        ("Date", output(Command::new("date").args(["-u", "+%F"]))),
        ("Processor", processor()),
        ("Memory", memory()),
        ("System", system()),
        ("Load", load()),
        ("Compiler", output(Command::new("clang-22").arg("--version"))),
        (
            "Gangway",
            format!(
                "{} ({})",
                env!("CARGO_PKG_VERSION"),
                output(Command::new("git").args(["describe", "--always", "--dirty"]).current_dir(root))
            ),
        ),
    ]
}

fn processor() -> String {
    let text = read("/proc/cpuinfo");
    let cores = text.lines().filter(|line| line.starts_with("processor")).count();
    let model = field(&text, "model name").unwrap_or("unknown");
    format!("{model}, {cores} cores")
}

fn memory() -> String {
    let text = read("/proc/meminfo");
    field(&text, "MemTotal")
        .and_then(|value| value.split_whitespace().next()?.parse::<f64>().ok())
        .map_or("unknown".into(), |kib| format!("{:.0} GiB", kib / 1024.0 / 1024.0))
}

/// What else the machine was doing: the figures of a busy one are worth less.
fn load() -> String {
    let text = read("/proc/loadavg");
    let mut averages = text.split_whitespace();
    match averages.nth(1) {
        Some(average) => format!("{average} runnable processes on average over the last five minutes"),
        None => "unknown".into(),
    }
}

fn system() -> String {
    let text = read("/etc/os-release");
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")).unwrap_or("unknown");
    let kernel = output(Command::new("uname").arg("-r"));
    // Major and minor version; what follows is the vendor's business.
    let kernel: Vec<&str> = kernel.splitn(3, '.').take(2).collect();
    format!("{}, Linux {}", name.trim_matches('"'), kernel.join("."))
}

/// The value of the first `name : value` line.
fn field<'text>(text: &'text str, name: &str) -> Option<&'text str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then_some(value.trim())
    })
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// First line of what a command prints.
fn output(command: &mut Command) -> String {
    command
        .output()
        .ok()
        .filter(|output| output.status.success())
        .and_then(|output| String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned))
        .unwrap_or_else(|| "unknown".into())
}
