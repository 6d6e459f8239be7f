//! Rings of packets. The driver writes packets and moves the write index on; the card takes them in
//! order and moves the read index on. A packet counts its signal down when it is done.

use super::memory::is_same_buffer;
use gangway_backend::{Completion, DevicePtr, Error, SourceText};

/// Packets that a ring has room for.
pub const SLOTS: usize = 8;

/// What the card is to do.
#[derive(Debug, Clone)]
pub enum Task {
    Dispatch(Dispatch),
    CopyIn {
        to: DevicePtr,
        from: usize,
        size: usize,
    },
    CopyOut {
        to: usize,
        from: DevicePtr,
        size: usize,
    },
    CopyInside {
        to: DevicePtr,
        from: DevicePtr,
        size: usize,
    },
    /// Nothing, when a signal has come to 0.
    Wait(Option<usize>),
}

/// A kernel that is to run.
#[derive(Debug, Clone)]
pub struct Dispatch {
    /// The kernel object.
    pub object: usize,
    /// Where its arguments are, and how many bytes.
    pub segment: usize,
    pub bytes: usize,
    pub teams: [u32; 3],
    pub threads: [u32; 3],
    /// For the driver's messages.
    pub name: String,
    pub source: SourceText,
}

/// A place in a ring.
pub struct Packet {
    pub task: Task,
    /// The signal to be counted down.
    pub signal: Option<usize>,
    /// Who is to be told.
    pub told: Option<Completion>,
}

/// A queue of the card's.
#[derive(Default)]
pub struct Ring {
    slots: [Option<Packet>; SLOTS],
    write: usize,
    read: usize,
    /// The card is at the first packet.
    is_taken: bool,
    /// What has failed since the driver last waited: the rest is not done until then.
    pub failure: Option<Error>,
}

impl Ring {
    pub fn is_empty(&self) -> bool {
        self.read == self.write
    }

    pub fn is_full(&self) -> bool {
        self.write - self.read == SLOTS
    }

    pub fn push(&mut self, packet: Packet) {
        assert!(!self.is_full());
        self.slots[self.write % SLOTS] = Some(packet);
        self.write += 1;
    }

    /// The first packet, unless the card is at it.
    pub fn first(&self) -> Option<&Packet> {
        if self.is_taken { None } else { self.slots[self.read % SLOTS].as_ref() }
    }

    /// The card takes the first packet; false: it is not to be done.
    pub fn take(&mut self) -> bool {
        self.is_taken = true;
        self.failure.is_none()
    }

    /// The card is done with the first packet.
    pub fn retire(&mut self) -> Packet {
        self.is_taken = false;
        let packet = self.slots[self.read % SLOTS].take().expect("the card was at a packet");
        self.read += 1;
        packet
    }

    /// The kernel that runs.
    pub fn running(&self) -> Option<&Dispatch> {
        let first = self.slots[self.read % SLOTS].as_ref().filter(|_| self.is_taken)?;
        if let Task::Dispatch(dispatch) = &first.task { Some(dispatch) } else { None }
    }

    /// Whether a packet copies from or to a buffer.
    pub fn copies(&self, address: DevicePtr) -> bool {
        self.tasks().any(|task| match *task {
            Task::CopyIn { to, .. } => is_same_buffer(to, address),
            Task::CopyOut { from, .. } => is_same_buffer(from, address),
            Task::CopyInside { to, from, .. } => is_same_buffer(to, address) || is_same_buffer(from, address),
            Task::Dispatch(_) | Task::Wait(_) => false,
        })
    }

    /// Whether a packet waits for a signal.
    pub fn waits_for(&self, signal: usize) -> bool {
        self.tasks().any(|task| matches!(task, Task::Wait(Some(awaited)) if *awaited == signal))
    }

    fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.slots.iter().flatten().map(|packet| &packet.task)
    }
}
