//! What streams and graphs do: copies, fills, launches, host functions, operations on memory.

pub mod copy;
pub mod fill;
pub mod host_function;
pub mod launch;
pub mod memory_operation;
pub mod watched;
mod written;

use gangway_streams::Payload;

use crate::abi::Result;
use crate::objects::device::Device;
use crate::objects::stream::{StreamRef, runtimes};

/// Work on ranges of memory. What devices use of it must be allocated when the work is submitted.
pub trait MemoryWork: Payload + Sized {
    /// Whether there is nothing to do; then nothing is checked either.
    fn is_empty(&self) -> bool;

    /// Whether all the memory is there.
    fn check(&self) -> Result;

    /// The same work as something that runs after the call: what may become of its memory until
    /// then is noted.
    #[must_use]
    fn lasting(self) -> Self {
        self
    }

    /// The same work, of which who looks for races does not hear; nobody does if it is for a check that `looks` at what is
    /// there.
    #[must_use]
    fn unwatched(self, _looks: bool) -> Self {
        self
    }

    /// The same work, which is to be done in a stream: who looks for races hears of the program's alone.
    #[must_use]
    fn of(self, stream: &StreamRef) -> Self {
        let looks = runtimes::looks();
        let is_hidden = looks || Device::looks_for_races() && !runtimes::is_programs(&stream.queue);
        if is_hidden { self.unwatched(looks) } else { self }
    }

    /// Submits what has been checked.
    fn queue_in(self, stream: &StreamRef) -> Result {
        stream.submit(self.lasting())
    }

    /// The work of a graph's node.
    fn checked(self) -> Result<Self> {
        if self.is_empty() {
            return Ok(self);
        }
        self.check()?;
        Ok(self.lasting())
    }

    /// Does it in the order of the stream, and waits.
    fn run_in(self, stream: &StreamRef) -> Result {
        if self.is_empty() {
            return Ok(());
        }
        self.check()?;
        stream.run(self.of(stream))
    }

    /// Does it in the order of the stream.
    fn submit_to(self, stream: &StreamRef) -> Result {
        if self.is_empty() {
            return Ok(());
        }
        self.check()?;
        self.of(stream).queue_in(stream)
    }
}
