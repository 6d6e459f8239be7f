//! This front end's part in the start and end of the process, and what its host library answers.

use crate::abi::device;
use crate::images;
use crate::libgomp::{Libgomp, libgomp};
use crate::limits;
use crate::links;
use crate::openacc::dimensions;
use crate::pending;
use crate::routine_tasks;
use crate::words::WORDS;
use gangway_backend::ForeignRuntime;
use gangway_frontend::host::{Dependences, End, Host, OPENACC_2_6, Offload, Work};
use gangway_frontend::process::FrontEnd;
use gangway_frontend::state::RUNTIME;
use gangway_frontend::words::{Told, Words};
use gangway_frontend::{environment, libraries, message, policy};
use gangway_image::{gcn_object, ptx_objects};
use gangway_openacc::{profiling, property};
use gangway_runtime::{Error, ErrorKind};
use std::any::Any;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

static FRONT_END: FrontEnd = FrontEnd::new(connect, hold, || {});

/// What is set up once, when the back ends are known.
fn connect() {
    gangway_openacc::debug::start();
    decide_default_device();
    property::describe_host(c"GOMP", c"GNU", c"1.0");
    profiling::load_tools::<Libgomp>();
}

fn hold() -> Box<dyn Any> {
    let state = (pending::hold(), images::hold(), links::hold(), limits::hold(), dimensions::hold());
    Box::new((state, gangway_openacc::hold()))
}

/// Makes the back ends and observers known. Called by every registration.
pub fn start() {
    gangway_openmp::start::<Libgomp>(&FRONT_END);
}

/// What libgomp since GCC 14 has for the default device until it has counted its devices, where
/// `OMP_TARGET_OFFLOAD` is `mandatory` and nobody has said which. Tasks and teams keep it.
const UNDECIDED: i32 = i32::MIN;

/// Decides for libgomp, so that it has no devices of its own counted.
fn decide_default_device() {
    let is_said = environment::variable("OMP_DEFAULT_DEVICE").is_some();
    if policy::offload() == Offload::Mandatory
        && !is_said
        && let Some(set) = libgomp().set_default_device
    {
        // SAFETY: called as compilers call it.
        unsafe { set(0) };
    }
}

impl Host for Libgomp {
    /// As `gomp_fatal`.
    const END: End = End::Status;
    const WORDS: &dyn Words = WORDS;
    const INVALID_DEVICE: i32 = device::INVALID;
    const DEFAULT_DEVICE: Option<i32> = Some(device::DEFAULT);
    const OPENACC: i32 = OPENACC_2_6;
    const HOST_UID: &'static CStr = c"OMP_INITIAL_DEVICE";
    const NUMBER_OF_HOST_UID: Option<i32> = Some(-1);

    #[inline]
    fn default_device() -> i64 {
        // SAFETY: takes nothing, always callable.
        match libgomp().default_device.map_or(0, |f| unsafe { f() }) {
            UNDECIDED => 0,
            number => number.into(),
        }
    }

    fn target_offload() -> Option<Offload> {
        // It has read the variable, but tells nobody.
        None
    }

    /// libgomp has the devices that its plugins find, whether or not the program has an image. AMD's are looked for where
    /// there are none of NVIDIA's.
    #[cold]
    fn number_devices() {
        static DONE: AtomicBool = AtomicBool::new(false);
        if !DONE.swap(true, Ordering::AcqRel) {
            start();
            libraries::number_devices_for(&ptx_objects::joined(&[]));
            if RUNTIME.device_count() == 0 {
                libraries::number_devices_for(&gcn_object::empty());
            }
        }
    }

    fn no_device(error: &Error) {
        // As libgomp since GCC 13: what a program uses this number for is a mistake.
        if matches!(error.kind, ErrorKind::NoSuchDevice { number, .. } if number == i64::from(device::INVALID))
        {
            policy::mistake(format_args!("a routine was given omp_invalid_device"));
        }
        // As libgomp: the routine fails, and the program sees that.
        message::debug(format_args!("{}", Told(error, WORDS)));
    }

    /// As libgomp's plugin for nvptx.
    fn preferred(foreign: ForeignRuntime, number: i32) -> Option<ForeignRuntime> {
        foreign.seen_through_hip(number)
    }

    unsafe fn spawn(work: Work, dependences: Dependences) -> bool {
        // SAFETY: the caller's promise.
        unsafe { routine_tasks::spawn(work, dependences) };
        true
    }
}
