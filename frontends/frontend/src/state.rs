//! The one runtime.

use crate::caller;
use gangway_runtime::Runtime;
use gangway_runtime::events::Site;

/// The one runtime, whichever front ends use it.
pub static RUNTIME: Runtime = Runtime::new();

/// The call of a routine that is no construct.
#[must_use]
pub fn routine() -> Site {
    Site { return_address: caller::noted(), ..Site::NONE }
}
