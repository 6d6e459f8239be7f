//! The packet processor of a queue: one thread that takes packets in their order.
//!
//! A packet is done before the next one begins, which is what a set barrier bit asks for and a cleared
//! one allows. Fences are between all of them: the host's memory order is that of the system scope.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::thread;

use super::launch::{self, Failure};
use super::patience::{Patience, set};
use super::{Queue, State};
use crate::abi::number::condition;
use crate::abi::packet::{self, Packet, kind};
use crate::abi::pointer::Opaque;
use crate::abi::structure::Times;
use crate::abi::{Handle, Result, Status};
use crate::objects::process::clock;
use crate::objects::process::report::report;
use crate::objects::signal::Signal;
use crate::objects::signal::wait::{Condition, sleep_on, wait_any};

/// The thread's work, until the queue is destroyed.
pub(super) fn run(queue: &Arc<Queue>) {
    let _ = queue.runner.set(thread::current().id());
    let mut index = 0;
    loop {
        let has_packet = sleep_on(queue.doorbell, || match queue.state() {
            state if state == State::Ended as u8 => Some(false),
            state if state == State::Inactive as u8 => None,
            _ => {
                let header = queue.header(index).load(Ordering::Acquire) as u8;
                (header != kind::INVALID).then_some(true)
            }
        });
        if has_packet != Some(true) {
            return;
        }
        let packet = queue.packet(index);
        let start = clock::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| queue.process(&packet, index)));
        let outcome = outcome.unwrap_or_else(|_| {
            // The panic's own message has been printed by the hook.
            report!("queue {}: packet {index} failed by a bug in the virtual GPU", queue.memory.queue.id);
            Err(Failure::of(Status::ERROR_FATAL))
        });
        if queue.state() == State::Ended as u8 {
            return;
        }
        match outcome {
            Ok(()) => {
                queue.retire(index);
                index += 1;
                if let Err(status) = complete(&packet, start) {
                    report!(
                        "a packet of queue {} is done, but its completion signal is none",
                        queue.memory.queue.id
                    );
                    queue.fail(&packet, index - 1, &Failure::of(status));
                }
            }
            // The program has inactivated the queue.
            Err(failure) if failure.is_stop() => queue.inactivate(),
            Err(failure) => queue.fail(&packet, index, &failure),
        }
    }
}

/// Tells that a packet is done.
fn complete(packet: &Packet, start: u64) -> Result {
    if let Some(signal) = Signal::optional(Handle(packet.completion()))? {
        signal.set_times(Times { start, end: clock::now() });
        signal.complete();
    }
    Ok(())
}

impl Queue {
    /// The place of a packet is the program's again.
    pub(super) fn retire(&self, index: u64) {
        fence(Ordering::SeqCst);
        self.header(index).store(u16::from(kind::INVALID), Ordering::Relaxed);
        self.memory.read_dispatch_id.store(index + 1, Ordering::SeqCst);
    }

    fn process(self: &Arc<Self>, packet: &Packet, index: u64) -> std::result::Result<(), Failure> {
        fence(Ordering::SeqCst);
        let wrong = |what: &str| {
            report!("queue {}: packet {index} is {what}", self.memory.queue.id);
            Err(Failure::of(Status::ERROR_INVALID_PACKET_FORMAT))
        };
        match packet.kind() {
            kind::KERNEL_DISPATCH => launch::run(self, packet, index, self.place(index)),
            kind::BARRIER_AND => self.wait_for_all(packet),
            kind::BARRIER_OR => self.wait_for_any(packet),
            kind::VENDOR_SPECIFIC if packet.amd_format() == packet::AMD_BARRIER_VALUE => {
                self.wait_for_value(packet)
            }
            kind::VENDOR_SPECIFIC => {
                wrong(&format!("of the vendor's format {}, which is not supported", packet.amd_format()))
            }
            kind::AGENT_DISPATCH => wrong("an agent dispatch, which the queue does not support"),
            other => wrong(&format!("of the unknown type {other}")),
        }
    }

    fn dependencies(&self, packet: &Packet) -> std::result::Result<Vec<Signal>, Failure> {
        let found = packet.dependencies().into_iter().filter(|&handle| handle != 0);
        found.map(|handle| self.dependency(handle)).collect()
    }

    fn dependency(&self, handle: u64) -> std::result::Result<Signal, Failure> {
        Signal::get(Handle(handle)).map_err(|status| {
            report!("queue {}: a barrier waits for {handle:#x}, which is no signal", self.memory.queue.id);
            Failure::of(status)
        })
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    fn unless_stopped(&self) -> std::result::Result<(), Failure> {
        if self.is_stopped() { Err(Failure::STOP) } else { Ok(()) }
    }

    /// A barrier-AND packet: all its signals are 0 (HSA System Architecture 1.2, 2.9.7).
    fn wait_for_all(&self, packet: &Packet) -> std::result::Result<(), Failure> {
        for signal in self.dependencies(packet)? {
            let zero = Condition::new(condition::EQ, 0).map_err(Failure::of)?;
            let _ = signal.wait(zero, None, || self.is_stopped());
            self.unless_stopped()?;
        }
        Ok(())
    }

    /// A barrier-OR packet: one of its signals is 0; without any it is done (2.9.8).
    fn wait_for_any(&self, packet: &Packet) -> std::result::Result<(), Failure> {
        let zero = Condition::new(condition::EQ, 0).map_err(Failure::of)?;
        let watched: Vec<_> = self.dependencies(packet)?.into_iter().map(|signal| (signal, zero)).collect();
        if !watched.is_empty() {
            let _ = wait_any(&watched, None, || self.is_stopped());
        }
        self.unless_stopped()
    }

    /// AMD's packet that waits for a value (`hsa_amd_barrier_value_packet_t`).
    fn wait_for_value(&self, packet: &Packet) -> std::result::Result<(), Failure> {
        let (handle, value, mask, kind) = packet.awaited_value();
        if handle == 0 {
            return Ok(());
        }
        let signal = self.dependency(handle)?;
        let condition =
            Condition::new(kind, value).map_err(|_| Failure::of(Status::ERROR_INVALID_PACKET_FORMAT))?;
        signal.wait_masked(condition, mask, || self.is_stopped());
        self.unless_stopped()
    }

    /// A packet has failed: the queue processes no other one, and its callback is told. Whoever waits for the
    /// packet sees a negative value.
    fn fail(self: &Arc<Self>, packet: &Packet, index: u64, failure: &Failure) {
        let (active, inactive) = (State::Active as u8, State::Inactive as u8);
        let _ = self.state.compare_exchange(active, inactive, Ordering::AcqRel, Ordering::Relaxed);
        let told = failure.tell();
        match self.callback {
            Some(callback) => {
                let _patience = Patience::begin(self, index, Handle(packet.completion()));
                callback(failure.status(), Opaque::from_address(self.address()), self.data);
            }
            // As with ROCm: a memory fault that nobody wants to know of ends the process.
            None if failure.is_memory_fault() && !told => {
                report!("nobody handles the memory fault: the program is ended");
                std::process::abort();
            }
            None => {}
        }
        // Only now, or whoever waits would go on as if all were well while the others are still being told.
        set(Handle(packet.completion()), -1);
    }
}
