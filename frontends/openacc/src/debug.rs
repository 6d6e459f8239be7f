//! `GOMP_DEBUG`: the lines that libgomp's plugin for nvptx prints before launches, in its words,
//! so that scripts which read those read these. `GANGWAY_DEBUG` has them printed, too.

use gangway_backend::KernelResources;
use gangway_frontend::message;
use gangway_runtime::KernelQuestions;
use std::fmt;

/// Reads the environment; called when a front end or a device starts.
pub fn start() {
    if std::env::var("GOMP_DEBUG").is_ok_and(|value| is_on(&value)) {
        message::print_debug();
    }
}

/// As libgomp: any number but 0.
fn is_on(value: &str) -> bool {
    value.trim().parse().is_ok_and(|value: i64| value != 0)
}

/// The launch of a compute construct.
#[inline]
pub fn launch(kernel: &KernelQuestions<'_>, [gangs, workers, vector]: [u32; 3]) {
    if message::is_debug() {
        tell_resources("nvptx_exec", kernel.name, kernel.resources(), 0);
        tell("nvptx_exec", kernel.name, format_args!("gangs={gangs}, workers={workers}, vectors={vector}"));
    }
}

/// What libgomp does not say, on a line of its own: those of launches stay as scripts know them.
#[cold]
pub fn tell_resources(function: &str, kernel: &str, resources: KernelResources, dynamic: u32) {
    let known = |number: Option<u32>, what: &str| match number {
        Some(number) => format!("{number} {what}"),
        None => format!("an unknown number of {what}"),
    };
    message::print_line(format_args!(
        "  {function}: kernel {kernel}: {} a thread, {} a team, {dynamic} more at this launch",
        known(resources.registers, "registers"),
        known(resources.group_memory, "bytes of shared memory"),
    ));
}

/// The dimensions of a launch, which a function of the plugin's names.
#[cold]
pub fn tell(function: &str, kernel: &str, dimensions: fmt::Arguments<'_>) {
    message::print_line(format_args!("  {function}: kernel {kernel}: launch {dimensions}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_a_number() {
        assert!(is_on("1") && is_on(" 2") && is_on("-1"));
        assert!(!is_on("0") && !is_on("") && !is_on("yes"));
    }
}
