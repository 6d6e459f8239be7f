//! `GOMP_DEBUG`: the lines that libgomp's plugin for nvptx prints before launches, in its words,
//! so that scripts which read those read these. `GANGWAY_DEBUG` has them printed, too.

use gangway_backend::KernelResources;
use gangway_frontend::message;
use gangway_frontend::state::RUNTIME;
use gangway_runtime::events::Site;
use gangway_runtime::{Device, KernelQuestions, Shape};
use std::fmt;

/// Reads the environment; called once at start-up.
pub(crate) fn start() {
    if std::env::var("GOMP_DEBUG").is_ok_and(|value| is_on(&value)) {
        message::print_debug();
    }
}

/// As libgomp: any number but 0.
fn is_on(value: &str) -> bool {
    value.trim().parse().is_ok_and(|value: i64| value != 0)
}

/// The launch of an OpenMP region whose host address is `host`.
#[inline]
pub(crate) fn openmp(device: &'static Device, site: &Site, host: usize, asked: &Shape) {
    if message::is_debug() {
        tell_openmp(device, site, host, asked);
    }
}

/// Says nothing of what cannot be launched: the launch does.
#[cold]
fn tell_openmp(device: &'static Device, site: &Site, host: usize, asked: &Shape) {
    let Ok(kernel) = RUNTIME.questions_about(device, host, site) else { return };
    let Ok(shape) = kernel.launch_shape(asked) else { return };
    let ([teams, ..], [lanes, threads, _]) = (shape.teams, shape.threads);
    tell_resources("GOMP_OFFLOAD_run", kernel.name, kernel.resources(), asked.dynamic_group_memory);
    tell(
        "GOMP_OFFLOAD_run",
        kernel.name,
        format_args!("[(teams: {teams}), 1, 1] [(lanes: {lanes}), (threads: {threads}), 1]"),
    );
}

/// The launch of an OpenACC compute construct.
#[inline]
pub(crate) fn openacc(kernel: &KernelQuestions<'_>, [gangs, workers, vector]: [u32; 3]) {
    if message::is_debug() {
        tell_resources("nvptx_exec", kernel.name, kernel.resources(), 0);
        tell("nvptx_exec", kernel.name, format_args!("gangs={gangs}, workers={workers}, vectors={vector}"));
    }
}

/// What libgomp does not say, on a line of its own: those of launches stay as scripts know them.
#[cold]
fn tell_resources(function: &str, kernel: &str, resources: KernelResources, dynamic: u32) {
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

#[cold]
fn tell(function: &str, kernel: &str, dimensions: fmt::Arguments<'_>) {
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
