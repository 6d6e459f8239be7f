//! What the algorithms ask of the processor. The device has one implementation, the tests have a
//! machine that runs every thread as a coroutine.

/// The processor as one thread sees it.
pub trait Machine: Copy {
    /// Waits for all threads of the block.
    fn barrier(self);

    /// Waits for all threads of the block, and says whether `mine` was true for any of them.
    fn any_in_block(self, mine: bool) -> bool;

    /// Orders all memory accesses before it and after it, as every thread of the device sees them.
    fn fence(self);

    /// Called in each turn of a loop that waits for other teams.
    fn spin(self);
}
