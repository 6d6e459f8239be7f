//! This front end's part in the start and end of the process, and what its host library answers.

use crate::debug;
use crate::images;
use crate::libgomp::{Libgomp, libgomp};
use crate::links;
use crate::openacc::dimensions;
use crate::pending;
use gangway_image::ptx_objects;
use gangway_openacc::{profiling, property};
use gangway_openmp::host::{Dependences, End, Host, Offload, Work};
use gangway_openmp::process::{self, FrontEnd};
use gangway_openmp::{libraries, message};
use gangway_runtime::Error;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};

static FRONT_END: FrontEnd = FrontEnd::new(connect, hold, || {});

/// What is set up once, when the back ends are known.
fn connect() {
    debug::start();
    property::describe_host(c"GOMP", c"GNU", c"1.0");
    profiling::load_tools();
}

fn hold() -> Box<dyn Any> {
    let state = (pending::hold(), images::hold(), links::hold(), dimensions::hold());
    Box::new((state, gangway_openacc::hold()))
}

/// Makes the back ends and observers known. Called by every registration.
pub fn start() {
    process::start::<Libgomp>(&FRONT_END);
}

impl Host for Libgomp {
    /// As `gomp_fatal`.
    const END: End = End::Status;

    #[inline]
    fn default_device() -> i64 {
        // SAFETY: takes nothing, always callable.
        libgomp().default_device.map_or(0, |f| i64::from(unsafe { f() }))
    }

    fn target_offload() -> Option<Offload> {
        // It has read the variable, but tells nobody.
        None
    }

    /// libgomp has the devices that its plugins find, whether or not the program has an image.
    #[cold]
    fn number_devices() {
        static DONE: AtomicBool = AtomicBool::new(false);
        if !DONE.swap(true, Ordering::AcqRel) {
            start();
            libraries::number_devices_for(&ptx_objects::joined(&[]));
        }
    }

    fn no_device(error: &Error) {
        // As libgomp: the routine fails, and the program sees that.
        message::debug(format_args!("{error}"));
    }

    unsafe fn spawn(work: Work, _dependences: Dependences) -> bool {
        // Programs of GCC 12 have no asynchronous routines: its library exports none.
        work();
        true
    }
}
