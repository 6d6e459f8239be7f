//! A block whose accesses are watched for races.

use gangway_device_memory::is_device_address;
use gangway_races::{Access, Block, Order, Place};
use rustc_hash::FxHashMap;

use super::accesses::{Accesses, Recent};
use super::job::Job;
use super::place::place;
use crate::abi::Warp;
use crate::support::Noted;

/// What a block's warps share for it.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub block: Block,
    /// The numbers of instructions, by where their code is, and whether they are of the compiler's own runtime.
    sites: FxHashMap<u64, (u16, bool)>,
    /// The same for accesses that are noted, and where the last was.
    noted: FxHashMap<u64, u32>,
    recent: Recent,
    /// The launch that these are of.
    job: u64,
}

impl Watch {
    /// A block of a launch starts.
    pub fn start(&mut self, job: &Job, block: [u32; 3]) {
        if self.job != job.id {
            self.sites.clear();
            self.noted.clear();
            self.recent = Recent::default();
            self.job = job.id;
        }
        if let Some(races) = &job.races {
            self.block.start(races, job.extent.number(block), job.extent.warps(), job.room.shared);
        }
    }

    /// Notes an access of device memory for those who ask after the kernel.
    fn note_bytes(&mut self, job: &Job, warp: &Warp, accesses: &Accesses, noted: &Noted) {
        let address = noted.place as u64;
        if !is_device_address(address) || job.program().is_runtimes(address) {
            return;
        }
        let code = warp.called_from.wrapping_sub(1);
        let number = || accesses.site(job.program().id(), code, || told(job, warp, code));
        let site = *self.noted.entry(code).or_insert_with(number);
        accesses.note(&mut self.recent, address, noted.size, noted.reads, noted.writes, site);
    }

    /// A lane of a warp is about to access memory.
    pub fn note(&mut self, job: &Job, warp: &Warp, index: usize, noted: Noted) {
        if let Some(accesses) = &job.accesses {
            self.note_bytes(job, warp, accesses, &noted);
        }
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

/// What names of libgomp's sources have in them.
const LIBGOMP: &str = "/libgomp/";
/// How names of its functions begin, for those without lines.
const LIBGOMPS: [&str; 3] = ["GOMP_", "GOACC_", "gomp_"];

/// An instruction, for people.
fn told(job: &Job, warp: &Warp, code: u64) -> Place {
    let found = place(job, warp, job.program().functions().find(code as usize), 0);
    let function = found.function.unwrap_or_default();
    let runtimes = match &found.source {
        Some((file, ..)) => file.contains(LIBGOMP),
        None => LIBGOMPS.iter().any(|prefix| function.starts_with(prefix)),
    };
    Place {
        copy: None,
        runtimes,
        kernel: job.kernel.name().to_owned(),
        function,
        instruction: found.instruction.unwrap_or_default(),
        source: found.source,
    }
}
