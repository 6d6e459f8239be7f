//! `GOMP_DEBUG`: what is said of the launches of OpenMP's regions. OpenACC's are
//! [`gangway_openacc::debug`]'s.

use gangway_frontend::message;
use gangway_frontend::state::RUNTIME;
use gangway_openacc::debug::{tell, tell_resources};
use gangway_runtime::events::Site;
use gangway_runtime::{Device, Shape};

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
