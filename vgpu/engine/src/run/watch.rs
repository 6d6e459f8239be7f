//! A block whose accesses are watched for races.

use std::sync::Arc;

use gangway_device_memory::is_device_address;
use gangway_races::{Access, Block, Launch, Order, Place};
use rustc_hash::FxHashMap;

use super::job::Job;
use super::place::place;
use super::runtimes::is_libgomps;
use crate::abi::Warp;
use crate::support::Noted;

/// What a block's warps share for it.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub block: Block,
    /// The numbers of instructions, by where their code is, and whether they are of the compiler's own runtime.
    sites: FxHashMap<u64, (u16, bool)>,
    /// The launch that these are of.
    job: u64,
}

impl Watch {
    /// A block of a launch starts.
    pub fn start(&mut self, job: &Job, races: &Arc<Launch>, block: [u32; 3]) {
        if self.job != job.id {
            self.sites.clear();
            self.job = job.id;
        }
        self.block.start(races, job.extent.number(block), job.extent.warps(), job.room.shared);
    }

    /// A lane of a warp is about to access memory.
    pub fn note(&mut self, job: &Job, warp: &Warp, index: usize, noted: Noted) {
        let Some(races) = &job.races else { return };
        let (place_of, offset) = (noted.place as u64, (noted.place as u64).wrapping_sub(warp.shared as u64));
        let shared = offset < warp.shared_size;
        if !shared && !is_device_address(place_of) {
            // The lane's own memory, or the host's.
            return;
        }
        let code = warp.called_from.wrapping_sub(1);
        let (site, runtimes) = *self.sites.entry(code).or_insert_with(|| {
            let place = told(job, warp, code);
            let runtimes = place.runtimes;
            (races.device().site(job.program().id(), code, || place), runtimes)
        });
        // A lock of libgomp's is opened by a plain store.
        let strong = noted.strong || runtimes;
        let access = Access {
            warp: index,
            lane: noted.lane,
            address: if shared { offset } else { place_of },
            size: noted.size,
            shared,
            write: noted.writes,
            strong,
            bytes: noted.bytes.as_ref().map(|bytes| &bytes[..]),
            site,
        };
        if !job.program().is_runtimes(access.address) {
            self.block.access(&access);
        }
        if strong {
            let order = Order { acquire: noted.acquire, release: noted.release };
            self.block.hand_on(&access, order, noted.reads);
        }
    }
}

/// An instruction, for people.
fn told(job: &Job, warp: &Warp, code: u64) -> Place {
    let found = place(job, warp, job.program().functions().find(code as usize), 0);
    let function = found.function.unwrap_or_default();
    let file = found.source.as_ref().map(|(file, ..)| &file[..]);
    Place {
        runtimes: is_libgomps(&function, file),
        kernel: job.kernel.name().to_owned(),
        function,
        instruction: found.instruction.unwrap_or_default(),
        source: found.source,
    }
}
