//! Functions of the program that streams and graphs call.

use std::ffi::c_void;

use gangway_streams::{Outcome, Payload};

use crate::abi::number::node_type;
use crate::abi::{CUhostFn, CUstream, CUstreamCallback, Result, Status};

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
    pub function: CUhostFn,
    pub user_data: UserData,
}

impl HostFunction {
    pub fn new(function: Option<CUhostFn>, user_data: *mut c_void) -> Result<Self> {
        let function = function.ok_or(Status::INVALID_VALUE)?;
        Ok(Self { function, user_data: UserData(user_data) })
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
        node_type::HOST
    }
}

/// A callback of a stream, `cuStreamAddCallback`.
#[derive(Clone, Copy, Debug)]
pub struct StreamCallback {
    pub function: CUstreamCallback,
    /// As the program named it.
    pub stream: CUstream,
    pub user_data: UserData,
}

impl StreamCallback {
    pub fn call(self, outcome: Outcome) {
        let status = outcome.map_or_else(|failure| Status(failure.code()), |()| Status::SUCCESS);
        // SAFETY: the program passed it to be called with these arguments.
        unsafe { (self.function)(self.stream, status, self.user_data.0) };
    }
}
