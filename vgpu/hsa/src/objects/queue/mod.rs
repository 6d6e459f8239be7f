//! Queues (HSA runtime 1.2, 2.5): rings of packets, and for each a thread that processes them.
//!
//! A queue that a program sees is an [`AmdQueue`] in memory that kernels can access, as in ROCm. Its
//! address is what functions get; it is checked to be that of a queue that there is.

mod compiled;
pub mod launch;
pub mod memory;
mod patience;
pub mod processor;
mod scratch;
mod workers;

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::thread::{self, JoinHandle, ThreadId};

use gangway_device_memory::{AllocationKind, Request};
use gangway_gcn_interpreter::{GROUP_APERTURE, PRIVATE_APERTURE};

use crate::abi::packet::{self, Packet};
use crate::abi::pointer::Opaque;
use crate::abi::structure::{self, AmdQueue, QUEUE_POINTERS_64};
use crate::abi::{Result, Status};
use crate::objects::agent::info::{QUEUE_MAX_SIZE, QUEUE_MIN_SIZE, QUEUES_MAX};
use crate::objects::agent::{self, Agent};
use crate::objects::memory::status;
use crate::objects::signal::Signal;
use crate::objects::signal::arena::Arena;

/// Queues of a process, at most: those of all agents and soft ones.
const MOST: u32 = 8192;

/// What is called when something happens to a queue.
pub type Callback = extern "C" fn(Status, Opaque, Opaque);

/// What a program wants a queue to be.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    pub size: u32,
    pub kind: u32,
    pub features: u32,
    pub callback: Option<Callback>,
    pub data: Opaque,
}

/// What becomes of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum State {
    Active,
    /// The program has inactivated it, or a packet has failed: nothing is processed any more.
    Inactive,
    /// It is being destroyed.
    Ended,
}

#[derive(Debug)]
pub struct Queue {
    number: u32,
    memory: &'static AmdQueue,
    /// `None` for a soft queue, which the program processes itself.
    agent: Option<&'static Agent>,
    ring: u64,
    size: u32,
    doorbell: Signal,
    callback: Option<Callback>,
    data: Opaque,
    state: AtomicU8,
    /// Ends the kernel that runs.
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
    runner: OnceLock<ThreadId>,
    units: Mutex<Vec<u32>>,
    /// Gangway's runtime has made it.
    is_runtimes: AtomicBool,
}

struct Queues {
    arena: Arena<AmdQueue>,
    all: RwLock<Vec<Option<Arc<Queue>>>>,
}

static QUEUES: OnceLock<Option<Queues>> = OnceLock::new();
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Takes the memory for queues; once in a process. Without it no queue can be made.
pub fn start() {
    QUEUES.get_or_init(|| {
        let all = RwLock::new((0..MOST).map(|_| None).collect());
        Some(Queues { arena: Arena::new(MOST)?, all })
    });
}

fn queues() -> Result<&'static Queues> {
    let made = QUEUES.get().ok_or(Status::ERROR_NOT_INITIALIZED)?;
    made.as_ref().ok_or(Status::ERROR_OUT_OF_RESOURCES)
}

/// The memory of a queue that there is: for what needs no more than its indexes.
#[inline]
pub fn memory_of(address: u64) -> Result<&'static AmdQueue> {
    let found = queues()?.arena.find(address);
    found.map(|(_, memory)| memory).ok_or(Status::ERROR_INVALID_QUEUE)
}

/// Gangway's runtime has made the queue at an address: it tells why a kernel has failed.
pub fn is_runtimes(address: u64) {
    if let Ok(queue) = get(address) {
        queue.is_runtimes.store(true, Ordering::Relaxed);
    }
}

/// The queue at an address.
pub fn get(address: u64) -> Result<Arc<Queue>> {
    let queues = queues()?;
    let (number, _) = queues.arena.find(address).ok_or(Status::ERROR_INVALID_QUEUE)?;
    let all = queues.all.read().unwrap_or_else(PoisonError::into_inner);
    all[number as usize].clone().ok_or(Status::ERROR_INVALID_QUEUE)
}

/// Makes a queue of an agent's, and starts its packet processor.
pub fn create(agent: &'static Agent, wish: &Wish) -> Result<u64> {
    if wish.size > QUEUE_MAX_SIZE {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let there = {
        let all = queues()?.all.read().unwrap_or_else(PoisonError::into_inner);
        let its = |queue: &&Arc<Queue>| queue.agent.is_some_and(|known| known.number() == agent.number());
        all.iter().flatten().filter(its).count()
    };
    if there >= QUEUES_MAX as usize {
        return Err(Status::ERROR_OUT_OF_RESOURCES);
    }
    let wish = Wish { size: wish.size.max(QUEUE_MIN_SIZE), ..*wish };
    // No packet is below -1: nobody has rung yet.
    let doorbell = Signal::create(-1)?;
    let queue = match Queue::new(Some(agent), &wish, doorbell) {
        Ok(queue) => queue,
        Err(error) => {
            let _ = doorbell.destroy();
            return Err(error);
        }
    };
    let runs = Arc::clone(&queue);
    let thread = thread::Builder::new().name("gangway-hsa-queue".to_owned());
    match thread.spawn(move || processor::run(&runs)) {
        Ok(thread) => {
            *queue.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
            Ok(queue.address())
        }
        Err(_) => {
            let _ = destroy(queue.address());
            Err(Status::ERROR_OUT_OF_RESOURCES)
        }
    }
}

/// Makes a queue that the program processes itself (`hsa_soft_queue_create`).
pub fn create_soft(wish: &Wish, doorbell: Signal) -> Result<u64> {
    Ok(Queue::new(None, wish, doorbell)?.address())
}

/// Destroys a queue: what its processor does is broken off.
pub fn destroy(address: u64) -> Result {
    let queues = queues()?;
    let (number, _) = queues.arena.find(address).ok_or(Status::ERROR_INVALID_QUEUE)?;
    let queue = {
        let mut all = queues.all.write().unwrap_or_else(PoisonError::into_inner);
        all[number as usize].take().ok_or(Status::ERROR_INVALID_QUEUE)?
    };
    queue.end();
    queues.arena.give(number);
    Ok(())
}

/// Destroys all queues; the last `hsa_shut_down` does.
pub fn end_all() {
    let Ok(queues) = queues() else { return };
    let all: Vec<_> = {
        let mut all = queues.all.write().unwrap_or_else(PoisonError::into_inner);
        all.iter_mut().filter_map(Option::take).collect()
    };
    for queue in all {
        queue.end();
        queues.arena.give(queue.number);
    }
}

impl Queue {
    fn new(agent: Option<&'static Agent>, wish: &Wish, doorbell: Signal) -> Result<Arc<Self>> {
        let queues = queues()?;
        let (number, memory) = queues.arena.take()?;
        let bytes = u64::from(wish.size) * packet::SIZE as u64;
        let request = Request::new(0, bytes, AllocationKind::Arena).align(packet::SIZE as u64);
        let ring = agent::space().and_then(|space| space.allocate(&request).map_err(|error| status(&error)));
        let ring = ring.inspect_err(|_| {
            queues.arena.give(number);
        })?;
        let public = structure::Queue {
            kind: wish.kind,
            features: wish.features,
            base_address: ring,
            doorbell: doorbell.handle(),
            size: wish.size,
            reserved1: 0,
            id: NEXT.fetch_add(1, Ordering::Relaxed),
        };
        // SAFETY: the place is in use by nobody else yet, and large enough.
        unsafe {
            std::ptr::from_ref(memory).cast_mut().write(AmdQueue {
                queue: public,
                caps: 0,
                reserved1: [0; 3],
                write_dispatch_id: AtomicU64::new(0),
                group_segment_aperture_base_hi: (GROUP_APERTURE >> 32) as u32,
                private_segment_aperture_base_hi: (PRIVATE_APERTURE >> 32) as u32,
                max_cu_id: agent.map_or(0, |agent| agent.units() - 1),
                max_wave_id: 0,
                max_legacy_doorbell_dispatch_id_plus_1: AtomicU64::new(0),
                legacy_doorbell_lock: 0.into(),
                reserved2: [0; 9],
                read_dispatch_id: AtomicU64::new(0),
                read_dispatch_id_field_base_byte_offset: std::mem::offset_of!(AmdQueue, read_dispatch_id)
                    as u32,
                compute_tmpring_size: 0,
                scratch_resource_descriptor: [0; 4],
                scratch_backing_memory_location: 0,
                scratch_backing_memory_byte_size: 0,
                scratch_wave64_lane_byte_size: 0,
                queue_properties: QUEUE_POINTERS_64.into(),
                reserved3: [0; 2],
                queue_inactive_signal: crate::abi::Handle::NULL,
                reserved4: [0; 14],
            });
        }
        let queue = Arc::new(Self {
            number,
            memory,
            agent,
            ring,
            size: wish.size,
            doorbell,
            callback: wish.callback,
            data: wish.data,
            state: AtomicU8::new(State::Active as u8),
            stop: Arc::default(),
            thread: Mutex::default(),
            runner: OnceLock::new(),
            units: Mutex::default(),
            is_runtimes: AtomicBool::new(false),
        });
        (0..u64::from(wish.size))
            .for_each(|index| queue.header(index).store(u16::from(packet::kind::INVALID), Ordering::Relaxed));
        queues.all.write().unwrap_or_else(PoisonError::into_inner)[number as usize] =
            Some(Arc::clone(&queue));
        Ok(queue)
    }

    #[must_use]
    pub fn address(&self) -> u64 {
        std::ptr::from_ref(self.memory).expose_provenance() as u64
    }

    #[must_use]
    pub fn agent(&self) -> Option<&'static Agent> {
        self.agent
    }

    #[must_use]
    pub fn memory(&self) -> &'static AmdQueue {
        self.memory
    }

    fn state(&self) -> u8 {
        self.state.load(Ordering::Acquire)
    }

    /// Whether it is being destroyed, or has been: its ring may be gone.
    fn has_ended(&self) -> bool {
        self.state() == State::Ended as u8
    }

    /// No packet is processed any more, and the one that is under way is broken off.
    pub fn inactivate(&self) {
        let (active, inactive) = (State::Active as u8, State::Inactive as u8);
        let _ = self.state.compare_exchange(active, inactive, Ordering::AcqRel, Ordering::Relaxed);
        self.stop.store(true, Ordering::Release);
        self.doorbell.wake_sleepers();
    }

    /// The mask of compute units that the program has set; all of them if it has not.
    pub fn units(&self) -> std::sync::MutexGuard<'_, Vec<u32>> {
        self.units.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the processor and gives the ring back.
    fn end(&self) {
        self.state.store(State::Ended as u8, Ordering::Release);
        self.stop.store(true, Ordering::Release);
        self.doorbell.wake_sleepers();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        // A callback of the queue's may destroy it, and runs on its thread.
        let own = self.runner.get() == Some(&thread::current().id());
        if let Some(thread) = thread.filter(|_| !own) {
            let _ = thread.join();
        }
        if self.agent.is_some() {
            let _ = self.doorbell.destroy();
        }
        if let (Ok(space), false) = (agent::space(), own) {
            let _ = space.free(self.ring);
        }
    }

    fn place(&self, index: u64) -> u64 {
        self.ring + (index & u64::from(self.size - 1)) * packet::SIZE as u64
    }

    /// The header of a packet, which says whether there is one.
    fn header(&self, index: u64) -> &AtomicU16 {
        // SAFETY: the ring has the place, and stays until the processor has ended.
        unsafe { &*std::ptr::with_exposed_provenance::<AtomicU16>(self.place(index) as usize) }
    }

    /// A packet that is there: its header says so.
    fn packet(&self, index: u64) -> Packet {
        // SAFETY: as for the header; the program does not write a packet that it has handed over.
        Packet(unsafe {
            std::ptr::with_exposed_provenance::<[u8; packet::SIZE]>(self.place(index) as usize).read()
        })
    }
}
