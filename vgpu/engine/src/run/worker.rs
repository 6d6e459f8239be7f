//! A thread's part in a launch: it takes blocks, and lets their warps run in turns.
//!
//! Most of the time it has one block. It takes another when all its warps wait for the whole
//! grid. It also does when they have spent fuel for so long that they may wait for a block that
//! no worker has started.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::block::Block;
use super::job::Job;
use super::listen;
use super::standstill::Standstill;
use super::trap;
use crate::device::Device;
use crate::fault::{Fault, Place};

/// So long do warps only spend their fuel before the worker takes another block, and twice as long
/// before the next, up to [`MOST_PATIENCE`]: most of the time they just have much to do. In a
/// cooperative launch they may well wait for each other, and all blocks are to run anyway.
const PATIENCE: Duration = Duration::from_millis(5);
const MOST_PATIENCE: Duration = Duration::from_millis(40);
/// Blocks that a worker has at most without being asked to by a cooperative launch; a
/// multiprocessor has as many.
const MOST_BLOCKS: usize = 32;
/// Rounds without progress before the thread lets others run.
const ROUNDS: u32 = 64;
/// The same where more threads run blocks than the device has workers: the warps of one launch may
/// wait for those of another, which has no processor as long as they look.
const ROUNDS_IN_A_CROWD: u32 = 4;
/// Times that a worker with nothing to run looks again before it sleeps in between.
const LOOKS: u32 = 200;
const NAP: Duration = Duration::from_micros(50);

/// Threads that are running blocks, of all launches.
static RUNNING: AtomicU32 = AtomicU32::new(0);

/// A thread that is running blocks.
struct Running;

impl Running {
    fn begin() -> Self {
        RUNNING.fetch_add(1, Ordering::Relaxed);
        Self
    }

    /// Rounds without progress before the thread lets others run.
    fn patience(workers: u32) -> u32 {
        if RUNNING.load(Ordering::Relaxed) > workers { ROUNDS_IN_A_CROWD } else { ROUNDS }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a thread needs to run blocks. Kept from launch to launch.
#[derive(Default)]
pub(crate) struct Worker {
    blocks: Vec<Block>,
}

// SAFETY: between launches no fiber of it is suspended, and all it has is memory of its own.
unsafe impl Send for Worker {}

impl Worker {
    /// Runs blocks of a launch until none is left.
    pub fn run(&mut self, device: &Device, job: &Job, number: u32) {
        trap::prepare();
        let _running = Running::begin();
        // Blocks that run are at the front of the list.
        let mut running = 0;
        let mut quiet = 0u32;
        let mut since = None;
        let cooperative = job.grid.is_cooperative();
        let mut patience = if cooperative { Duration::ZERO } else { PATIENCE };
        let most = if cooperative { usize::MAX } else { MOST_BLOCKS };
        job.grid.hold(true);
        let standstill = job.sync.as_ref().map(|found| &found.standstill);
        // Whether all warps have been found waiting since one was seen elsewhere.
        let mut watched = false;
        standstill.iter().for_each(|standstill| standstill.begin());
        while !job.ending.has_come() {
            let impatient = since.is_some_and(|since: Instant| since.elapsed() > patience);
            if running == 0 || impatient && running < most && job.handout.has_more() {
                if impatient {
                    patience = (2 * patience).min(MOST_PATIENCE);
                }
                since = None;
                if self.start(device, job, running, number) {
                    running += 1;
                } else if running == 0 {
                    // None is left, or it could not be started, which ends the launch.
                    break;
                }
                continue;
            }
            let (mut progress, mut turned, mut moved) = (false, false, false);
            let mut at = 0;
            while at < running {
                let round = self.blocks[at].round(device, job, watched);
                progress |= round.progress;
                turned |= round.turned;
                moved |= round.moved;
                if round.failed {
                    break;
                }
                if round.done {
                    running -= 1;
                    if at != running {
                        self.blocks.swap(at, running);
                    }
                } else {
                    at += 1;
                }
            }
            if progress || moved {
                watched = false;
                standstill.iter().for_each(|standstill| standstill.moves(number));
            }
            if progress {
                (quiet, since) = (0, None);
            } else if turned {
                quiet += 1;
                listen::tell();
                since.get_or_insert_with(Instant::now);
                if quiet.is_multiple_of(Running::patience(job.workers)) {
                    if let Some(stuck) = self.blocks[..running].iter().find(|block| block.is_stuck(job)) {
                        stuck.deadlock(device, job);
                    } else if let Some(standstill) = standstill {
                        watched = self.look(device, job, running, (standstill, number, watched));
                    }
                    thread::yield_now();
                }
            } else if running > 0 && !job.ending.has_come() {
                if let Some(stuck) = self.blocks[..running].iter().find(|block| !block.waits_for_the_grid()) {
                    stuck.deadlock(device, job);
                } else if job.handout.has_more() {
                    if self.start(device, job, running, number) {
                        running += 1;
                    }
                } else {
                    self.rest(device, job, running);
                }
            }
        }
        for block in &mut self.blocks[..running] {
            block.abandon();
        }
        standstill.iter().for_each(|standstill| standstill.end(number));
        job.grid.hold(false);
    }

    /// Looks whether all warps of the launch wait for ever, where that is checked. Whether those of this worker are to be
    /// watched: who gives way in a loop for a lock each time may have had many of them in between.
    fn look(
        &self,
        device: &Device,
        job: &Job,
        running: usize,
        (standstill, number, watched): (&Standstill, u32, bool),
    ) -> bool {
        let blocks = &self.blocks[..running];
        let wait = !job.handout.has_more() && blocks.iter().all(|block| block.only_waits(job));
        if !wait {
            standstill.moves(number);
        } else if watched && standstill.stands(number, RUNNING.load(Ordering::Relaxed)) {
            blocks[0].deadlock(device, job);
        }
        wait
    }

    /// Takes a block of the launch, as number `at` of the list.
    fn start(&mut self, device: &Device, job: &Job, at: usize, number: u32) -> bool {
        if self.blocks.len() == at {
            self.blocks.push(Block::new());
        }
        let Some((block, blocks)) = job.take() else { return false };
        if let Err(kind) = self.blocks[at].start(device, job, block, blocks, number) {
            job.ending.fail(Fault::new(device, job.kernel.name(), &kind, &Place::default()));
            self.blocks[at].abandon();
            return false;
        }
        true
    }

    /// Waits until a warp can run, while all of them wait for the grid.
    fn rest(&self, device: &Device, job: &Job, running: usize) {
        let blocks = &self.blocks[..running];
        let waits = |generation| blocks.iter().all(|block| block.waits_for(generation));
        let Some(generation) = job.grid.rest(waits) else { return };
        let mut looks = 0;
        while !job.ending.has_come() && !blocks.iter().any(Block::is_ready) {
            if job.grid.is_stuck(generation) && !job.handout.has_more() {
                blocks[0].deadlock(device, job);
                return;
            }
            looks += 1;
            if looks < LOOKS {
                thread::yield_now();
            } else {
                thread::sleep(NAP);
            }
        }
    }

    /// Whether launches have left more behind than is worth keeping: a cooperative one starts all
    /// its blocks.
    pub fn trim(&mut self, most: usize) {
        self.blocks.truncate(most);
    }
}
