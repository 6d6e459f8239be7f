//! One offload job and the memory its kernel arguments live in.
//!
//! The runtime translates each argument straight into the session's
//! [`ArgumentTable`]; the back end passes that very memory to the kernel. So a
//! launch allocates nothing and copies nothing extra (the idea of the offload
//! sessions proposed for libgomp, see `ARCHITECTURE.md`). A back end whose
//! kernels read arguments from memory of its own hands that memory out in
//! [`Device::argument_table`](crate::Device::argument_table).

use crate::types::StreamHandle;

/// Arguments kept inside the session itself. Compiler-made kernels rarely have
/// more; those that do use the thread's spare table.
const INLINE_SLOTS: usize = 32;

/// The words a back end may keep in a session from one call to the next (its
/// kernel-argument allocation, say).
const BACKEND_WORDS: usize = 4;

/// State of one map–launch–unmap job. Lives on the stack of the launching host
/// thread and never moves while an [`ArgumentTable`] into it is alive.
#[derive(Debug)]
pub struct Session {
    inline: [u64; INLINE_SLOTS],
    overflow: Vec<u64>,
    stream: Option<StreamHandle>,
    /// Free for the back end; zero at the start.
    pub backend_words: [u64; BACKEND_WORDS],
}

/// The kernel's arguments, one 64-bit slot each, in order.
pub type ArgumentTable<'s> = &'s mut [u64];

impl Default for Session {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Session {
    /// A session whose operations go to `stream` (`None` on synchronous devices).
    #[must_use]
    #[inline]
    pub const fn new(stream: Option<StreamHandle>) -> Self {
        Self { inline: [0; INLINE_SLOTS], overflow: Vec::new(), stream, backend_words: [0; BACKEND_WORDS] }
    }

    /// The stream this session's operations go to.
    #[must_use]
    #[inline]
    pub const fn stream(&self) -> Option<StreamHandle> {
        self.stream
    }

    /// Makes the session ready for the next job. Its memory stays.
    #[inline]
    pub fn restart(&mut self, stream: Option<StreamHandle>) {
        self.stream = stream;
        self.backend_words = [0; BACKEND_WORDS];
    }

    /// A table of `slots` slots in host memory, with what the last job left in
    /// them. Allocates only beyond the inline capacity.
    #[inline]
    pub fn host_table(&mut self, slots: usize) -> ArgumentTable<'_> {
        if slots <= INLINE_SLOTS {
            &mut self.inline[..slots]
        } else {
            self.overflow.clear();
            self.overflow.resize(slots, 0);
            &mut self.overflow
        }
    }

    /// The first `slots` arguments as they were left in the table that
    /// [`host_table`](Self::host_table) handed out: what a back end launches with.
    ///
    /// # Panics
    /// No table of that many slots has been handed out.
    #[must_use]
    #[inline]
    pub fn arguments(&self, slots: usize) -> &[u64] {
        if slots <= INLINE_SLOTS { &self.inline[..slots] } else { &self.overflow[..slots] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_tables_stay_inside_the_session() {
        let mut session = Session::default();
        let range = {
            let start = std::ptr::from_ref(&session).addr();
            start..start + size_of::<Session>()
        };
        assert!(range.contains(&session.host_table(INLINE_SLOTS).as_ptr().addr()));
        assert_eq!(session.overflow.capacity(), 0);
    }

    #[test]
    fn any_number_of_arguments_fits() {
        let mut session = Session::default();
        let table = session.host_table(1000);
        assert_eq!(table.len(), 1000);
        table[999] = 7;
        assert_eq!(session.arguments(1000)[999], 7);
    }
}
