//! Where a program has had memory, and what of it it has not freed. Check mode (`GANGWAY_VGPU_CHECK=memory`) tells of that
//! when its context is destroyed and when the process ends.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use gangway_device_memory::{Allocation, Space};
use gangway_findings::{Finding, Side, Source};
use gangway_private_table::FindPlace;

use super::{host, names};
use crate::objects::process::report::{self, report};
use crate::objects::process::state;

/// Has what is left at the end of the process told.
pub fn watch() {
    static ONCE: Once = Once::new();
    extern "C" fn at_exit() {
        // What a forked child has is its parent's.
        if !state::is_forked()
            && !state::has_failed()
            && let Ok(space) = Space::get()
        {
            let left = left_at_exit(space);
            // What ends in the middle of its work has had no time to free anything.
            if !gangway_streams::is_any_unfinished() {
                tell(space, left);
            }
        }
    }
    // SAFETY: a function without parameters that may run at any exit.
    ONCE.call_once(|| unsafe {
        libc::atexit(at_exit);
    });
    gangway_streams::count_unfinished();
}

/// Allocations that Gangway's runtime has for itself until the end of the process, by their numbers.
static KEPT: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// The runtime keeps what it has allocated at an address: the program has not forgotten it.
pub fn keep(address: u64) {
    if let Ok(space) = Space::get()
        && let Some(allocation) = space.find(address)
    {
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(allocation.id);
    }
}

fn forgotten(space: &Space) -> Vec<Allocation> {
    let mut left = space.leaks();
    leave_out_kept(&mut left);
    left
}

fn leave_out_kept(left: &mut Vec<Allocation>) {
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    left.retain(|left| !kept.contains(&left.id));
}

/// So long a process that ends waits for what streams have left to do: they may free something.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is left. Nobody waits for what streams free last, and on a busy machine they may not have begun with it.
fn left_at_exit(space: &Space) -> Vec<Allocation> {
    let begun = Instant::now();
    loop {
        // Asked first: what is done then has freed its memory.
        let unfinished = gangway_streams::is_any_unfinished();
        let left = forgotten(space);
        if left.is_empty() || !unfinished || begun.elapsed() > PATIENCE {
            return left;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// What of the program has had memory allocated, as the runtime tells it.
#[derive(Clone, Debug)]
pub struct Origin {
    /// A construct maps a variable there; otherwise a routine has allocated it.
    pub maps: bool,
    /// The construct.
    pub source: Option<Source>,
    /// An address in the instruction that called the runtime, 0 if it is not known, and what tells its place.
    pub code: u64,
    pub find: FindPlace,
}

/// By where the memory begins, with the numbers of the allocations: not all that goes is given back one by one. Several variables
/// may be in one allocation.
type Origins = BTreeMap<u64, (u64, Origin)>;

static ORIGINS: Mutex<Origins> = Mutex::new(Origins::new());

/// Whether anything has been told. Where leaks are not looked for, freeing takes no lock for them.
static ANY: AtomicBool = AtomicBool::new(false);

fn origins<R>(work: impl FnOnce(&mut Origins) -> R) -> R {
    work(&mut ORIGINS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// What is at an address has been allocated for the program.
pub fn obtained(address: u64, origin: Origin) {
    if let Ok(space) = Space::get()
        && let Some(allocation) = space.find(address)
    {
        ANY.store(true, Ordering::Relaxed);
        origins(|origins| origins.insert(address, (allocation.id, origin)));
    }
}

/// Memory is given back.
pub fn forget(address: u64) {
    if ANY.load(Ordering::Relaxed)
        && let Some(allocation) = Space::get().ok().and_then(|space| space.find(address))
    {
        let all = allocation.address..allocation.address + allocation.size.max(1);
        origins(|origins| {
            while let Some(&start) = origins.range(all.clone()).next().map(|(start, _)| start) {
                origins.remove(&start);
            }
        });
    }
}

/// What of the program has had the memory at an address of an allocation.
fn origin_of(allocation: &Allocation, address: u64) -> Option<Origin> {
    let found = origins(|origins| origins.range(..=address).next_back().map(|(_, found)| found.clone()));
    found.and_then(|(id, origin)| (id == allocation.id).then_some(origin))
}

impl Origin {
    fn place(&self) -> Option<Source> {
        self.source
            .clone()
            .or_else(|| (self.code != 0).then(|| host::place(self.find, self.code).1).flatten())
    }
}

/// Where the program has had the memory at an address.
pub fn place(address: u64) -> Option<Side> {
    let allocation = Space::get().ok()?.find(address)?;
    let origin = origin_of(&allocation, address)?;
    let (what, source) = (if origin.maps { "mapped" } else { "allocated" }, Some(origin.place()?));
    Some(Side { label: "memory".to_owned(), what: what.to_owned(), source, ..Side::default() })
}

/// Memory that differs from others in nothing that one could tell: bytes, who has allocated it, a variable, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    size: u64,
    device: u32,
    by: String,
    variable: Option<String>,
    file: String,
    line: u32,
    column: u32,
    maps: bool,
}

/// How many findings there are at most, of the largest.
const MOST: usize = 20;

/// Tells of allocations that can no longer be freed: each kind once, what wastes most first.
pub fn tell(space: &Space, mut left: Vec<Allocation>) {
    leave_out_kept(&mut left);
    let mut kinds: BTreeMap<Kind, u64> = BTreeMap::new();
    for leak in &left {
        for block in space.leaked_blocks(leak) {
            *kinds.entry(kind(leak, block.address, block.size)).or_default() += 1;
        }
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(kind, count)| Reverse(kind.size * count));
    // The end of a process is no place to fail in: a line that cannot be printed is left out.
    for (kind, count) in kinds.iter().take(MOST) {
        gangway_findings::tell(&finding(kind, *count), report::line);
    }
    if kinds.len() > MOST {
        let more: u64 = kinds[MOST..].iter().map(|(_, count)| count).sum();
        report!("memory: {more} smaller allocations were never freed either");
    }
}

fn kind(leak: &Allocation, address: u64, size: u64) -> Kind {
    let origin = origin_of(leak, leak.address.max(address));
    let maps = origin.as_ref().is_some_and(|origin| origin.maps);
    let place = origin.and_then(|origin| origin.place());
    let Source { file, line, column } = place.unwrap_or(Source { file: String::new(), line: 0, column: 0 });
    let variable = maps.then(|| names::find(address)).flatten();
    Kind { size, device: leak.device, by: leak.origin().to_owned(), variable, file, line, column, maps }
}

fn finding(kind: &Kind, count: u64) -> Finding {
    let &Kind { size, device, ref by, ref variable, ref file, line, column, maps } = kind;
    let what = match variable {
        Some(variable) => variable.clone(),
        None => format!("{size} bytes"),
    };
    let times = if count == 1 { String::new() } else { format!(", {count} times") };
    let (message, what, help) = if maps {
        let help = "help: unmap it where it is no longer needed: `target exit data` (OpenACC: `exit data`)";
        (format!("nothing has unmapped {what} from device {device}{times}"), "mapped", help)
    } else {
        let help =
            "help: free it where it is no longer needed, with the routine that belongs to its allocation";
        (format!("nothing has freed {what} of device {device}, allocated by {by}{times}"), "allocated", help)
    };
    let source = (!file.is_empty()).then(|| Source { file: file.clone(), line, column });
    // Where no line is known, the routine is what a line that suppresses it is about.
    let function = if source.is_none() { by.clone() } else { String::new() };
    let side = Side { what: what.to_owned(), function, source, ..Side::default() };
    let notes = vec![help.to_owned()];
    Finding { check: "memory".to_owned(), message, sides: vec![side], notes, count, ..Finding::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(variable: Option<&str>, file: &str) -> Kind {
        Kind {
            size: 400,
            device: 1,
            by: "cuMemAlloc".to_owned(),
            variable: variable.map(str::to_owned),
            file: file.to_owned(),
            line: 7,
            column: 0,
            maps: variable.is_some(),
        }
    }

    #[test]
    fn a_leak_names_the_variable_or_the_routine() {
        let mapped = finding(&kind(Some("`a[0:n]` of 400 bytes"), "x/a.c"), 1);
        assert_eq!(mapped.message, "nothing has unmapped `a[0:n]` of 400 bytes from device 1");
        assert!(mapped.to_string().contains("\n  mapped at x/a.c:7\n"), "{mapped}");
        assert_eq!(mapped.suppression(), "memory:a.c:7");
        let allocated = finding(&kind(None, ""), 3);
        let told = "nothing has freed 400 bytes of device 1, allocated by cuMemAlloc, 3 times";
        assert_eq!(
            (allocated.message.as_str(), allocated.suppression().as_str()),
            (told, "memory:cuMemAlloc")
        );
    }
}
