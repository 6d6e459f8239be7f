//! Streams and events. Operations wait in queues; *when* they are done is the
//! point of the two kinds of device:
//!
//! * lazy: only when somebody waits for their stream. Whatever the runtime
//!   releases too early is gone by then, every time.
//! * worker: on a thread of the device, streams in pseudo-random order.

use super::construct::EXPECTED;
use super::memory::DeviceMemory;
use gangway_backend::{Completion, DevicePtr};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a kernel does with one argument: adds one to each byte, or checks that
/// each is [`EXPECTED`].
#[derive(Debug, Clone, Copy)]
pub struct Access {
    pub begin: DevicePtr,
    pub size: usize,
    pub check: bool,
}

impl Access {
    /// What the arguments of a kernel say: first the addresses, then the extents, see
    /// `ListItem::extent`.
    pub fn list(slots: &[u64]) -> Vec<Self> {
        let (addresses, extents) = slots.split_at(slots.len() / 2);
        let range = |(&address, &extent): (&u64, &u64)| {
            let offset = (extent >> 24) as u32 as i32 as isize;
            let access = Self {
                begin: DevicePtr(address as usize).offset(offset),
                size: (extent & 0xff_ffff) as usize,
                check: extent >> 63 != 0,
            };
            (extent != 0).then_some(access)
        };
        addresses.iter().zip(extents).filter_map(range).collect()
    }

    fn perform(self, memory: &mut DeviceMemory) {
        let Self { begin, size, check } = self;
        let Some(bytes) = memory.bytes(begin, size, "kernel's access") else { return };
        if !check {
            bytes.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
        } else if bytes.iter().any(|byte| *byte != EXPECTED) {
            let found = format!("a kernel found wrong data at {:#x}: {bytes:?}", begin.0);
            memory.violations.push(found);
        }
    }
}

/// A device operation, done or to be done.
#[derive(Debug, Clone)]
pub enum Operation {
    ToDevice {
        to: DevicePtr,
        from: usize,
        size: usize,
    },
    FromDevice {
        to: usize,
        from: DevicePtr,
        size: usize,
    },
    Kernel {
        accesses: Vec<Access>,
    },
    /// A kernel that reads its arguments from device memory when it runs.
    TableKernel {
        table: DevicePtr,
        count: usize,
    },
    Record(usize),
    Wait(usize),
    Allocate {
        memory: DevicePtr,
        size: usize,
    },
    Free {
        memory: DevicePtr,
    },
    /// Tells whoever wants to know, see [`Queues::notify`].
    Complete(usize),
}

impl Operation {
    /// Does it. Host ranges are what the runtime vouched for.
    fn perform(self, memory: &mut DeviceMemory) {
        match self {
            Self::ToDevice { to, from, size } => {
                if let Some(bytes) = memory.bytes(to, size, "copy to the device") {
                    // SAFETY: the runtime's promise to a back end.
                    bytes.copy_from_slice(unsafe { std::slice::from_raw_parts(from as *const u8, size) });
                }
            }
            Self::FromDevice { to, from, size } => {
                if let Some(bytes) = memory.bytes(from, size, "copy from the device") {
                    // SAFETY: the runtime's promise to a back end.
                    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to as *mut u8, size) };
                }
            }
            Self::Kernel { accesses } => {
                accesses.into_iter().for_each(|access| access.perform(memory));
            }
            Self::TableKernel { table, count: 0 } => assert_eq!(table, DevicePtr::NULL),
            Self::TableKernel { table, count } => {
                let Some(bytes) = memory.bytes(table, count * 8, "kernel's table of arguments") else {
                    return;
                };
                let slot = |slot: &[u8]| u64::from_ne_bytes(slot.try_into().unwrap());
                let slots: Vec<u64> = bytes.chunks_exact(8).map(slot).collect();
                Access::list(&slots).into_iter().for_each(|access| access.perform(memory));
            }
            Self::Allocate { memory: pointer, size } => memory.begin(pointer, size),
            Self::Record(_) | Self::Wait(_) | Self::Free { .. } | Self::Complete(_) => {}
        }
    }

    fn uses(&self, begin: usize, size: usize) -> bool {
        let inside = |pointer: DevicePtr| (begin..begin + size).contains(&pointer.0);
        match self {
            Self::ToDevice { to, .. } => inside(*to),
            Self::FromDevice { from, .. } => inside(*from),
            Self::Kernel { accesses } => accesses.iter().any(|access| inside(access.begin)),
            Self::TableKernel { table, .. } => inside(*table),
            Self::Record(_)
            | Self::Wait(_)
            | Self::Allocate { .. }
            | Self::Free { .. }
            | Self::Complete(_) => false,
        }
    }
}

/// All queues of a device, and its memory.
pub struct Queues {
    pub memory: DeviceMemory,
    streams: BTreeMap<usize, VecDeque<Operation>>,
    /// Events that exist; true once they have happened.
    events: BTreeMap<usize, bool>,
    completions: BTreeMap<usize, Completion>,
    next_handle: usize,
    random: u64,
}

impl Queues {
    pub fn new(memory: DeviceMemory) -> Self {
        Self {
            memory,
            streams: BTreeMap::new(),
            events: BTreeMap::new(),
            completions: BTreeMap::new(),
            // Any number is a handle.
            next_handle: 0,
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }

    pub fn perform_now(&mut self, operation: Operation) {
        operation.perform(&mut self.memory);
    }

    pub fn create_stream(&mut self) -> usize {
        let stream = self.new_handle();
        self.streams.insert(stream, VecDeque::new());
        stream
    }

    fn new_handle(&mut self) -> usize {
        self.next_handle += 1;
        self.next_handle - 1
    }

    /// Whether an operation under way uses a range of the host.
    pub fn uses_host(&self, begin: usize, size: usize) -> bool {
        let inside = |at: usize| (begin..begin + size).contains(&at);
        self.streams.values().flatten().any(|operation| match *operation {
            Operation::ToDevice { from, .. } => inside(from),
            Operation::FromDevice { to, .. } => inside(to),
            _ => false,
        })
    }

    /// Whether anything is under way.
    pub fn is_busy(&self) -> bool {
        self.streams.values().any(|queue| !queue.is_empty())
    }

    /// Whether a kernel is under way.
    pub fn has_kernels(&self) -> bool {
        let is_kernel = |operation: &Operation| {
            matches!(operation, Operation::Kernel { .. } | Operation::TableKernel { .. })
        };
        self.streams.values().flatten().any(is_kernel)
    }

    pub fn notify(&mut self, stream: usize, completion: Completion) {
        let handle = self.new_handle();
        self.completions.insert(handle, completion);
        self.push(stream, Operation::Complete(handle));
    }

    pub fn destroy_stream(&mut self, stream: usize) {
        if self.streams.remove(&stream).is_none_or(|queue| !queue.is_empty()) {
            self.memory.violations.push(format!("stream {stream} destroyed while it was not idle"));
        }
    }

    pub fn push(&mut self, stream: usize, operation: Operation) {
        match self.streams.get_mut(&stream) {
            Some(queue) => queue.push_back(operation),
            None => self.memory.violations.push(format!("{operation:?} in stream {stream}, which is none")),
        }
    }

    pub fn record(&mut self, stream: usize) -> usize {
        let event = self.new_handle();
        self.events.insert(event, false);
        self.push(stream, Operation::Record(event));
        event
    }

    pub fn wait(&mut self, stream: usize, event: usize) {
        if !self.events.contains_key(&event) {
            self.memory.violations.push(format!("waiting for event {event}, which is none"));
        }
        self.push(stream, Operation::Wait(event));
    }

    pub fn destroy_event(&mut self, event: usize) {
        if self.events.remove(&event).is_none() {
            self.memory.violations.push(format!("event {event} destroyed, which is none"));
        }
        let waits = |operation: &Operation| matches!(operation, Operation::Wait(e) if *e == event);
        if self.streams.values().flatten().any(waits) {
            self.memory.violations.push(format!("event {event} destroyed, for which a stream waits"));
        }
    }

    pub fn is_all_done(&self) -> bool {
        self.streams.values().all(VecDeque::is_empty)
    }

    pub fn is_idle(&self, stream: usize) -> bool {
        self.streams.get(&stream).is_none_or(VecDeque::is_empty)
    }

    pub fn free(&mut self, pointer: DevicePtr) {
        if let Some((begin, size)) = self.memory.allocation_of(pointer.0)
            && let Some(operation) =
                self.streams.values().flatten().find(|operation| operation.uses(begin, size))
        {
            let violation = format!("free of {:#x}, which {operation:?} in flight uses", pointer.0);
            self.memory.violations.push(violation);
        }
        self.memory.free(pointer);
    }

    /// Does the first operation of a stream. False: it has to wait for an event.
    pub fn step(&mut self, stream: usize) -> bool {
        let Some(queue) = self.streams.get_mut(&stream) else { return false };
        match queue.front() {
            None => return false,
            Some(Operation::Wait(event)) if self.events.get(event) == Some(&false) => return false,
            Some(Operation::Complete(handle)) => {
                self.completions.remove(handle).expect("told once").complete();
            }
            Some(Operation::Record(event)) => {
                if let Some(happened) = self.events.get_mut(event) {
                    *happened = true;
                }
            }
            Some(_) => {}
        }
        match queue.pop_front() {
            // Other streams must have done with it.
            Some(Operation::Free { memory }) => self.free(memory),
            Some(operation) => operation.perform(&mut self.memory),
            None => {}
        }
        true
    }

    /// Does everything in a stream, and of other streams what it waits for.
    pub fn drain(&mut self, stream: usize) {
        let mut entered = BTreeSet::new();
        self.drain_from(stream, None, &mut entered);
    }

    fn drain_from(&mut self, stream: usize, until: Option<usize>, entered: &mut BTreeSet<usize>) {
        entered.insert(stream);
        while until.is_none_or(|event| self.events.get(&event) == Some(&false)) {
            if self.step(stream) {
                continue;
            }
            let Some(Operation::Wait(event)) = self.streams.get(&stream).and_then(VecDeque::front) else {
                break;
            };
            let event = *event;
            let records = |operation: &Operation| matches!(operation, Operation::Record(e) if *e == event);
            let recorder = self.streams.iter().find(|(_, queue)| queue.iter().any(records));
            match recorder.map(|(&number, _)| number) {
                Some(number) if !entered.contains(&number) => self.drain_from(number, Some(event), entered),
                _ => {
                    self.memory.violations.push(format!("streams wait for each other at event {event}"));
                    break;
                }
            }
        }
        entered.remove(&stream);
    }

    /// Does one operation of any stream; false if none can be done.
    pub fn step_any(&mut self) -> bool {
        let streams: Vec<usize> = self.streams.keys().copied().collect();
        self.random = self.random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let first = (self.random >> 33) as usize;
        (0..streams.len()).any(|step| self.step(streams[(first + step) % streams.len()]))
    }

    /// Number of streams that exist.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    /// Everything that is left over, besides memory.
    pub fn leftovers(&self) -> Vec<String> {
        let busy = self.streams.iter().filter(|(_, queue)| !queue.is_empty());
        let streams = busy.map(|(number, queue)| format!("stream {number} still has {queue:?}"));
        streams.chain(self.events.keys().map(|event| format!("event {event} was not destroyed"))).collect()
    }
}
