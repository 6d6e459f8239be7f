//! This front end's part in the start and end of the process, and what its host library answers.

use crate::images;
use crate::libgomp::{Libgomp, libgomp};
use crate::links;
use crate::pending;
use gangway_image::ptx_objects;
use gangway_openmp::host::{Dependences, Host, Offload, Work};
use gangway_openmp::process::{self, FrontEnd};
use gangway_openmp::{libraries, message};
use gangway_runtime::Error;
use std::sync::atomic::{AtomicBool, Ordering};

static FRONT_END: FrontEnd =
    FrontEnd::new(|| {}, || Box::new((pending::hold(), images::hold(), links::hold())), || {});

/// Makes the back ends and observers known. Called by every registration.
pub fn start() {
    process::start::<Libgomp>(&FRONT_END);
}

impl Host for Libgomp {
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
