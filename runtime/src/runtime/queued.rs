//! Constructs in a queue that the program owns, which return when they have been issued.

use super::Runtime;
use crate::environment::Progress;
use crate::error::Result;
use crate::events::Site;
use crate::items::Items;
use crate::queue::Queue;
use crate::shape::Shape;
use crate::target::DataOperation;

impl Runtime {
    /// Runs a target region in a queue, behind what has been issued to it. What fails
    /// later is told by [`Queue::synchronize`].
    ///
    /// # Errors
    /// The region could not be issued; nothing stays mapped.
    pub fn run_in(
        &self,
        queue: &Queue,
        site: Site,
        host: usize,
        items: &impl Items,
        shape: &Shape,
    ) -> Result<()> {
        queue.tidy()?;
        let (region, kernel) = self.region(queue.device(), host, &site)?;
        let mut job = queue.start(site, self.unified_shared_memory())?;
        job.run(region, kernel, items, shape)?;
        queue.accept(job)
    }

    /// Begins, ends or updates data in a queue, behind what has been issued to it. Host
    /// memory that is copied has to stay until the queue has got there.
    ///
    /// # Errors
    /// As [`data`](Self::data).
    pub fn data_in(
        &self,
        queue: &Queue,
        site: Site,
        operation: DataOperation,
        items: &impl Items,
    ) -> Result<()> {
        queue.tidy()?;
        let mut job = queue.start(site, self.unified_shared_memory())?;
        job.move_data(operation, items, &Progress::NONE)?;
        queue.accept(job)
    }
}
