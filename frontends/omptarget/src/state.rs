//! The process's runtime and its start-up.
//!
//! Everything here is made so that a program's start costs next to nothing:
//! registering a library asks back ends whether they know its images and reads
//! the environment; devices are opened at first use.

use crate::abi::Ident;
use crate::{caller, fork, info, libomp, ompt};
use gangway_backend::Backend;
use gangway_runtime::Runtime;
use gangway_runtime::events::Site;
use std::sync::atomic::{AtomicBool, Ordering};

/// The one runtime.
pub static RUNTIME: Runtime = Runtime::new();

/// Makes the back ends and observers known. Called by every registration.
///
/// No lock is held meanwhile, and no thread waits for another: what is made here asks
/// the loader, whose lock the caller may hold. The slower of two threads drops what it
/// has made.
pub fn start() {
    static STARTED: AtomicBool = AtomicBool::new(false);
    if STARTED.load(Ordering::Acquire) {
        return;
    }
    let wanted = libomp::variable("GANGWAY_DEVICE");
    let is_wanted = |name: &str| wanted.as_deref().is_none_or(|wanted| wanted.split(',').any(|w| w == name));
    let external = gangway_external::discover(libomp::file_variable("GANGWAY_RTL_PATH").map(Into::into));
    let known: Vec<String> =
        std::iter::once("cpu").chain(external.iter().map(Backend::name)).map(str::to_owned).collect();
    let mut backends: Vec<Box<dyn Backend>> = Vec::new();
    let mut warnings = Vec::new();
    if is_wanted("cpu") {
        let cpu = gangway_cpu::CpuBackend::new();
        cpu.warnings().clone_into(&mut warnings);
        backends.push(Box::new(cpu));
    }
    // Last, because asking one whether it knows an image loads it.
    for backend in external {
        if is_wanted(backend.name()) {
            backends.push(Box::new(backend));
        }
    }
    if RUNTIME.start(backends) {
        fork::install();
        ompt::connect();
        info::start();
        if let Some(wanted) = &wanted {
            check_names(wanted, &known);
        }
        for warning in warnings {
            info::print_line(format_args!("gangway: warning: {warning}"));
        }
    }
    STARTED.store(true, Ordering::Release);
}

/// Warns of names in `GANGWAY_DEVICE` that no back end has; `none` is meant so.
#[cold]
fn check_names(wanted: &str, known: &[String]) {
    let is_known = |name: &str| name == "none" || known.iter().any(|known| known == name);
    for name in wanted.split(',').filter(|name| !is_known(name)) {
        info::print_line(format_args!(
            "gangway: warning: GANGWAY_DEVICE asks for `{name}`, which is no back end\n  help: there are: {}",
            known.join(", ")
        ));
    }
}

/// The place a construct was called from.
///
/// # Safety
/// `location` is null or the compiler's.
#[inline]
#[must_use]
pub unsafe fn site(location: *const Ident) -> Site {
    // SAFETY: the caller's promise; the text is a constant of the program.
    let source = unsafe {
        match location.as_ref() {
            None => gangway_backend::SourceText::NONE,
            Some(ident) => gangway_backend::SourceText::new(ident.source),
        }
    };
    Site { source, return_address: caller::noted() }
}

/// The call of a routine that is no construct.
#[must_use]
pub fn routine() -> Site {
    Site { return_address: caller::noted(), ..Site::NONE }
}
