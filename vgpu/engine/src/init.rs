//! Programs that are checked for uses of what nothing has written: what was woven into them, and what their records tell.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use gangway_device_memory::{AllocationKind, BASE, LOCAL_SIZE, LOCAL_WINDOW, SIZE, Space};
use gangway_findings as findings;
use gangway_init::{PLACE_SHIFT, Place, RECORD, Read, Use};
use gangway_ptx::Module;

use crate::output;

/// Where all programs read, by number; the first one stands for none.
static READS: Mutex<Vec<Read>> = Mutex::new(Vec::new());

fn reads<T>(work: impl FnOnce(&mut Vec<Read>) -> T) -> T {
    work(&mut READS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// What is known of a program that is checked.
#[derive(Debug)]
pub(crate) struct Init {
    /// By record.
    uses: Vec<Use>,
    /// Where the records are in device memory.
    records: u64,
    told: Mutex<HashSet<Told>>,
}

/// What is told once: the line of the use, or the number of its record, what kind it is, and where the value came from.
type Told = (Result<(String, u32), usize>, &'static str, u64);

/// Weaves the check into a module; none if that cannot be read, which is told: its kernels are not looked at then.
pub(crate) fn weave(module: &Module) -> Option<(Module, Vec<Use>)> {
    reads(|reads| {
        if reads.is_empty() {
            reads.push(Read { place: Place::default(), register: false });
        }
        let checked = gangway_init::check(module, reads.len() as u64);
        let woven = gangway_ptx::parse_linked(&checked.text);
        debug_assert!(woven.is_ok(), "{}\n{}", woven.as_ref().unwrap_err(), checked.text);
        let Ok(woven) = woven else {
            output::complain(
                "gangway: a module is not looked at for uses of what nothing has written: it cannot be woven into\n",
            );
            return None;
        };
        reads.extend(checked.reads);
        Some((woven, checked.uses))
    })
}

/// A use of something undefined, as a launch has left it.
struct Recorded<'a> {
    used: &'a Use,
    origin: u64,
    block: u32,
    thread: u32,
    count: u64,
}

/// What is known of the launch.
pub(crate) struct Launched<'a> {
    pub kernel: &'a str,
    /// Bytes of a block's shared memory.
    pub shared: u64,
    /// The block and the thread with these numbers, in words.
    pub thread: &'a dyn Fn(u32, u32) -> String,
    /// What of the program is at an address.
    pub name: fn(u64) -> Option<String>,
    /// Where the program has had memory.
    pub obtained: fn(u64) -> Option<findings::Side>,
}

impl Init {
    pub fn new(uses: Vec<Use>, records: u64) -> Self {
        Self { uses, records, told: Mutex::default() }
    }

    /// What a launch that has ended was the first to have.
    pub fn found(&self, launched: &Launched<'_>) -> Vec<findings::Finding> {
        let mut found = Vec::new();
        for (number, used) in self.uses.iter().enumerate() {
            let start = (self.records + RECORD * number as u64) as usize;
            let word = |index: usize| {
                // SAFETY: records are words of a variable of the program's, which lives as long as this does.
                unsafe { AtomicU64::from_ptr(std::ptr::with_exposed_provenance_mut(start + 8 * index)) }
            };
            let count = word(2).swap(0, Ordering::Relaxed);
            if count == 0 {
                continue;
            }
            let (origin, at) = (word(0).load(Ordering::Relaxed), word(1).load(Ordering::Relaxed));
            let line = used.place.source.clone().map(|(file, line, _)| (file, line)).ok_or(number);
            let told = (line, used.kind.words(), origin >> PLACE_SHIFT);
            if self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(told) {
                let recorded = Recorded { used, origin, block: (at >> 32) as u32, thread: at as u32, count };
                found.push(recorded.told(launched));
            }
        }
        found
    }
}

fn side(label: &str, what: String, place: Place) -> findings::Side {
    let Place { function, instruction, source } = place;
    let source = source.map(findings::Source::from);
    findings::Side { label: label.to_owned(), what, function, instruction, source }
}

impl Recorded<'_> {
    fn told(&self, launched: &Launched<'_>) -> findings::Finding {
        let &Self { used, origin, block, thread, count } = self;
        let kind = used.kind.words();
        let (what, read) = origin_of(origin, launched.shared, launched.name);
        let by = (launched.thread)(block, thread);
        let memory = (launched.obtained)(address_of(origin));
        let used = side("used", format!("{kind} of {by}"), used.place.clone());
        findings::Finding {
            check: "init".to_owned(),
            message: format!("{kind} depends on what nothing has written: {what}"),
            kernel: launched.kernel.to_owned(),
            sides: memory.into_iter().chain(read).chain([used]).collect(),
            notes: Vec::new(),
            count,
        }
    }
}

/// Where something undefined came from, in words, and where it was read first if it was. `shared` is how much shared memory a
/// block has.
fn origin_of(origin: u64, shared: u64, name: fn(u64) -> Option<String>) -> (String, Option<findings::Side>) {
    let (place, address) = ((origin >> PLACE_SHIFT) as usize, address_of(origin));
    let read = reads(|reads| reads.get(place).filter(|_| place > 0).cloned());
    if let Some(Read { register: true, place }) = read {
        return (
            "a variable that has no memory".to_owned(),
            Some(side("read", "it is never set".to_owned(), place)),
        );
    }
    let read = read.map(|read| side("read", "what was not written".to_owned(), read.place));
    let what = if address.wrapping_sub(LOCAL_WINDOW) < LOCAL_SIZE {
        "a variable of the thread's own".to_owned()
    } else {
        describe(address, shared, name)
    };
    (what, read)
}

/// Where in device memory something undefined came from.
const fn address_of(origin: u64) -> u64 {
    BASE | origin & (SIZE - 1)
}

/// Device memory in words.
fn describe(address: u64, shared: u64, name: fn(u64) -> Option<String>) -> String {
    let Ok(space) = Space::get() else { return format!("{address:#x}") };
    if let Some(arena) = space.find(address).filter(|found| found.kind == AllocationKind::Arena) {
        // Blocks have the end of it.
        let start = arena.address + arena.size - shared.next_multiple_of(256).min(arena.size);
        return format!("byte {} of the block's shared memory", address.saturating_sub(start));
    }
    name(address).unwrap_or_else(|| format!("{address:#x}, {}", space.describe(address)))
}

/// Where the memory at an address got what is undefined there: a line of text, and where that was read.
#[must_use]
pub fn told_of(origin: u64, name: fn(u64) -> Option<String>) -> Option<(String, findings::Side)> {
    let (what, read) = origin_of(origin, 0, name);
    read.map(|read| (what, read))
}
