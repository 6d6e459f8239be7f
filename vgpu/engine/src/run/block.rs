//! A block that runs: its warps, which of them goes next, and what became of it.

use gangway_device_memory::shadow;
use gangway_interpreter::FaultKind;
use gangway_ptx::meaning::Barrier;
use gangway_ptx::{Meaning, Opcode};

use super::barriers::Barriers;
use super::job::Job;
use super::pace::Pace;
use super::report;
use super::slot::{Member, Part, Slot, Step};
use super::stand::{Stand, Waits};
use super::sync::{Doing, Groups, Rule};
use super::time::FUEL;
use crate::abi::LANES;
use crate::device::{Device, Held};
use crate::fault::Place;

/// What a round among the warps of a block came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    /// A warp has ended or has come to a barrier: there was progress.
    pub progress: bool,
    /// A warp has only spent its fuel.
    pub turned: bool,
    /// A warp that was watched has spent it where it waits for nothing.
    pub moved: bool,
    /// All warps have ended.
    pub done: bool,
    /// The launch has failed.
    pub failed: bool,
}

/// What a block needs to run. Kept from block to block.
pub(crate) struct Block {
    /// Behind a pointer, because warps keep one to it.
    barriers: Box<Barriers>,
    slots: Vec<Slot>,
    /// The warps, as fibers want them: one each, or all of them on the first one's.
    members: Vec<Member>,
    /// The launch that the warps are set up for.
    job: u64,
    warps: usize,
    left: usize,
    /// Keeps the warps abreast, where that is asked for.
    pace: Pace,
    abreast: bool,
    /// Whether a barrier has been completed.
    met: bool,
    shared: Option<Held>,
    capacity: u64,
}

/// Shared memory is taken in multiples of this, and ends where it ends.
const SHARED_STEP: u64 = 4096;

impl Block {
    #[must_use]
    pub fn new() -> Self {
        Block {
            barriers: Box::default(),
            slots: Vec::new(),
            members: Vec::new(),
            job: 0,
            warps: 0,
            left: 0,
            pace: Pace::default(),
            abreast: false,
            met: false,
            shared: None,
            capacity: 0,
        }
    }

    /// Makes ready for blocks of a launch.
    fn assign(&mut self, device: &Device, job: &Job) -> Result<(), FaultKind> {
        if self.job == job.id {
            return Ok(());
        }
        self.job = 0;
        if self.shared.is_none() || self.capacity < job.room.shared {
            self.shared = None;
            let capacity = job.room.shared.next_multiple_of(SHARED_STEP);
            self.shared = Some(device.arena(capacity).map_err(FaultKind::Launch)?);
            self.capacity = capacity;
        }
        // There are none to give up until all are there.
        self.warps = 0;
        while self.slots.len() < job.extent.warps() {
            self.slots.push(Slot::new()?);
        }
        self.warps = job.extent.warps();
        let barriers: *const Barriers = &*self.barriers;
        for (slot, index) in self.slots[..self.warps].iter_mut().zip(0..) {
            slot.assign(job, index, barriers)?;
        }
        self.members.clear();
        self.members.extend(self.slots[..self.warps].iter().map(Slot::member));
        self.abreast = job.program().functions().keep_abreast();
        self.job = job.id;
        Ok(())
    }

    /// Starts a block, or one after the other of several of a kernel that never gives way.
    pub fn start(
        &mut self,
        device: &Device,
        job: &Job,
        block: [u32; 3],
        blocks: u64,
        worker: u32,
    ) -> Result<(), FaultKind> {
        self.assign(device, job)?;
        self.barriers.start(job.extent.threads);
        self.barriers.watch(job, block);
        // At the end of the memory, so that what runs over it comes to pages without access.
        let shared = self.shared.as_ref().map_or(0, |held| held.address + self.capacity);
        let shared = shared - job.room.shared.next_multiple_of(256);
        shadow::undefine(shared, job.room.undefined);
        // Warps that never give way need no fibers of their own.
        let together = job.order.on_a_fiber(self.warps);
        let first = self.slots[..self.warps].iter_mut().step_by(together);
        self.left = first.len();
        for (slot, members) in first.zip(self.members.chunks(together)) {
            // SAFETY: the members are of our slots; both stay as they are until all fibers have
            // ended.
            unsafe { slot.start(Part { block, blocks, members, shared, worker }) };
        }
        self.met = false;
        if self.abreast {
            self.pace.start(self.warps);
        }
        Ok(())
    }

    /// Lets every warp that can run do so once. Where warps have met at a barrier, the first
    /// one comes last from then on: it is the one that prepares what the others wait for,
    /// and they have to go on before it prepares the next (`WarpHost::arrive`).
    ///
    /// With `watched` warps give way at each step back, and the round says whether one did not wait there.
    pub fn round(&mut self, device: &Device, job: &Job, watched: bool) -> Round {
        let mut round = Round::default();
        let first = usize::from(self.met);
        for number in (first..self.warps).chain(0..first) {
            let Some((number, fuel)) = self.next(number) else { continue };
            let slot = &mut self.slots[number];
            let step = slot.step(if watched { 0 } else { fuel });
            if self.abreast {
                self.pace.ran(number, slot.used(), slot.host().time.take_met());
            }
            match step {
                Step::Turn => {
                    round.turned = true;
                    round.moved |= watched && !waits(slot, job);
                }
                Step::Waits => round.progress = true,
                Step::Done => {
                    round.progress = true;
                    self.left -= 1;
                }
                Step::Failed => {
                    let warps = &self.slots[..self.warps];
                    let which = warps.iter().position(Slot::has_failed).unwrap_or(number);
                    self.note_failure(job, which);
                    let failed = &self.slots[which];
                    job.ending.fail(report::fault(device, job, failed));
                    round.failed = true;
                    return round;
                }
            }
            if self.barriers.take_completed() {
                self.met = true;
                if self.abreast {
                    let slots = &self.slots;
                    self.pace.release(number, |number| slots[number].host().wait.is_for_block());
                }
                for slot in &self.slots[..self.warps] {
                    slot.host().wait.end_for_block();
                }
            }
            if job.ending.has_come() {
                round.failed = true;
                return round;
            }
        }
        round.done = self.left == 0;
        round
    }

    /// Whether a warp goes next, with so much fuel: the one whose turn it is, or, where warps are
    /// kept abreast, the one that is behind.
    fn next(&mut self, turn: usize) -> Option<(usize, i64)> {
        if self.abreast {
            let slots = &self.slots;
            return self.pace.next(|number| slots[number].is_ready());
        }
        self.slots[turn].is_ready().then_some((turn, FUEL))
    }

    /// Whether a warp waits for the whole grid. When none can run, it decides whether one
    /// ever will.
    #[must_use]
    pub fn waits_for_the_grid(&self) -> bool {
        self.slots[..self.warps].iter().any(|slot| !slot.done && slot.host().wait.for_grid().is_some())
    }

    /// Whether none of its warps waits for a generation of the grid that has passed, this one being
    /// the present one.
    #[must_use]
    pub fn waits_for(&self, generation: u64) -> bool {
        let waiting = self.slots[..self.warps].iter().filter(|slot| !slot.done);
        waiting.filter_map(|slot| slot.host().wait.for_grid()).all(|waited| waited == generation)
    }

    /// Whether a warp can run.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.slots[..self.warps].iter().any(Slot::is_ready)
    }

    /// Whether warps wait for ever although others run: those are too few to complete any barrier.
    /// Where threads come to barriers without waiting, they may come again, and it is not known.
    #[must_use]
    pub fn is_stuck(&self, job: &Job) -> bool {
        let mut free = 0;
        let mut waiting = false;
        for slot in self.slots[..self.warps].iter().filter(|slot| !slot.done) {
            if slot.host().wait.is_for_block() {
                waiting = true;
            } else {
                // SAFETY: the fiber does not run.
                free += unsafe { (*slot.warp()).exited }.count_zeros();
            }
        }
        let arrives = |opcode: &Opcode| opcode.meaning == Meaning::Barrier(Barrier::Arrive);
        waiting && self.barriers.are_stuck(free) && !job.program().module().opcodes.iter().any(arrives)
    }

    /// Whether all its warps wait: at barriers, or in loops of a device runtime when they gave way.
    #[must_use]
    pub fn only_waits(&self, job: &Job) -> bool {
        self.slots[..self.warps].iter().filter(|slot| !slot.done).all(|slot| waits(slot, job))
    }

    /// Where the threads of some of its warps are and what they do, where that is checked.
    fn stands(&self, job: &Job, warps: impl Fn(usize) -> bool) -> Groups {
        let mut groups = Groups::default();
        let mut add = |doing, place, warp: usize, lanes: u32| {
            if warps(warp) && lanes != 0 {
                groups.add(doing, place, warp, lanes);
            }
        };
        let mut waiting = vec![0; self.warps];
        self.barriers.meetings(|meetings| {
            meetings.waiting(job, |doing, place, warp, lanes| {
                waiting[warp] |= lanes;
                add(doing, place, warp, lanes);
            });
        });
        for (slot, number) in self.slots[..self.warps].iter().zip(0..) {
            // SAFETY: the fiber does not run.
            let warp = unsafe { &*slot.warp() };
            let there = !job.extent.missing(number as u32);
            let ended = if slot.done { there } else { warp.exited & there };
            add(Doing::Ended, Place::default(), number, ended);
            let mut left = there & !ended & !waiting[number];
            while left & warp.waiting.meeting != 0 {
                let meeting = left & warp.waiting.meeting;
                let first = meeting.trailing_zeros() as usize;
                let stand = |lane: usize| (warp.waiting.place[lane], warp.waiting.waits_for[lane]);
                let same = |&lane: &usize| meeting >> lane & 1 != 0 && stand(lane) == stand(first);
                let set = (0..LANES).filter(same).fold(0, |set, lane| set | 1 << lane);
                left &= !set;
                let place =
                    Stand::of_lane(job, warp, first).map(|stand| stand.place(job)).unwrap_or_default();
                add(Doing::WaitForLanes(warp.waiting.waits_for[first]), place, number, set);
            }
            let stand = Stand::new(job, warp, left != u32::MAX);
            let module = job.program().module();
            let waits = stand.and_then(|stand| stand.waits(module));
            let doing = match (slot.host().wait.for_grid(), waits) {
                (Some(_), _) => Doing::WaitForGrid,
                (None, Some(Waits::ForLock)) => Doing::WaitForLock,
                (None, Some(Waits::ForTeam)) => Doing::WaitForTeam,
                // Their barrier is complete.
                (None, None) if stand.is_some_and(|stand| stand.form(module).is_some()) => Doing::Come,
                (None, None) => Doing::Run,
            };
            add(doing, stand.map(|stand| stand.place(job)).unwrap_or_default(), number, left);
        }
        groups
    }

    /// Notes that a warp has failed because of what its lanes wait for.
    fn note_failure(&self, job: &Job, number: usize) {
        let (Some(found), slot) = (&job.sync, &self.slots[number]) else { return };
        let Some((kind, lanes)) = slot.host().failures.failure() else { return };
        // SAFETY: the fiber does not run.
        let warp = unsafe { &*slot.warp() };
        let with = |mut groups: Groups, doing| {
            // It has failed in a helper at which lanes wait, or come.
            let stand = Stand::new(job, warp, lanes != !warp.exited);
            let place = stand.map(|stand| stand.place(job)).unwrap_or_default();
            groups.add(doing, place, number, lanes);
            groups
        };
        let others = |warp| warp != number;
        let (rule, groups) = match kind {
            FaultKind::Deadlock => (Rule::Deadlock, self.stands(job, |warp| warp == number)),
            FaultKind::NotInMask(mask) => {
                (Rule::NotInMask, with(Groups::default(), Doing::WaitForLanes(mask)))
            }
            FaultKind::BadCount { count, .. } => {
                (Rule::BadCount(count), with(self.stands(job, others), Doing::WaitFor(count)))
            }
            _ => return,
        };
        found.note(job.launched(), rule, warp.block, groups);
    }

    /// The fault of a block of which no warp will ever run again.
    pub fn deadlock(&self, device: &Device, job: &Job) {
        if let Some(found) = &job.sync {
            // SAFETY: no fiber runs.
            let block = unsafe { (*self.slots[0].warp()).block };
            found.note(job.launched(), Rule::Deadlock, block, self.stands(job, |_| true));
        }
        let left = || self.slots[..self.warps].iter().filter(|slot| !slot.done);
        if let Some(slot) = left().find(|slot| slot.host().wait.is_for_block()).or_else(|| left().next()) {
            job.ending.fail(report::deadlock(device, job, slot));
        }
    }

    /// Gives it up.
    pub fn abandon(&mut self) {
        for slot in &mut self.slots[..self.warps] {
            slot.abandon();
        }
        self.left = 0;
    }
}

/// Whether a warp waits: at a barrier, or in a loop of a device runtime when it gave way.
fn waits(slot: &Slot, job: &Job) -> bool {
    // SAFETY: the fiber does not run.
    let warp = unsafe { &*slot.warp() };
    let module = job.program().module();
    slot.host().wait.is_for_block()
        || Stand::new(job, warp, true).is_some_and(|stand| stand.waits(module).is_some())
}
