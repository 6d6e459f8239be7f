//! Blocks of threads as coroutines, with what the reductions need of a GPU: shuffles that wait for
//! the lanes of their mask, barriers that wait for the block, and a scheduler that picks at random.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use gangway_gpu::reduction::machine::Machine;

/// Threads of a warp of the GPU that unit tests run on.
const WARP: u32 = 32;

/// What a thread waits for.
#[derive(Clone, Copy, Debug)]
pub enum Wait {
    /// The other lanes of `mask`; then `from` of the lane `offset` places up is copied to `to`.
    Shuffle { mask: u32, offset: u32, from: *const Value, to: *mut Value },
    /// All threads of the block; whether one of them said true is the answer.
    Barrier(bool),
    /// Another turn.
    Spin,
}

type Thread = Coroutine<bool, Wait, bool, DefaultStack>;

thread_local! {
    static CURRENT: Cell<*const Yielder<bool, Wait>> = const { Cell::new(std::ptr::null()) };
    static CALLER: Cell<Place> = const { Cell::new(Place { lane: 0, thread: 0, mask: 0 }) };
}

#[derive(Clone, Copy)]
pub struct Place {
    pub thread: u32,
    pub lane: u32,
    /// The lanes that shuffles of this thread's warp wait for.
    pub mask: u32,
}

fn wait(wait: Wait) -> bool {
    let (yielder, place) = (CURRENT.get(), CALLER.get());
    // SAFETY: the scheduler has set it to the yielder of the coroutine that runs.
    let answer = unsafe { &*yielder }.suspend(wait);
    // Other threads have run meanwhile.
    CURRENT.set(yielder);
    CALLER.set(place);
    answer
}

/// The simulated processor.
#[derive(Clone, Copy)]
pub struct Simulated;

impl Machine for Simulated {
    fn barrier(self) {
        wait(Wait::Barrier(false));
    }
    fn any_in_block(self, mine: bool) -> bool {
        wait(Wait::Barrier(mine))
    }
    fn fence(self) {}
    fn spin(self) {
        wait(Wait::Spin);
    }
}

/// One reduction variable: which threads it stands for, a sum of floats that shows the order, and
/// whether it has been read from where nothing is.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub members: [u64; 16],
    pub sum: f32,
    pub poison: bool,
}

/// Bytes of what a list of the tests points to.
pub const BYTES: u64 = size_of::<Value>() as u64;

impl Value {
    pub const POISON: Self = Self { members: [!0; 16], sum: f32::NAN, poison: true };

    pub fn of(member: usize, sum: f32) -> Self {
        let mut members = [0; 16];
        members[member / 64] = 1 << (member % 64);
        Self { members, sum, poison: false }
    }

    /// The operator. Nobody may be counted twice.
    pub fn combine(&mut self, other: &Self) {
        assert!(!self.poison && !other.poison, "an undefined value is combined");
        for (mine, other) in self.members.iter_mut().zip(other.members) {
            assert_eq!(*mine & other, 0, "a thread is counted twice");
            *mine |= other;
        }
        self.sum += other.sum;
    }
}

/// What the compiler generates as shuffle-and-reduce function for lists of one `Value`.
pub unsafe extern "C" fn shuffle(list: *mut c_void, lane: i16, offset: i16, version: i16) {
    let mine = list.cast::<Value>();
    let mut remote = Value::POISON;
    let mask = CALLER.get().mask;
    let offset = u32::try_from(offset).expect("an offset is not negative");
    wait(Wait::Shuffle { mask, offset, from: mine, to: &mut remote });
    let lane = u32::try_from(lane).expect("a lane is not negative");
    // SAFETY: the list of a thread is a value that only this thread touches outside of shuffles.
    let mine = unsafe { &mut *mine };
    match version {
        0 if remote.poison => mine.clone_from(&remote),
        0 => fold(mine, &remote),
        1 if lane < offset => mine.combine(&remote),
        1 => mine.clone_from(&remote),
        2 if lane % 2 == 0 && offset > 0 => mine.combine(&remote),
        2 => {}
        _ => panic!("version {version} is not known"),
    }
}

/// In a full reduction the upper lanes combine what has been counted already; nobody looks at it.
fn fold(mine: &mut Value, remote: &Value) {
    let twice = mine.members.iter().zip(remote.members).any(|(mine, other)| mine & other != 0);
    if mine.poison || twice {
        *mine = Value::POISON;
    } else {
        mine.combine(remote);
    }
}

thread_local! {
    /// Where the copy function leaves the warps' values. Only one block copies at a time.
    static TRANSFER: RefCell<[Value; 32]> = const { RefCell::new([Value::POISON; 32]) };
    /// Stacks of threads that have ended.
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// What the compiler generates as inter-warp copy function.
pub unsafe extern "C" fn copy(list: *mut c_void, warps: i32) {
    let place = CALLER.get();
    let list = list.cast::<Value>();
    wait(Wait::Barrier(false));
    if place.lane == 0 {
        // SAFETY: the list is the calling thread's.
        let value = unsafe { (*list).clone() };
        TRANSFER.with_borrow_mut(|transfer| transfer[(place.thread / WARP) as usize] = value);
    }
    wait(Wait::Barrier(false));
    if place.thread < warps as u32 {
        let value = TRANSFER.with_borrow(|transfer| transfer[place.thread as usize].clone());
        // SAFETY: as above.
        unsafe { list.write(value) };
    }
}

/// Pseudo-random numbers (xorshift), so that a failure can be repeated.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % limit
    }
}

/// One thread of the launch.
struct Running {
    block: usize,
    place: Place,
    thread: Option<Thread>,
    wait: Option<Wait>,
    result: Option<bool>,
}

/// A launch: `blocks` blocks of the threads in `lanes`, `resident` of them at a time.
pub struct Launch<'a> {
    pub blocks: usize,
    pub resident: usize,
    pub lanes: &'a [u32],
    pub random: Random,
}

impl Launch<'_> {
    /// Returns what `body` says for each block and thread.
    pub fn run<F: Fn(usize, u32) -> bool + Copy + 'static>(mut self, body: F) -> Vec<Vec<bool>> {
        let mut results = vec![Vec::new(); self.blocks];
        let mut alive: Vec<Vec<Running>> = Vec::new();
        let mut next = 0;
        loop {
            while next < self.blocks && alive.len() < self.resident {
                alive.push(self.start(next, body));
                next += 1;
            }
            if alive.is_empty() {
                return results;
            }
            let chosen = self.random.below(alive.len());
            let block = &mut alive[chosen];
            advance(block, &mut self.random);
            if block.iter().all(|thread| thread.result.is_some()) {
                let block = alive.remove(chosen);
                results[block[0].block] = block.iter().map(|t| t.result.unwrap()).collect();
                let stacks = block.into_iter().map(|thread| thread.thread.unwrap().into_stack());
                STACKS.with_borrow_mut(|kept| kept.extend(stacks));
            }
        }
    }

    fn start<F>(&mut self, block: usize, body: F) -> Vec<Running>
    where
        F: Fn(usize, u32) -> bool + Copy + 'static,
    {
        let mut masks = [0u32; 32];
        for thread in self.lanes {
            masks[(thread / WARP) as usize] |= 1 << (thread % WARP);
        }
        let make = |&thread: &u32| {
            let stack = STACKS.with_borrow_mut(Vec::pop);
            let stack = stack.unwrap_or_else(|| DefaultStack::new(32 << 10).unwrap());
            let coroutine = Thread::with_stack(stack, move |yielder, _| {
                CURRENT.set(yielder);
                body(block, thread)
            });
            let mask = masks[(thread / WARP) as usize];
            let place = Place { thread, lane: thread % WARP, mask };
            Running { block, place, thread: Some(coroutine), wait: None, result: None }
        };
        self.lanes.iter().map(make).collect()
    }
}

/// Lets threads of one block run until they wait; then ends what all have arrived at.
fn advance(block: &mut [Running], random: &mut Random) {
    let count = block.len();
    let first = random.below(count);
    let mut moved = false;
    for index in (first..count).chain(0..first) {
        if block[index].result.is_none() && block[index].wait.is_none() {
            resume(&mut block[index], false);
            moved = true;
        }
    }
    for index in 0..count {
        match block[index].wait {
            Some(Wait::Spin) => {
                block[index].wait = None;
                moved = true;
            }
            Some(Wait::Shuffle { .. }) => moved |= exchange(block, index),
            _ => {}
        }
    }
    let at_barrier = |thread: &Running| matches!(thread.wait, Some(Wait::Barrier(_)));
    if block.iter().all(|thread| at_barrier(thread) || thread.result.is_some()) {
        let any = block.iter().any(|thread| matches!(thread.wait, Some(Wait::Barrier(true))));
        for thread in block.iter_mut().filter(|thread| at_barrier(thread)) {
            thread.wait = None;
            resume(thread, any);
            moved = true;
        }
    }
    assert!(moved, "the block is deadlocked");
}

fn resume(thread: &mut Running, answer: bool) {
    CALLER.set(thread.place);
    match thread.thread.as_mut().unwrap().resume(answer) {
        CoroutineResult::Yield(wait) => thread.wait = Some(wait),
        CoroutineResult::Return(result) => thread.result = Some(result),
    }
}

/// Does the shuffle that the thread `index` waits for if all lanes of its mask are there.
fn exchange(block: &mut [Running], index: usize) -> bool {
    let Place { thread, mask, .. } = block[index].place;
    let warp = |other: &Running| other.place.thread / WARP == thread / WARP;
    let lanes: Vec<usize> = (0..block.len()).filter(|&other| warp(&block[other])).collect();
    let waits = |lane: &usize| matches!(block[*lane].wait, Some(Wait::Shuffle { .. }));
    if !lanes.iter().all(waits) {
        return false;
    }
    let mut sent: [Option<Value>; 32] = [const { None }; 32];
    for &lane in &lanes {
        let Some(Wait::Shuffle { from, mask: claimed, .. }) = block[lane].wait else { continue };
        assert_eq!(claimed, mask, "lanes of one shuffle have different masks");
        // SAFETY: the thread is suspended in the shuffle that named its value.
        sent[block[lane].place.lane as usize] = Some(unsafe { (*from).clone() });
    }
    for &lane in &lanes {
        let Some(Wait::Shuffle { offset, to, .. }) = block[lane].wait.take() else { continue };
        let source = block[lane].place.lane + offset;
        // Past the last lane a shuffle gives the caller's own value; from a lane that does not take
        // part, anything.
        let source = if source < WARP { source } else { block[lane].place.lane };
        let value = sent[source as usize].clone().unwrap_or(Value::POISON);
        // SAFETY: as above.
        unsafe { to.write(value) };
    }
    true
}
