//! The library that runs the program's host threads: libomp, libgomp.
//!
//! It has the internal control variables that the program can set, and the tasks. Each
//! front end says how its own is asked ([`Host`]).

use crate::words::Words;
use gangway_backend::ForeignRuntime;
use gangway_runtime::Error;
use std::ffi::{CStr, c_void};

/// `OMP_TARGET_OFFLOAD` (OpenMP 6.0 section 4.3.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offload {
    /// As if there were no devices.
    Disabled,
    /// Devices where possible.
    Default,
    /// Devices or nothing.
    Mandatory,
}

/// How a program ends that cannot go on: as with the stock library of its compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By `SIGABRT`, at once.
    Abort,
    /// With the status of failure, after the program's exit handlers.
    Status,
}

/// `_OPENACC` of versions 2.6 and 3.3.
pub const OPENACC_2_6: i32 = 201_711;
/// See [`OPENACC_2_6`].
pub const OPENACC_3_3: i32 = 202_211;

/// What a task is to do, on whichever thread.
pub type Work = Box<dyn FnOnce() + Send>;

/// What a task waits for: depend objects in the layout of the front end's compiler.
#[derive(Debug, Clone, Copy)]
pub struct Dependences {
    /// How many.
    pub count: i32,
    /// The objects.
    pub objects: *const *const c_void,
}

/// What a front end's host library answers, and does. The functions are called directly: a
/// launch asks for the default device.
pub trait Host {
    /// How an error ends the program.
    const END: End;

    /// How users of its compiler are told of errors.
    const WORDS: &dyn Words;

    /// `omp_invalid_device` of the compiler's header.
    const INVALID_DEVICE: i32 = -2;

    /// `omp_default_device` of the compiler's header, if that has it (OpenMP 6.1).
    const DEFAULT_DEVICE: Option<i32> = None;

    /// The version of OpenACC that the compiler's header has routines of. It decides where versions
    /// differ in what a routine does, or where the stock library refuses what 3.3 allows.
    const OPENACC: i32 = OPENACC_3_3;

    /// What the stock library calls the host.
    const HOST_UID: &'static CStr = c"HOST";

    /// The number that the stock library has for this name, if it is not that of devices.
    const NUMBER_OF_HOST_UID: Option<i32> = None;

    /// The default device of the current task (`omp_set_default_device`,
    /// `OMP_DEFAULT_DEVICE`).
    fn default_device() -> i64;

    /// `OMP_TARGET_OFFLOAD` as the library has read it; `None` if the process has no such
    /// library.
    fn target_offload() -> Option<Offload>;

    /// Called when there are no devices, since the program has brought no image: makes those
    /// available that the program's compiler has images for, where that is a library's habit.
    fn number_devices() {}

    /// A routine was given the number of no device, or of one that cannot be used. The
    /// specification leaves open what happens: the stock libraries differ. If this returns,
    /// the routine fails.
    fn no_device(error: &Error);

    /// What the foreign runtime under a device is for a program that prefers the one of a number;
    /// `None` if it cannot be that.
    fn preferred(foreign: ForeignRuntime, number: i32) -> Option<ForeignRuntime> {
        foreign.seen_as(number)
    }

    /// Makes a task of `work` that runs when `dependences` are fulfilled. Answers whether
    /// there is one, or the work has been done at once for want of tasks.
    ///
    /// # Safety
    /// `dependences` has as many objects as it says, in the compiler's layout.
    #[must_use]
    unsafe fn spawn(work: Work, dependences: Dependences) -> bool;
}
