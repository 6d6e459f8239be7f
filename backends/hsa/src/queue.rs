//! A queue of the device: packets in a ring, and a doorbell.

use crate::agent::Agent;
use crate::driver::types::{
    BARRIER_DEPENDENCIES, Dispatch, Handle, Packet, QUEUE_MULTI, QueueRecord, barrier,
};
use crate::fault::{Faults, hear_queue};
use gangway_backend::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Packets that a queue has room for, if the device's can be so large.
const SIZE: u32 = 1024;
/// The library sees to memory for private and group segments.
const OPEN: u32 = u32::MAX;

/// A queue. One thread at a time adds packets of ours: the one that has its stream's lock. A program that has been given
/// the [`handle`](Self::handle) may add its own meanwhile, as each takes an index for itself alone.
pub(crate) struct Queue {
    record: *mut QueueRecord,
}

// SAFETY: the library's functions for queues may be called by any thread.
unsafe impl Send for Queue {}
// SAFETY: as above.
unsafe impl Sync for Queue {}

impl Queue {
    pub fn create(agent: &Agent, faults: &Arc<Faults>) -> Result<Self> {
        let mut record = std::ptr::null_mut();
        let size = SIZE.min(agent.properties.queue_size);
        // SAFETY: the library writes one pointer, and calls the function with its data.
        let code = unsafe {
            (agent.driver.api.queue_create)(
                agent.handle,
                size,
                QUEUE_MULTI,
                hear_queue,
                faults.data(),
                OPEN,
                OPEN,
                &raw mut record,
            )
        };
        agent.checked(code, "hsa_queue_create")?;
        if let Some(gpu) = agent.driver.virtual_gpu {
            gpu.queue_is_ours(record.expose_provenance());
        }
        Ok(Self { record })
    }

    /// The number by which faults name it.
    pub fn id(&self) -> u64 {
        // SAFETY: the queue is alive.
        unsafe { (*self.record).id }
    }

    /// Puts a kernel behind what is in the queue.
    ///
    /// # Errors
    /// The device is lost while the queue is full.
    pub fn dispatch(&self, agent: &Agent, faults: &Faults, dispatch: &Dispatch) -> Result<()> {
        self.add(agent, faults, dispatch.packet()).map(drop)
    }

    /// Has what follows wait for signals.
    ///
    /// # Errors
    /// As above.
    pub fn wait_for(&self, agent: &Agent, faults: &Faults, signals: &[Handle]) -> Result<()> {
        signals
            .chunks(BARRIER_DEPENDENCIES)
            .try_for_each(|some| self.add(agent, faults, barrier(some, None)).map(drop))
    }

    /// Has a signal tell when all that is in the queue is done. How many packets that is, by then.
    ///
    /// # Errors
    /// As above.
    pub fn tell(&self, agent: &Agent, faults: &Faults, signal: Handle) -> Result<u64> {
        self.add(agent, faults, barrier(&[], Some(signal))).map(|index| index + 1)
    }

    /// How many packets have been put into it.
    pub fn packets(&self, agent: &Agent) -> u64 {
        // SAFETY: the queue is alive.
        unsafe { (agent.driver.api.queue_add_write_index)(self.record, 0) }
    }

    /// The library's handle of it, which programs may add packets through, too.
    pub fn handle(&self) -> usize {
        self.record.expose_provenance()
    }

    /// Adds a packet, and gives its index.
    fn add(&self, agent: &Agent, faults: &Faults, packet: Packet) -> Result<u64> {
        let api = &agent.driver.api;
        // SAFETY: the queue is alive.
        let (base, size, doorbell) =
            unsafe { ((*self.record).base, (*self.record).size, (*self.record).doorbell) };
        // SAFETY: as above.
        let index = unsafe { (api.queue_add_write_index)(self.record, 1) };
        // SAFETY: as above.
        while index - unsafe { (api.queue_read_index)(self.record) } >= u64::from(size) {
            if faults.has() {
                return Err(Error::Device { code: 0, message: "the queue has stopped".to_owned() });
            }
            std::thread::yield_now();
        }
        let [first, rest @ ..] = packet;
        // SAFETY: the place is the caller's until the first half word says what it is: nobody else has its index, and
        // the device has read what stood there.
        unsafe {
            let place = base.add((index % u64::from(size)) as usize).cast::<u64>();
            place.add(1).copy_from_nonoverlapping(rest.as_ptr(), rest.len());
            place.cast::<u32>().add(1).write((first >> 32) as u32);
            AtomicU32::from_ptr(place.cast()).store(first as u32, Ordering::Release);
            (api.signal_store_release)(doorbell, index.cast_signed());
        }
        Ok(index)
    }

    /// Destroys it.
    ///
    /// # Safety
    /// No operation is in it, or the device is lost.
    pub unsafe fn destroy(self, agent: &Agent) {
        // SAFETY: the caller's promise.
        let _ = unsafe { (agent.driver.api.queue_destroy)(self.record) };
    }
}
