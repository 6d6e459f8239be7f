//! Functions of the program that streams and graphs call.

use std::ffi::c_void;

use gangway_streams::{Outcome, Payload};

use crate::abi::status::{Result, Status};
use crate::abi::types::CUstream;
use crate::objects::stream::sort;

/// `CUhostFn`
pub type HostFn = unsafe extern "C" fn(*mut c_void);
/// `CUstreamCallback`
pub type StreamCallback = unsafe extern "C" fn(CUstream, Status, *mut c_void);

/// What the program wants its function to be given.
#[derive(Clone, Copy, Debug)]
pub struct UserData(pub *mut c_void);

// SAFETY: nothing is done with it here but handing it back to the program, which knows that its
// functions are called on other threads.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

/// A function and what it is given: `cuLaunchHostFunc`, or a node of a graph.
#[derive(Clone, Copy, Debug)]
pub struct HostFunction {
    pub function: HostFn,
    pub user_data: UserData,
}

impl HostFunction {
    pub fn new(function: Option<HostFn>, user_data: *mut c_void) -> Result<HostFunction> {
        let function = function.ok_or(Status::INVALID_VALUE)?;
        Ok(HostFunction { function, user_data: UserData(user_data) })
    }
}

impl Payload for HostFunction {
    fn run(&self) -> Outcome {
        // SAFETY: the program passed it to be called with this argument.
        unsafe { (self.function)(self.user_data.0) };
        Ok(())
    }

    fn on_host(&self) -> bool {
        true
    }

    fn sort(&self) -> u32 {
        sort::HOST
    }
}

/// A callback of a stream, `cuStreamAddCallback`.
#[derive(Clone, Copy, Debug)]
pub struct Callback {
    pub function: StreamCallback,
    /// As the program named it.
    pub stream: CUstream,
    pub user_data: UserData,
}

impl Callback {
    pub fn call(self, outcome: Outcome) {
        let status = outcome.map_or_else(|failure| Status(failure.code()), |()| Status::SUCCESS);
        // SAFETY: the program passed it to be called with these arguments.
        unsafe { (self.function)(self.stream, status, self.user_data.0) };
    }
}
