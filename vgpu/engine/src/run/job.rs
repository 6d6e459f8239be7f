//! A launch that is being run: what its workers share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gangway_interpreter::FaultKind;
use gangway_races::Past;

use super::accesses::Accesses;
use super::ending::Ending;
use super::extent::Extent;
use super::findings::Listeners;
use super::grid::Grid;
use super::handout::Handout;
use super::kernel::LaunchedKernel;
use super::order::Order;
use super::race;
use super::room::Room;
use super::sync::{self, Found};
use crate::init::Launched;
use crate::launch::KernelLaunch;
use crate::program::Program;
use crate::runtimes::is_offloaded;

/// A launch. The launching thread keeps it, and what it points to, until no worker is at it.
#[derive(Debug)]
pub(crate) struct Job {
    /// Different for each launch of the process.
    pub id: u64,
    /// How many workers its device has.
    pub workers: u32,
    pub kernel: LaunchedKernel,
    pub extent: Extent,
    pub order: Order,
    pub room: Room,
    pub handout: Handout,
    pub grid: Grid,
    pub ending: Ending,
    /// Where accesses are watched for races.
    pub races: Option<Arc<gangway_races::Launch>>,
    /// Where they are noted.
    pub accesses: Option<Arc<Accesses>>,
    /// What is found of threads that wait for each other, where that is looked at.
    pub sync: Option<Found>,
}

/// The first processor whose lanes do not go together without being told to: code for older ones relies on
/// that (CUDA C++ Programming Guide, "Independent thread scheduling").
pub(super) const INDEPENDENT_LANES: u16 = 70;

/// Where a launch is watched for races, and what it comes after.
pub(crate) struct Watched<'a> {
    pub device: &'a Arc<gangway_races::Device>,
    pub past: Option<Arc<dyn Past>>,
}

impl Job {
    #[must_use]
    pub fn new(
        launch: &KernelLaunch<'_>,
        stack: u64,
        workers: u32,
        stop: Option<Arc<AtomicBool>>,
        races: Option<Watched<'_>>,
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let (extent, order) = (Extent::new(launch.grid, launch.block), Order::of(launch, races.is_some()));
        let blocks = extent.blocks();
        let lockstep = launch.program.module().target.processor < INDEPENDENT_LANES;
        let races = races.and_then(|Watched { device, past }| {
            let launched = device.launch(blocks, extent.warps() as u32, lockstep, past);
            if is_offloaded(&launch.program.describe(launch.kernel).name) {
                launched.iter().for_each(|launched| launched.meets_others_on_the_device_alone());
            }
            launched
        });
        Job {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            workers,
            kernel: LaunchedKernel::of(launch),
            room: Room::of(launch, stack),
            handout: Handout::new(blocks, workers, order.straight),
            grid: Grid::new(launch.cooperative, blocks * u64::from(extent.threads)),
            ending: Ending::new(stop),
            races,
            accesses: None,
            sync: None,
            extent,
            order,
        }
    }

    #[must_use]
    pub fn program(&self) -> &Program {
        self.kernel.program()
    }

    /// Makes the kernel's own code; why there is none, if so.
    pub fn compile(&mut self) -> Result<(), FaultKind> {
        self.kernel.compile(self.extent.has_whole_warps())
    }

    /// Tells the races that have been found, when all blocks have ended.
    pub fn tell_races(&self, listeners: Listeners) {
        for finding in self.races.iter().flat_map(|races| races.end()) {
            (listeners.tell)(race::told(&finding, &self.extent, listeners));
        }
    }

    /// The launch, as what is found in it is told of.
    pub fn launched(&self) -> sync::Launched<'_> {
        sync::Launched { program: self.program(), kernel: self.kernel.name(), extent: &self.extent }
    }

    /// Tells what has been found of threads that wait for each other, when all blocks have ended.
    pub fn tell_sync(&self, listeners: Listeners) {
        self.sync.iter().flat_map(Found::take).for_each(listeners.tell);
    }

    /// Tells the uses of what nothing has written, when all blocks have ended.
    pub fn tell_uses(&self, listeners: Listeners) {
        let Some(init) = self.program().init() else { return };
        let launched = Launched {
            kernel: self.kernel.name(),
            shared: self.room.shared,
            thread: &|block, thread| self.extent.told(block.into(), thread),
            name: listeners.name,
            obtained: listeners.obtained,
        };
        init.found(&launched).into_iter().for_each(listeners.tell);
    }

    /// The next block that no worker has, and how many from there on the caller gets.
    #[must_use]
    pub fn take(&self) -> Option<([u32; 3], u64)> {
        self.handout.take().map(|(number, count)| (self.extent.place(number), count))
    }
}
