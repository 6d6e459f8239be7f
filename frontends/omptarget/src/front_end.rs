//! This front end's part in the start and end of the process.

use crate::libomp::Libomp;
use crate::{ompt, source};
use gangway_frontend::process::FrontEnd;

static FRONT_END: FrontEnd = FrontEnd::new(
    connect,
    || Box::new((ompt::hold_devices(), gangway_openacc::hold())),
    ompt::finalize_devices,
);

/// Makes the back ends and observers known. Called by every registration.
pub fn start() {
    gangway_openmp::start::<Libomp>(&FRONT_END);
}

fn connect() {
    source::start();
    ompt::connect();
}
