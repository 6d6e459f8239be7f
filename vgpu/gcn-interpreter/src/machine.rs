//! Launches: work-groups and waves, and which runs next.

use std::sync::atomic::AtomicBool;

use crate::dispatch::Dispatch;
use crate::fault::{Fault, FaultKind};
use crate::memory::Memory;

/// Runs a kernel to its end, or until `stop` is set.
///
/// # Errors
/// The launch is wrong, or the kernel failed; then what it has written until then stays.
pub fn launch(memory: &dyn Memory, dispatch: &Dispatch, _stop: &AtomicBool) -> Result<(), Box<Fault>> {
    let fail = |kind| {
        Box::new(Fault {
            kind,
            kernel: dispatch.packet.kernel_object,
            address: 0,
            offset: 0,
            instruction: String::new(),
            group: [0; 3],
            wave: 0,
            lane: None,
        })
    };
    dispatch.descriptor(memory).map_err(fail)?;
    Err(fail(FaultKind::Unsupported("running kernels".to_owned())))
}
