//! OMPT: what tools see of target constructs, data operations and kernel launches
//! (OpenMP 6.0 part "OMPT Interface"), as under the stock library.
//!
//! libomp owns the tool. At start-up this library asks libomp to connect
//! ([`connect`]); if a tool is active, libomp answers by calling `initialize` with
//! a look-up function, through which the tool's callbacks are found. Only then is
//! an observer registered with the runtime: without a tool a launch pays for none
//! of this.
//!
//! | module | what |
//! |---|---|
//! | `abi` | OMPT's types and numbers |
//! | `callbacks` | the tool's callbacks, and identifiers |
//! | `region` | the construct a thread is in: `target` callbacks |
//! | `operation` | data operations and submits, as seen through the runtime's events |
//! | `device` | `device_initialize`, `device_load`, `device_finalize` |
//!
//! Two differences from the stock library are on purpose. Private copies that a
//! device keeps in the launch's session are no data operations, as nothing is
//! allocated or copied. And a construct that is left to its task ends for the
//! tool when its operations have ended, not before.

mod abi;
mod callbacks;
mod device;
mod operation;
mod region;

pub use device::{finalize_all as finalize_devices, hold as hold_devices};
pub use region::{Construct, Region, Suspended, begin, suspend};

use crate::libomp;
use abi::{Data, Lookup, StartToolResult};

/// Offers libomp to connect; nothing happens if there is no libomp or no tool.
/// Called once, before any device is opened.
pub fn connect() {
    let found = libomp::symbol(c"ompt_libomp_connect");
    if found.is_null() {
        return;
    }
    // SAFETY: the name is libomp's, the type its signature.
    let connect: unsafe extern "C" fn(*const StartToolResult) = unsafe { std::mem::transmute(found) };
    static RESULT: StartToolResult = StartToolResult { initialize, finalize, tool_data: Data { value: 0 } };
    // SAFETY: libomp keeps the result until the process ends, as it is static.
    unsafe { connect(&raw const RESULT) };
}

/// Called by libomp if a tool is active.
unsafe extern "C" fn initialize(lookup: Option<Lookup>, _initial_device: i32, _tool: *mut Data) -> i32 {
    gangway_frontend::guard::guard(0, || {
        if let Some(lookup) = lookup {
            // SAFETY: libomp's look-up function.
            unsafe { callbacks::bind(lookup) };
            gangway_runtime::events::observe(&operation::OBSERVER);
        }
        0
    })
}

/// Called by libomp when it has ended the tool, which is about to be unloaded.
unsafe extern "C" fn finalize(_tool: *mut Data) {
    gangway_frontend::guard::guard((), callbacks::forget);
}
