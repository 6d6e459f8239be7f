//! The process's runtime and its start-up.
//!
//! Everything here is made so that a program's start costs next to nothing:
//! registering a library asks back ends whether they know its images and reads
//! the environment; devices are opened at first use.

use crate::environment::{self, file_variable, is_on, variable};
use crate::fork::{self, Hold};
use crate::host::Host;
use crate::message::{self, print_line};
use crate::repeats::Subject;
use crate::state::RUNTIME;
use crate::words::{self, Told};
use crate::{ending, information, map_check, members, policy, profile, race_check, repeats, steps};
use gangway_backend::Backend;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A front end's part in the life of the process; a static of each.
#[derive(Debug)]
pub struct FrontEnd {
    connect: fn(),
    hold: Hold,
    finish: fn(),
    joined: AtomicBool,
    started: AtomicBool,
}

impl FrontEnd {
    /// `connect` is called once, when the back ends are known and before a device is
    /// opened; `hold` takes the front end's locks for a fork; `finish` is called when the
    /// last library is gone, before the reports are written.
    #[must_use]
    pub const fn new(connect: fn(), hold: Hold, finish: fn()) -> Self {
        Self { connect, hold, finish, joined: AtomicBool::new(false), started: AtomicBool::new(false) }
    }
}

/// The front ends that have started.
static JOINED: Mutex<Vec<&'static FrontEnd>> = Mutex::new(Vec::new());

fn joined() -> MutexGuard<'static, Vec<&'static FrontEnd>> {
    JOINED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the locks of the front ends, for a fork.
fn hold() -> Box<dyn Any> {
    let joined = joined();
    let theirs: Vec<_> = joined.iter().map(|front_end| (front_end.hold)()).collect();
    Box::new((theirs, joined))
}

/// Makes the back ends and observers known, and the front end to the process. Called by
/// every registration.
///
/// No lock is held meanwhile, and no thread waits for another: what is made here asks
/// the loader, whose lock the caller may hold. The slower of two threads drops what it
/// has made.
pub fn start<H: Host>(front_end: &'static FrontEnd) {
    if front_end.started.load(Ordering::Acquire) {
        return;
    }
    policy::ask_of::<H>();
    start_runtime();
    if !front_end.joined.swap(true, Ordering::AcqRel) {
        joined().push(front_end);
        (front_end.connect)();
    }
    front_end.started.store(true, Ordering::Release);
}

fn start_runtime() {
    static STARTED: AtomicBool = AtomicBool::new(false);
    if STARTED.load(Ordering::Acquire) {
        return;
    }
    let wanted = variable("GANGWAY_DEVICE");
    let is_wanted = |name: &str| wanted.as_deref().is_none_or(|wanted| wanted.split(',').any(|w| w == name));
    let external = gangway_backends::discover(file_variable("GANGWAY_RTL_PATH").map(Into::into));
    let known = gangway_backends::names().map(str::to_owned);
    let known: Vec<String> = known.chain(external.iter().map(|backend| backend.name().to_owned())).collect();
    let mut backends = gangway_backends::built_in(is_wanted);
    let warnings: Vec<String> = backends.iter().flat_map(|backend| backend.warnings()).cloned().collect();
    // Last, because asking one whether it knows an image loads it.
    for backend in external {
        if is_wanted(backend.name()) {
            backends.push(Box::new(backend));
        }
    }
    if RUNTIME.start(backends) {
        message::start();
        fork::install(hold);
        start_observers();
        if let Some(wanted) = &wanted {
            check_names(wanted, &known);
        }
        for warning in warnings {
            print_line(format_args!("gangway: warning: {warning}"));
        }
    }
    STARTED.store(true, Ordering::Release);
}

/// What users ask to be told, and what they ask the runtime to do.
fn start_observers() {
    information::start();
    steps::start();
    let is_true = |name| variable(name).is_some_and(|value| environment::is_true(&value));
    if is_true("LIBOMPTARGET_TREAT_ATTACH_AUTO_AS_ALWAYS") {
        gangway_runtime::treat_attach_auto_as_always();
    }
    if is_true("OFFLOAD_TRACK_ALLOCATION_TRACES") {
        gangway_runtime::allocations::track_allocations();
    }
    if is_on("GANGWAY_BALANCE") {
        gangway_runtime::placement::balance();
    }
    gangway_runtime::name_members_with(members::name);
    let checks = variable("GANGWAY_CHECK").unwrap_or_default();
    if gangway_findings::asks_for(&checks, "race") {
        race_check::start();
    }
    if gangway_findings::asks_for(&checks, "map") {
        map_check::start();
    }
    if gangway_findings::asks_for(&checks, "memory") {
        gangway_runtime::report_never_mapped(|error| {
            if repeats::is_first(Subject::Check, &error) {
                print_line(format_args!("gangway: warning: {}", Told(&error, words::of_first())));
            }
        });
    }
}

/// Warns of names in `GANGWAY_DEVICE` that no back end has; `none` is meant so.
#[cold]
fn check_names(wanted: &str, known: &[String]) {
    let is_known = |name: &str| name == "none" || known.iter().any(|known| known == name);
    for name in wanted.split(',').filter(|name| !is_known(name)) {
        print_line(format_args!(
            "gangway: warning: GANGWAY_DEVICE asks for `{name}`, which is no back end\n  help: there are: {}",
            known.join(", ")
        ));
    }
}

/// Tells the front ends and writes what is to be written: the last library has gone. The program
/// may close libraries and open others, so the report and the trace wait for the process's end.
pub(crate) fn finish() {
    // Called without the lock: a front end tells tools.
    let front_ends = joined().clone();
    front_ends.iter().for_each(|front_end| (front_end.finish)());
    repeats::finish();
    ending::finish_trace();
    profile::finish();
}
