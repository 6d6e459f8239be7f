//! What is answered before any front end has started: a program may call a routine first.

use gangway_frontend::host::{Dependences, End, Host, Offload, Work};
use gangway_frontend::policy::offload;
use gangway_frontend::process::FrontEnd;
use gangway_frontend::words::{Plain, Words};
use gangway_openmp::devices::{omp_get_initial_device, omp_get_num_devices};
use gangway_runtime::Error;

/// A process without a library for its host threads.
struct Nothing;

impl Host for Nothing {
    const END: End = End::Abort;
    const WORDS: &dyn Words = &Plain;

    fn default_device() -> i64 {
        0
    }

    fn target_offload() -> Option<Offload> {
        None
    }

    fn no_device(_error: &Error) {}

    unsafe fn spawn(work: Work, _dependences: Dependences) -> bool {
        work();
        true
    }
}

static FRONT_END: FrontEnd = FrontEnd::new(|| {}, || Box::new(()), || {});

fn set(policy: &str) {
    // SAFETY: this test has the process for itself.
    unsafe { std::env::set_var("OMP_TARGET_OFFLOAD", policy) };
}

#[test]
fn the_environment_answers_until_a_library_is_asked() {
    assert_eq!((omp_get_num_devices::<Nothing>(), omp_get_initial_device::<Nothing>()), (0, 0));
    set(" Disabled ");
    assert_eq!(offload(), Offload::Disabled);
    // Nothing has been remembered: the front end's library may say otherwise.
    set("mandatory");
    assert_eq!(offload(), Offload::Mandatory);
    gangway_openmp::start::<Nothing>(&FRONT_END);
    assert_eq!(offload(), Offload::Mandatory);
    // Now it has: the policy is that of the program's start.
    set("default");
    assert_eq!(offload(), Offload::Mandatory);
}
