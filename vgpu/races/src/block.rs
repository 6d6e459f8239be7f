//! A block that runs: what its warps know, and the check of each access. One thread of the host runs it.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::cell::CLOCKS;
use crate::device::{Handed, Launch};
use crate::elements::{Elements, look_at_elements};
use crate::handed::{By, Reached, Word};
use crate::known::{Clocks, Known};
use crate::look::{Knowledge, Lines, Shared, look};
use crate::row::{Places, Row, Values};
use crate::warp::Warp;

/// An access of one lane.
#[derive(Clone, Copy, Debug)]
pub struct Access<'b> {
    pub warp: usize,
    pub lane: usize,
    /// In shared memory the offset.
    pub address: u64,
    pub size: u64,
    pub shared: bool,
    pub write: bool,
    /// Volatile, atomic, or with an order.
    pub strong: bool,
    /// Of scope `.cta`: so towards threads of its block alone.
    pub narrow: bool,
    /// What is written, if that is known.
    pub bytes: Option<&'b [u8]>,
    /// The instruction: [`Device::site`](crate::Device::site).
    pub site: u16,
}

/// How an access orders others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    pub acquire: bool,
    pub release: bool,
}

/// What a warp knows beside its own lanes.
#[derive(Debug)]
struct Member {
    own: Warp,
    /// Of each warp of the block, itself included, the clock up to which it is known.
    knows: Vec<u32>,
    others: Arc<Known>,
    /// What the last fences have published.
    fenced: Reached,
    /// What has been read, and is known behind the next fence of either scope.
    read: Reached,
    /// The barriers that it has passed last: number and how often that had been complete.
    passed: FxHashMap<u32, u32>,
}

/// Who has come to a barrier.
#[derive(Debug, Default)]
struct Meeting {
    generation: u32,
    knows: Vec<u32>,
    others: Arc<Known>,
    /// Of each warp the lanes that have come.
    lanes: Vec<u32>,
}

/// A block that runs. Kept from block to block.
#[derive(Debug, Default)]
pub struct Block {
    launch: Option<Arc<Launch>>,
    number: u32,
    first: u32,
    members: Vec<Member>,
    /// The meetings of barriers, the last two of each.
    meetings: FxHashMap<u32, [Meeting; 2]>,
    shared: Shared,
    /// What is handed on with words of shared memory.
    handed: Handed,
    /// Lanes go together without being told to.
    lockstep: bool,
    /// A clock has come to its end.
    lost: bool,
}

impl Block {
    /// A block of a launch starts, with so many warps and bytes of shared memory.
    pub fn start(&mut self, launch: &Arc<Launch>, number: u64, warps: usize, shared: u64) {
        self.launch = Some(launch.clone());
        self.lockstep = launch.lockstep;
        // A launch has no more blocks than threads.
        self.number = number as u32;
        self.first = launch.first(self.number);
        self.members.clear();
        self.members.resize_with(warps, || Member::new(warps));
        self.meetings.clear();
        self.handed.clear();
        self.lost = false;
        self.shared.start(shared);
    }

    /// Lanes of a warp wait for each other; `alive` have not exited.
    pub fn synchronize(&mut self, warp: usize, lanes: u32, alive: u32) {
        if let Some(member) = self.members.get_mut(warp) {
            member.own.synchronize(lanes, alive);
        }
    }

    /// Lanes come to a barrier that has been complete so often.
    pub fn arrive(&mut self, warp: usize, barrier: u32, generation: u32, lanes: u32) {
        let warps = self.members.len();
        let Some(member) = self.members.get_mut(warp) else { return };
        // A barrier is a fence for its block. What one thread has read there others rely on behind it, as where the
        // last block of a grid is found by a counter (NVIDIA's `threadFenceReduction`).
        let read = std::mem::take(&mut member.read);
        member.learn(self.number, warp, &read.far);
        let meetings = self.meetings.entry(barrier).or_default();
        let meeting = &mut meetings[generation as usize % 2];
        if meeting.generation != generation || meeting.lanes.len() != warps {
            *meeting =
                Meeting { generation, knows: vec![0; warps], lanes: vec![0; warps], ..Meeting::default() };
        }
        meeting.lanes[warp] |= lanes;
        member.knows[warp] = member.own.tick();
        raise(&mut meeting.knows, &member.knows);
        meeting.others = Known::joined(&meeting.others, &member.others);
    }

    /// A warp goes on from a barrier that has been complete so often before; `alive` have not exited.
    pub fn pass(&mut self, warp: usize, barrier: u32, generation: u32, alive: u32) {
        let Some(member) = self.members.get_mut(warp) else { return };
        let Some(meetings) = self.meetings.get(&barrier) else { return };
        let meeting = &meetings[generation as usize % 2];
        if meeting.generation != generation || meeting.lanes.len() <= warp {
            return;
        }
        if member.passed.insert(barrier, generation) == Some(generation) {
            return;
        }
        member.own.synchronize(meeting.lanes[warp], alive);
        raise(&mut member.knows, &meeting.knows);
        member.others = Known::joined(&member.others, &meeting.others);
    }

    /// A warp comes to the barrier of the whole grid, which has been complete so often.
    pub fn arrive_at_grid(&mut self, warp: usize, generation: u64) {
        let number = self.number;
        let (Some(member), Some(launch)) = (self.members.get_mut(warp), &self.launch) else { return };
        launch.arrive(generation, &member.publish(number, warp));
    }

    /// A warp goes on from the barrier of the whole grid.
    pub fn pass_grid(&mut self, warp: usize, generation: u64, alive: u32) {
        let number = self.number;
        let (Some(member), Some(launch)) = (self.members.get_mut(warp), &self.launch) else { return };
        member.own.synchronize(alive, alive);
        member.learn(number, warp, &launch.arrived(generation));
    }

    /// A warp's fence: what it knows is published with what it writes from now on, and what it has read is
    /// known. A `narrow` one is for threads of its block alone.
    pub fn fence(&mut self, warp: usize, narrow: bool) {
        let (number, narrow) = (self.number, narrow && !self.lockstep);
        let (Some(member), Some(launch)) = (self.members.get_mut(warp), &self.launch) else { return };
        launch.fences();
        let read = std::mem::take(if narrow { &mut member.read.near } else { &mut member.read.far });
        if !narrow {
            // All of it was in the other one, too.
            member.read.near = Arc::default();
        }
        member.learn(number, warp, &read);
        member.fenced.near = member.publish(number, warp);
        if !narrow {
            member.fenced.far = member.fenced.near.clone();
        }
    }

    /// A warp reads or writes a word in a way that others may go by: it is strong.
    pub fn hand_on(&mut self, access: &Access<'_>, order: Order, reads: bool) {
        let (number, warp) = (self.number, access.warp);
        // Before PTX had an order for each operation, compilers took atomic ones to have both.
        let ordered = self.lockstep && reads && access.write;
        let order = if ordered { Order { acquire: true, release: true } } else { order };
        let narrow = access.narrow && !access.shared && !self.lockstep;
        let by = By { block: number, narrow, scopes: !self.lockstep };
        let (Some(member), Some(launch)) = (self.members.get_mut(warp), &self.launch) else { return };
        if order.release || order.acquire {
            launch.fences();
        } else if !launch.has_fences() {
            return;
        }
        let mut guard;
        let handed = if access.shared {
            &mut self.handed
        } else {
            guard = launch.handed(access.address);
            &mut *guard
        };
        let word = handed.get(&access.address).filter(|_| reads);
        let read = word.and_then(|word| word.read(by)).unwrap_or_default();
        if order.acquire {
            member.learn(number, warp, if narrow { &read.near } else { &read.far });
        }
        if access.write {
            let published = if order.release {
                let near = member.publish(number, warp);
                Reached { far: if narrow { member.fenced.far.clone() } else { near.clone() }, near }
            } else {
                member.fenced.clone()
            };
            // An atomic operation goes on what was published before it; a store begins anew.
            let before = handed.remove(&access.address).filter(|_| reads);
            if let Some(word) = Word::written(before, by, &published) {
                handed.insert(access.address, word);
            }
        }
        if !order.acquire || narrow {
            member.read.join(&read);
        }
    }

    /// Looks at an access of one lane, and notes it.
    pub fn access(&mut self, access: &Access<'_>) {
        let &Access { warp, lane, address, size, shared, write, strong, narrow, bytes, site } = access;
        let places = Places::Steps { first: address, step: 0 };
        let values = bytes.map(Values::Bytes);
        self.row(&Row { warp, lanes: 1 << lane, places, size, shared, write, strong, narrow, values, site });
    }

    /// Looks at an access of some lanes, and notes it.
    pub fn row(&mut self, row: &Row<'_>) {
        self.act(row.warp, row.shared, |knowledge, clock, lines| look(knowledge, row, clock, lines));
    }

    /// Looks at what an instruction accesses one after the other, all lanes the same, and notes it. `before` has what others of
    /// the same turns have read before it; elements of all of these follow each other.
    pub fn elements(&mut self, elements: &Elements<'_>, before: &[Elements<'_>]) {
        self.act(elements.warp, elements.shared, |knowledge, clock, lines| {
            look_at_elements(knowledge, elements, before, clock, lines);
        });
    }

    /// Has a warp do something, unless no more is looked at.
    fn act(&mut self, warp: usize, shared: bool, look: impl FnOnce(&Knowledge<'_>, u32, Lines<'_>)) {
        let (Some(launch), Some(member)) = (&self.launch, self.members.get_mut(warp)) else { return };
        if self.lost {
            return;
        }
        let clock = member.own.clock();
        if clock >= CLOCKS {
            self.lost = true;
            launch.device.lose();
            return;
        }
        member.own.act();
        let member = &self.members[warp];
        let knowledge = Knowledge {
            launch,
            first: self.first,
            lockstep: self.lockstep,
            warp,
            own: &member.own,
            knows: &member.knows,
            others: &member.others,
        };
        let lines = if shared { Lines::Shared(&mut self.shared) } else { Lines::Device(&launch.device) };
        look(&knowledge, clock, lines);
    }
}

impl Member {
    fn new(warps: usize) -> Self {
        Member {
            own: Warp::new(),
            knows: vec![0; warps],
            others: Arc::default(),
            fenced: Reached::default(),
            read: Reached::default(),
            passed: FxHashMap::default(),
        }
    }

    /// What the warp of a block knows and has done, for others.
    fn publish(&mut self, block: u32, warp: usize) -> Arc<Known> {
        self.knows[warp] = self.own.tick();
        let clocks: Clocks = self.knows.as_slice().into();
        let mut known = Known::clone(&self.others);
        known.add(block, &clocks);
        Arc::new(known)
    }

    /// Takes in what others have published.
    fn learn(&mut self, block: u32, warp: usize, known: &Arc<Known>) {
        if let Some(clocks) = known.of(block) {
            raise(&mut self.knows, clocks);
            self.own.learn(clocks[warp]);
        }
        self.others = Known::joined(&self.others, known);
    }
}

fn raise(known: &mut [u32], by: &[u32]) {
    known.iter_mut().zip(by).for_each(|(known, &by)| *known = by.max(*known));
}
