//! One offload job as a back end sees it: the words that it keeps from one call to the next, and
//! host memory for kernel arguments.
//!
//! A session is part of the runtime's job: it is on the heap, goes from thread to
//! thread with a job that a task waits for, and serves one construct after
//! another. The arguments of a launch are built in its memory, in the
//! [`ArgumentTable`] that [`Stream::argument_table`] makes and [`Stream::launch`]
//! takes, so a launch allocates nothing and copies nothing extra (the idea of the
//! offload sessions proposed for libgomp, see `ARCHITECTURE.md`).
//!
//! A back end that keeps something of its own for each job says so
//! ([`Capabilities::sessions`]). It is then told when a session starts, before the launch of
//! which it is asked for the table, and when it ends: the kernel is done and what it needed can
//! be used again. Every session that has started ends, whatever becomes of the launch.
//!
//! [`Capabilities::sessions`]: crate::Capabilities::sessions
//! [`Stream::argument_table`]: crate::Stream::argument_table
//! [`Stream::launch`]: crate::Stream::launch

use crate::arguments::{ArgumentTable, TableRequest};
use crate::error::Result;
use crate::handles::DevicePtr;
use crate::session_state::SessionState;
use std::ptr::NonNull;

/// Arguments that have room in the session itself: compiler-made kernels rarely
/// have more.
const INLINE_SLOTS: usize = 32;

/// State of one map–launch–unmap job.
#[derive(Debug)]
pub struct Session {
    inline: [u64; INLINE_SLOTS],
    /// Larger tables; grows and is kept.
    overflow: Vec<u64>,
    state: SessionState,
    /// It has started and not ended.
    open: bool,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// A session that has not started.
    #[must_use]
    #[inline]
    pub const fn new() -> Self {
        Self { inline: [0; INLINE_SLOTS], overflow: Vec::new(), state: SessionState::new(), open: false }
    }

    /// Starts the session of a back end that keeps `size` bytes in each, with what the launch's
    /// stream [does then](crate::Stream::session_start). Allocates only for more than it has had
    /// before.
    ///
    /// # Errors
    /// What the device says; the session has not started then.
    #[cold]
    pub fn start(
        &mut self,
        size: usize,
        started: impl FnOnce(&mut SessionState) -> Result<()>,
    ) -> Result<()> {
        started(self.state.cleared(size))?;
        self.open = true;
        Ok(())
    }

    /// Whether it has started and not ended.
    #[must_use]
    #[inline]
    pub const fn is_open(&self) -> bool {
        self.open
    }

    /// Ends it, if it has started and not ended, with what the device [does
    /// then](crate::Device::session_end).
    #[cold]
    pub fn end(&mut self, ended: impl FnOnce(&mut SessionState)) {
        if std::mem::take(&mut self.open) {
            ended(&mut self.state);
        }
    }

    /// The session without its memory.
    #[inline]
    pub const fn state(&mut self) -> &mut SessionState {
        &mut self.state
    }

    /// A table in host memory of the session. Allocates only for more slots than
    /// the session has had before.
    #[inline]
    pub fn host_table(&mut self, request: TableRequest) -> ArgumentTable<'_> {
        let slots = request.slots();
        let memory = if slots <= INLINE_SLOTS {
            &mut self.inline[..slots]
        } else {
            if self.overflow.len() < slots {
                self.overflow.resize(slots, 0);
            }
            &mut self.overflow[..slots]
        };
        ArgumentTable::new(&mut self.state, memory, request)
    }

    /// A table in memory of the back end's.
    ///
    /// # Safety
    /// `memory` has room for the slots that are requested, is written by the host as
    /// plain memory, and belongs to the table alone for as long as that lives.
    #[inline]
    pub unsafe fn table_at(&mut self, memory: NonNull<u64>, request: TableRequest) -> ArgumentTable<'_> {
        // SAFETY: the caller's promise.
        unsafe { ArgumentTable::at(&mut self.state, memory, None, request) }
    }

    /// A table in memory that the host writes and the device sees at `address`: kernels
    /// that take a pointer to a table get that address, and nothing is copied.
    ///
    /// # Safety
    /// As [`table_at`](Self::table_at); the device sees what the host has written before
    /// the launch, and may read it until the kernel is done.
    #[inline]
    pub unsafe fn visible_table_at(
        &mut self,
        memory: NonNull<u64>,
        address: DevicePtr,
        request: TableRequest,
    ) -> ArgumentTable<'_> {
        // SAFETY: the caller's promise.
        unsafe { ArgumentTable::at(&mut self.state, memory, Some(address), request) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn request(arguments: usize) -> TableRequest {
        TableRequest { leading: 0, arguments, trailing: 0 }
    }

    #[test]
    fn small_tables_stay_inside_the_session() {
        let mut session = Session::default();
        let range = {
            let start = std::ptr::from_ref(&session).addr();
            start..start + size_of::<Session>()
        };
        let mut table = session.host_table(request(INLINE_SLOTS));
        table.push(1);
        assert!(range.contains(&table.slots().as_ptr().addr()));
        assert_eq!(session.overflow.capacity(), 0);
    }

    /// Where a table is follows from what was requested, whatever is then used.
    #[test]
    fn what_is_used_is_read_where_it_was_written() {
        for requested in [0, 1, 31, 32, 33, 34, 64, 1000] {
            for used in [0, 1, 31, 32, 33, requested] {
                for leading in [0, 1, 2] {
                    let mut session = Session::default();
                    if used > requested {
                        continue;
                    }
                    // An earlier launch has left its arguments in both places.
                    for earlier in [INLINE_SLOTS, 1000] {
                        let mut table = session.host_table(request(earlier));
                        table.extend(std::iter::repeat_n(u64::MAX, earlier));
                    }
                    let mut table =
                        session.host_table(TableRequest { leading, arguments: requested, trailing: 0 });
                    table.extend(7..used as u64 + 7);
                    let expected: Vec<u64> =
                        std::iter::repeat_n(0, leading).chain(7..used as u64 + 7).collect();
                    assert_eq!(table.slots(), expected, "{leading} + {used} of {requested}");
                }
            }
        }
    }
}
