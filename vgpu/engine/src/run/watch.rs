//! A block whose accesses are watched for races.

use std::fmt::Write as _;

use gangway_device_memory::{Space, is_device_address};
use gangway_races::{Access, Block, Example, Finding, Order, Place, Side};
use rustc_hash::FxHashMap;

use super::extent::Extent;
use super::job::Job;
use super::place::place;
use crate::abi::Warp;
use crate::support::Noted;

/// What a block's warps share for it.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub block: Block,
    /// The numbers of instructions, by where their code is.
    sites: FxHashMap<u64, u16>,
    /// The launch that these are of.
    job: u64,
}

impl Watch {
    /// A block of a launch starts.
    pub fn start(&mut self, job: &Job, block: [u32; 3]) {
        let Some(races) = &job.races else { return };
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
        let site = *self
            .sites
            .entry(code)
            .or_insert_with(|| races.device().site(job.program().id(), code, || told(job, warp, code)));
        let access = Access {
            warp: index,
            lane: noted.lane,
            address: if shared { offset } else { place_of },
            size: noted.size,
            shared,
            write: noted.writes,
            strong: noted.strong,
            unchanged: noted.unchanged,
            site,
        };
        // Variables that the device runtime shares out are the program's, and have no name of the runtime's.
        if !job.program().is_runtimes(access.address) {
            self.block.access(&access);
        }
        if noted.strong {
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
        runtimes,
        kernel: job.kernel.name().to_owned(),
        function,
        instruction: found.instruction.unwrap_or_default(),
        source: found.source,
    }
}

/// What is said of a race.
pub(super) fn text(finding: &Finding, extent: &Extent) -> String {
    let Finding { earlier, later, address, shared, count } = finding;
    let between = match (earlier.example.thread, later.example.thread) {
        (Some((one, _)), Some((other, _))) if one == other => "threads of a block",
        (Some(_), Some(_)) => "threads of two blocks",
        _ => "threads of two kernels that run at the same time",
    };
    let at = match (shared, Space::get()) {
        (true, _) => format!("byte {address} of the block's shared memory"),
        (false, Ok(space)) => format!("{address:#x}, {}", space.describe(*address)),
        (false, Err(_)) => format!("{address:#x}"),
    };
    let mut text = format!("gangway: race: nothing orders two accesses of {between}, at {at}\n");
    for (word, side) in [("first", earlier), ("then", later)] {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {word}: {}", access(side, extent));
    }
    let kernel = &later.place.kernel;
    let _ = match count {
        1 => writeln!(text, "  in kernel '{kernel}', once"),
        count => writeln!(text, "  in kernel '{kernel}', {count} times in its first launch with it"),
    };
    text
}

fn access(side: &Side, extent: &Extent) -> String {
    let Side { place, example: Example { write, strong, thread } } = side;
    let what = match (write, strong) {
        (true, true) => "an atomic or volatile write",
        (false, true) => "an atomic or volatile read",
        (true, false) => "a write",
        (false, false) => "a read",
    };
    let by = thread.map_or_else(
        || "by another kernel".to_owned(),
        |(block, thread)| {
            let ([a, b, c], [x, y, z]) = (extent.place(block.into()), extent.thread(thread));
            format!("by thread ({x}, {y}, {z}) of block ({a}, {b}, {c})")
        },
    );
    let at = match &place.source {
        Some((file, line, column)) => format!(" at {file}:{line}:{column}"),
        None => format!(" in '{}'", place.function),
    };
    format!("{what} {by}{at}, instruction {}", place.instruction)
}
