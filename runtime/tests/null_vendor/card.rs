//! The card: engines that take packets from all rings, and what the driver keeps of it.
//!
//! Nothing is done in the call that asks for it. A kernel that traps stops its ring until the driver
//! has waited for that; one that accesses what is not there takes the card with it.

use crate::code::Code;
use crate::kernargs::Kernargs;
use crate::memory::Memory;
use crate::ring::{Dispatch, Packet, Ring, Task};
use gangway_backend::{
    Access, DevicePtr, Error, FaultReport, HostCallOutcome, HostCallService, Result, Suspect,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};

/// Engines: so many packets are worked on at a time, of as many rings.
const ENGINES: usize = 2;

/// The version of the instruction set.
pub const VERSION: u32 = 2;

/// A card, as its driver and tests have it.
pub struct Card {
    state: Mutex<State>,
    /// There may be something to do.
    doorbell: Condvar,
    /// Something has been done.
    progress: Condvar,
    memory: Mutex<Memory>,
    pub kernargs: Mutex<Kernargs>,
    pub service: OnceLock<HostCallService>,
}

#[derive(Default)]
struct State {
    rings: BTreeMap<usize, Ring>,
    /// The ring that has been served last: others come first.
    served: usize,
    signals: BTreeMap<usize, i64>,
    objects: BTreeMap<usize, Object>,
    next_handle: usize,
    /// The card is lost: what everybody is told.
    lost: Option<Error>,
    /// The engines take no packets.
    is_held: bool,
    violations: Vec<String>,
    done: Done,
}

/// A kernel object.
#[derive(Clone, Copy)]
struct Object {
    code: Code,
    globals: DevicePtr,
}

/// How often the card has done what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    pub dispatches: usize,
    pub copies: usize,
    /// Waits for signals.
    pub waits: usize,
}

/// Why a kernel has stopped.
pub enum Stop {
    Trap(&'static str),
    Access(Access),
}

/// A kernel that runs.
pub struct Wave<'c> {
    card: &'c Card,
    pub kernarg: Vec<u8>,
    pub globals: DevicePtr,
    pub teams: [u32; 3],
    pub threads: [u32; 3],
}

impl Wave<'_> {
    /// A parameter of 8 bytes.
    pub fn word(&self, offset: usize) -> u64 {
        u64::from_ne_bytes(self.kernarg[offset..][..8].try_into().expect("8 bytes"))
    }

    /// A parameter of 4 bytes.
    pub fn half_word(&self, offset: usize) -> u32 {
        u32::from_ne_bytes(self.kernarg[offset..][..4].try_into().expect("4 bytes"))
    }

    /// A parameter that is an address.
    pub fn address(&self, offset: usize) -> DevicePtr {
        DevicePtr(self.word(offset) as usize)
    }

    /// Reads or writes memory of the card.
    pub fn access<R>(
        &self,
        at: DevicePtr,
        size: usize,
        write: bool,
        with: impl FnOnce(&mut [u8]) -> R,
    ) -> std::result::Result<R, Stop> {
        let mut memory = self.card.memory();
        let access = Access { address: at.0, size, write, foreign: false, unified: false };
        memory.bytes(at, size).map(with).ok_or(Stop::Access(access))
    }

    /// Calls a function of the host.
    pub fn call(&self, function: u64, block: &mut [u8]) -> std::result::Result<(), Stop> {
        let service = self.card.service.get().ok_or(Stop::Trap("no host is connected"))?;
        match service.call(function, block) {
            HostCallOutcome::Answered => Ok(()),
            _ => Err(Stop::Trap("the host has not answered")),
        }
    }

    /// Until another kernel has taken the card with it.
    pub fn wait_for_loss(&self) {
        drop(self.card.wait_while(self.card.state(), |state| state.lost.is_none()));
    }
}

impl Card {
    pub fn new(memory: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            doorbell: Condvar::new(),
            progress: Condvar::new(),
            memory: Mutex::new(Memory::new(memory)),
            kernargs: Mutex::default(),
            service: OnceLock::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap()
    }

    fn wait_while<'c>(
        &'c self,
        state: MutexGuard<'c, State>,
        condition: impl FnMut(&mut State) -> bool,
    ) -> MutexGuard<'c, State> {
        self.progress.wait_while(state, condition).unwrap()
    }

    /// Starts the engines.
    pub fn start(self: &Arc<Self>) {
        for _ in 0..ENGINES {
            let card = self.clone();
            std::thread::spawn(move || card.serve());
        }
    }

    /// An engine: takes one packet after the other.
    fn serve(&self) {
        let mut state = self.state();
        loop {
            let Some((queue, task)) = state.take_next() else {
                state = self.doorbell.wait(state).unwrap();
                continue;
            };
            drop(state);
            self.progress.notify_all();
            let stopped = task.as_ref().and_then(|task| self.perform(task).err());
            state = self.state();
            let told = state.retire(queue, task.is_some(), stopped).told;
            self.progress.notify_all();
            self.doorbell.notify_all();
            if told.is_some() {
                drop(state);
                drop(told);
                state = self.state();
            }
        }
    }

    fn perform(&self, task: &Task) -> std::result::Result<(), Stop> {
        match *task {
            Task::Wait(_) => {}
            Task::Dispatch(ref dispatch) => return self.run(dispatch),
            Task::CopyIn { to, from, size } => self.copy(to, size, |bytes| {
                // SAFETY: the runtime's promise to a back end.
                bytes.copy_from_slice(unsafe { std::slice::from_raw_parts(from as *const u8, size) });
            }),
            Task::CopyOut { to, from, size } => self.copy(from, size, |bytes| {
                // SAFETY: the runtime's promise to a back end.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to as *mut u8, size) };
            }),
            Task::CopyInside { to, from, size } => {
                let mut between = vec![0; size];
                self.copy(from, size, |bytes| between.copy_from_slice(bytes));
                self.copy(to, size, |bytes| bytes.copy_from_slice(&between));
            }
        }
        Ok(())
    }

    fn copy(&self, at: DevicePtr, size: usize, with: impl FnOnce(&mut [u8])) {
        let done = self.memory().bytes(at, size).map(with);
        if done.is_none() {
            self.violation(format!("a copy of {size} bytes at {:#x}, where they are not", at.0));
        }
    }

    fn run(&self, dispatch: &Dispatch) -> std::result::Result<(), Stop> {
        let object = self.state().objects.get(&dispatch.object).copied();
        let kernarg = self.kernargs.lock().unwrap().read(dispatch.segment, dispatch.bytes);
        let (Some(Object { code, globals }), Some(kernarg)) = (object, kernarg) else {
            self.violation(format!("{dispatch:?} of what is not there any more"));
            return Ok(());
        };
        let Dispatch { teams, threads, .. } = *dispatch;
        code(&Wave { card: self, kernarg, globals, teams, threads })
    }

    fn violation(&self, what: String) {
        self.state().violations.push(what);
    }
}

impl State {
    fn new_handle(&mut self) -> usize {
        self.next_handle += 1;
        self.next_handle - 1
    }

    /// The ring whose first packet can be done, and what it is; no task, if it is not to be done.
    fn take_next(&mut self) -> Option<(usize, Option<Task>)> {
        if self.is_held {
            return None;
        }
        let is_ready = |ring: &Ring| match ring.first() {
            None => false,
            // What waits for others does not wait any more when all is lost.
            Some(_) if self.lost.is_some() || ring.failure.is_some() => true,
            Some(Packet { task: Task::Wait(Some(signal)), .. }) => {
                self.signals.get(signal).is_none_or(|value| *value <= 0)
            }
            Some(_) => true,
        };
        let after = self.rings.range(self.served + 1..).chain(self.rings.range(..=self.served));
        let queue = after.filter(|(_, ring)| is_ready(ring)).map(|(number, _)| *number).next()?;
        self.served = queue;
        let ring = self.rings.get_mut(&queue)?;
        let task = ring.first()?.task.clone();
        let is_done = ring.take() && self.lost.is_none();
        Some((queue, is_done.then_some(task)))
    }

    /// The first packet of a ring is done, or has been left out.
    fn retire(&mut self, queue: usize, is_done: bool, stopped: Option<Stop>) -> Packet {
        match stopped {
            Some(Stop::Access(access)) => self.lose(queue, access),
            Some(Stop::Trap(why)) => {
                let failure = Error::Device { code: 0x1001, message: why.to_owned() };
                self.ring(queue).failure.get_or_insert(failure);
            }
            None => {}
        }
        let packet = self.ring(queue).retire();
        match packet.task {
            _ if !is_done => {}
            Task::Dispatch(_) => self.done.dispatches += 1,
            Task::Wait(Some(_)) => self.done.waits += 1,
            Task::Wait(None) => {}
            Task::CopyIn { .. } | Task::CopyOut { .. } | Task::CopyInside { .. } => self.done.copies += 1,
        }
        if let Some(value) = packet.signal.and_then(|signal| self.signals.get_mut(&signal)) {
            *value -= 1;
        }
        packet
    }

    fn ring(&mut self, queue: usize) -> &mut Ring {
        self.rings.get_mut(&queue).expect("a queue that is not destroyed")
    }

    /// A kernel has taken the card with it. Which one it was the driver does not know: it tells all
    /// that were running.
    fn lose(&mut self, queue: usize, access: Access) {
        let mut running: Vec<_> =
            self.rings.iter().filter_map(|(number, ring)| Some((*number, ring.running()?))).collect();
        running.sort_by_key(|(number, _)| *number != queue);
        let suspect = |(_, dispatch): &(usize, &Dispatch)| Suspect {
            kernel: dispatch.name.clone(),
            source: dispatch.source,
        };
        let report =
            FaultReport { access: Some(access), near: "in no buffer".to_owned(), ..FaultReport::default() };
        let lost = Error::Fault {
            code: 0x29,
            message: "memory fault".to_owned(),
            suspects: running.iter().map(suspect).collect(),
            report: Some(Box::new(report)),
        };
        self.lost.get_or_insert(lost);
    }
}

/// What the driver does.
impl Card {
    /// The card, unless it is lost.
    fn usable(&self) -> Result<MutexGuard<'_, State>> {
        let state = self.state();
        match &state.lost {
            Some(lost) => Err(lost.clone()),
            None => Ok(state),
        }
    }

    /// Whether it can be used.
    ///
    /// # Errors
    /// It is lost.
    pub fn check(&self) -> Result<()> {
        self.usable().map(drop)
    }

    pub fn create_queue(&self) -> Result<usize> {
        let mut state = self.usable()?;
        let queue = state.new_handle();
        state.rings.insert(queue, Ring::default());
        Ok(queue)
    }

    pub fn destroy_queue(&self, queue: usize) {
        let removed = self.state().rings.remove(&queue);
        if removed.is_none_or(|ring| !ring.is_empty()) {
            self.violation(format!("queue {queue} has been destroyed with packets in it"));
        }
    }

    /// Writes a packet and rings the doorbell. Waits while the ring is full. The packet comes back from a
    /// card that is lost.
    pub fn push(&self, queue: usize, packet: Packet) -> std::result::Result<(), Box<(Error, Packet)>> {
        let mut state = self.wait_while(self.state(), |state| {
            state.lost.is_none() && state.rings.get(&queue).is_some_and(Ring::is_full)
        });
        if let Some(lost) = &state.lost {
            return Err(Box::new((lost.clone(), packet)));
        }
        state.ring(queue).push(packet);
        self.doorbell.notify_all();
        Ok(())
    }

    pub fn synchronize(&self, queue: usize) -> Result<()> {
        let is_busy = |state: &mut State| !state.ring(queue).is_empty();
        let mut state = self.wait_while(self.state(), is_busy);
        state.outcome(queue)
    }

    pub fn is_idle(&self, queue: usize) -> Result<bool> {
        let mut state = self.state();
        if state.ring(queue).is_empty() { state.outcome(queue).map(|()| true) } else { Ok(false) }
    }

    /// A signal that a packet counts down.
    pub fn create_signal(&self) -> Result<usize> {
        let mut state = self.usable()?;
        let signal = state.new_handle();
        state.signals.insert(signal, 1);
        Ok(signal)
    }

    pub fn destroy_signal(&self, signal: usize) {
        let mut state = self.state();
        if state.signals.remove(&signal).is_none() || state.rings.values().any(|ring| ring.waits_for(signal))
        {
            state.violations.push(format!("signal {signal} has been destroyed and is in use, or is none"));
        }
    }

    pub fn create_object(&self, code: Code, globals: DevicePtr) -> usize {
        let mut state = self.state();
        let object = state.new_handle();
        state.objects.insert(object, Object { code, globals });
        object
    }

    pub fn destroy_object(&self, object: usize) {
        self.state().objects.remove(&object);
    }

    pub fn free(&self, address: DevicePtr) {
        if self.state().rings.values().any(|ring| ring.copies(address)) {
            self.violation(format!("{:#x} has been freed while it is copied", address.0));
        }
        if !self.memory().free(address) {
            self.violation(format!("{:#x} has been freed and is no buffer", address.0));
        }
    }
}

impl State {
    /// What the driver says when a queue has nothing left to do.
    fn outcome(&mut self, queue: usize) -> Result<()> {
        let failure = self.ring(queue).failure.take();
        self.lost.clone().or(failure).map_or(Ok(()), Err)
    }
}

/// What tests do.
impl Card {
    /// The engines take no more packets.
    pub fn hold(&self) {
        self.state().is_held = true;
    }

    pub fn go_on(&self) {
        self.state().is_held = false;
        self.doorbell.notify_all();
    }

    /// Returns when a kernel runs.
    pub fn wait_for_kernel(&self) {
        let is_running = |state: &State| state.rings.values().any(|ring| ring.running().is_some());
        drop(self.wait_while(self.state(), |state| !is_running(state)));
    }

    pub fn done(&self) -> Done {
        self.state().done
    }

    pub fn violations(&self) -> Vec<String> {
        std::mem::take(&mut self.state().violations)
    }

    /// Whether there are packets that have not been done.
    pub fn is_busy(&self) -> bool {
        self.state().rings.values().any(|ring| !ring.is_empty())
    }

    /// Queues, signals and kernel objects that there are.
    pub fn handles(&self) -> [usize; 3] {
        let state = self.state();
        [state.rings.len(), state.signals.len(), state.objects.len()]
    }
}
