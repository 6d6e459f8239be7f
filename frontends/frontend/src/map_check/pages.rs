//! Pages of the host whose data the device has newer: out of reach, so that a read of them shows.
//!
//! Only whole pages inside of a mapped range are taken. An access raises a signal, whose handler decodes the instruction
//! and tells the tracker which bytes it reads and writes. Then the page is opened for this one instruction, behind which
//! the processor traps, and it is closed again. The runtime's own copies open what they touch before.
//!
//! Stacks are left alone: functions that the program calls later use them. What cannot be decoded opens its page for
//! good, and so does a page that has cost its share of [`MOST_FAULTS`]. A *system call* on such a page fails with
//! `EFAULT`, so pages are closed only where `libgangway-host-access.so` tells of those that programs make.
//!
//! Whoever uses a page, a copy or a call of the C library, or another thread's instruction, keeps it
//! [open](super::uses). Where that cannot be had, as somebody else has the signal, no page is closed, which is said once.

use super::contents;
use super::decode::{Instructions, OPERANDS, Operand};
use super::handlers::{self, SEGMENTATION, TRAP};
use super::lock::{Lock, this_thread};
use super::maps::Known;
use super::tracker::{Mistake, TRACKER, Tracker};
use super::uses::{User, Uses};
use crate::errno::Errno;
use crate::host_accesses;
use crate::message::print_line;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

const PAGE: usize = 4096;

/// Accesses of closed pages that are looked at; then the pages stay open.
const MOST_FAULTS: usize = 2_000_000;

/// Accesses of one page that are looked at: twice as many as it has words.
const MOST_OF_A_PAGE: u16 = 2048;

/// Instructions that are executed on open pages at once, with those that signal handlers have left.
const STEPS: usize = 256;

/// Ranges that are closed at once: the system has a limit for mappings, of 65530 if nobody has changed it, and most of
/// them are the program's.
const MOST_RANGES: usize = 8192;

/// A page that may be closed.
#[derive(Clone, Copy, Debug)]
struct Page {
    address: usize,
    closed: bool,
    /// It is open for calls that read, and closed again when they have ended.
    paused: bool,
    /// It stays open until the host has the newest of it again.
    given_up: bool,
    /// Instructions that are being executed on it.
    steps: u16,
    /// Accesses that have been looked at.
    faults: u16,
}

/// A thread between the opening of pages and the trap behind its instruction.
#[derive(Clone, Copy, Debug)]
struct Step {
    thread: usize,
    /// Later ones have higher numbers.
    number: usize,
    pages: [usize; 2 * OPERANDS],
    count: usize,
}

/// An access of an open page that has been repeated, as another thread may have opened it meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Repeated {
    thread: usize,
    pc: usize,
    address: usize,
    /// How often pages had been opened or closed.
    changes: usize,
}

struct Pages {
    /// In the order of their addresses.
    pages: Vec<Page>,
    /// How many ranges have been closed, as far as pages in the middle have not been opened since.
    ranges: usize,
    uses: Uses,
    steps: [Step; STEPS],
    last_step: usize,
    repeated: [Repeated; STEPS],
    next_repeated: usize,
    changes: usize,
    instructions: Option<Instructions>,
    /// For contents that are read.
    scratch: [u8; PAGE],
}

static PAGES: Lock<Pages> = Lock::new(Pages {
    pages: Vec::new(),
    ranges: 0,
    uses: Uses::new(),
    steps: [Step { thread: 0, number: 0, pages: [0; 2 * OPERANDS], count: 0 }; STEPS],
    last_step: 0,
    repeated: [Repeated { thread: 0, pc: 0, address: 0, changes: 0 }; STEPS],
    next_repeated: 0,
    changes: 0,
    instructions: None,
    scratch: [0; PAGE],
});

/// What may be closed. Taken before [`PAGES`].
static KNOWN: Lock<Known> = Lock::new(Known::new());

/// How many accesses there have been.
static FAULTS: AtomicUsize = AtomicUsize::new(0);
/// One page has cost its share.
static GIVEN_UP: AtomicBool = AtomicBool::new(false);
/// Whether pages are closed at all.
static ON: AtomicBool = AtomicBool::new(false);
/// Whether one has been.
static ANY: AtomicBool = AtomicBool::new(false);
/// The program has taken a signal away.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Of the tracker's ledger, when pages were closed last.
static VERSION: AtomicU64 = AtomicU64::new(0);

/// Has pages closed from now on.
pub fn start() {
    handlers::listen();
    let _ = PAGES.try_with(|pages| pages.instructions = Some(Instructions::new()));
    ON.store(true, Ordering::Release);
}

/// Whether pages were left open as there were too many accesses.
pub fn were_given_up() -> bool {
    FAULTS.load(Ordering::Relaxed) >= MOST_FAULTS || GIVEN_UP.load(Ordering::Relaxed)
}

/// Whether pages are closed in this process.
pub fn are_closed() -> bool {
    ON.load(Ordering::Acquire)
}

/// Somebody is about to use a range, and may write: its pages are open until [`end_use`], and then until the next
/// [`close`].
pub fn begin_use(user: User, address: usize, size: usize) {
    if ON.load(Ordering::Acquire) && size != 0 {
        let _ = PAGES.try_with(|pages| {
            pages.uses.begin(user, address, size);
            pages.leave_open(address, size);
        });
    }
}

/// A call of the C library is about to read a range: its pages are open until [`end_use`].
pub fn begin_reading(address: usize, size: usize) {
    if ON.load(Ordering::Acquire) && size != 0 {
        let _ = PAGES.try_with(|pages| {
            pages.uses.begin(User::Library, address, size);
            let range = pages.places(address, size);
            pages.pages[range].iter_mut().for_each(|page| page.paused |= page.closed);
            pages.open(address, size);
        });
    }
}

/// The use has ended.
pub fn end_use(user: User, address: usize, size: usize) {
    if ON.load(Ordering::Acquire) && size != 0 {
        let _ = PAGES.try_with(|pages| {
            pages.uses.end(user, address, size);
            pages.resume(address, size);
        });
    }
}

/// Opens the pages of a range until the next [`close`].
pub fn open(address: usize, size: usize) {
    if ANY.load(Ordering::Relaxed) && size != 0 {
        let _ = PAGES.try_with(|pages| pages.leave_open(address, size));
    }
}

/// Whether this thread is at work here or at the tracker.
pub fn are_mine() -> bool {
    PAGES.is_mine() || KNOWN.is_mine() || TRACKER.is_mine()
}

/// Opens all pages for good.
pub fn stop() {
    if ON.swap(false, Ordering::AcqRel) {
        let _ = PAGES.try_with(|pages| pages.open(0, usize::MAX));
    }
}

/// The memory of a range is given back, or changed by the system: its pages are open, and others, from now on.
pub fn release(address: usize, size: usize) {
    if !ANY.load(Ordering::Relaxed) || size == 0 {
        return;
    }
    let _ = KNOWN.try_with(|known| {
        known.forget(address, size);
        let _ = PAGES.try_with(|pages| {
            pages.open(address, size);
            let range = pages.places(address, size);
            pages.pages.drain(range);
        });
    });
}

/// Closes the pages whose data the device has newer, and no others.
pub fn close() {
    if !ON.load(Ordering::Acquire) || host_accesses::are_told() {
        return;
    }
    let is_anything = ANY.load(Ordering::Relaxed)
        || TRACKER.try_with(|tracker| tracker.ledger.stale_on_host().next().is_some()) == Some(true);
    if !is_anything {
        return;
    }
    if !SEGMENTATION.install(on_fault) || !TRAP.install(on_trap) {
        stop();
        if !TAKEN.swap(true, Ordering::Relaxed) {
            print_line(format_args!(
                "gangway: note: --check=map: the program handles SIGSEGV or SIGTRAP without the C library; what the host \
                 reads is not looked at from now on"
            ));
        }
        return;
    }
    ANY.store(true, Ordering::Relaxed);
    // Nobody who has asked the ledger before closes what that has said then.
    let _ = KNOWN.try_with(|known| {
        let state = TRACKER.try_with(|tracker| {
            let version = tracker.ledger.version();
            (version, (version != VERSION.load(Ordering::Relaxed)).then(|| wanted(tracker)))
        });
        let Some((version, wanted)) = state else { return };
        let next = wanted.map(|mut wanted| {
            let is_closed = |page| PAGES.try_with(|pages| pages.at(page).is_some_and(|page| page.closed));
            known.look_up(&wanted, |page| is_closed(page) == Some(true));
            wanted.retain(|page| known.is_plain(*page) == Some(true));
            wanted.into_iter().map(Page::new).collect()
        });
        let old = PAGES.try_with(|pages| pages.change(next));
        VERSION.store(version, Ordering::Relaxed);
        // Outside of the lock.
        drop(old);
    });
}

/// The pages that are to be closed, in their order.
fn wanted(tracker: &Tracker) -> Vec<usize> {
    if FAULTS.load(Ordering::Relaxed) >= MOST_FAULTS {
        return Vec::new();
    }
    let mut wanted = Vec::new();
    for (_, pair) in tracker.ledger.stale_on_host() {
        let begin = pair.host().next_multiple_of(PAGE);
        let end = (pair.host() + pair.size()) / PAGE * PAGE;
        // Whole ones alone.
        wanted.extend(pair.stale_pages().filter(|page| (begin..end).contains(page)));
    }
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

impl Page {
    fn new(address: usize) -> Self {
        Self { address, closed: false, paused: false, given_up: false, steps: 0, faults: 0 }
    }
}

impl Pages {
    fn places(&self, address: usize, size: usize) -> std::ops::Range<usize> {
        let first = self.pages.partition_point(|page| page.address + PAGE <= address);
        let end = address.saturating_add(size);
        let last = self.pages.partition_point(|page| page.address < end);
        first..last.max(first)
    }

    fn at(&mut self, address: usize) -> Option<&mut Page> {
        let page = address / PAGE * PAGE;
        let at = self.pages.binary_search_by_key(&page, |page| page.address).ok()?;
        Some(&mut self.pages[at])
    }

    fn open(&mut self, address: usize, size: usize) {
        let range = self.places(address, size);
        self.changes += set(&mut self.pages[range], false, |_| true);
    }

    /// Opens pages, and no call that has read them closes them again.
    fn leave_open(&mut self, address: usize, size: usize) {
        self.open(address, size);
        let range = self.places(address, size);
        self.pages[range].iter_mut().for_each(|page| page.paused = false);
    }

    /// Closes those again that a call has read which has ended.
    fn resume(&mut self, address: usize, size: usize) {
        let range = self.places(address, size);
        let uses = &self.uses;
        let may = |page: &Page| {
            page.paused && !page.given_up && page.steps == 0 && !uses.overlap(page.address, PAGE)
        };
        self.changes += set(&mut self.pages[range], true, may);
    }

    /// Takes other pages, opens those that are not among them, and closes what nobody uses. Returns the former list.
    fn change(&mut self, next: Option<Vec<Page>>) -> Vec<Page> {
        let mut old = Vec::new();
        if let Some(next) = next {
            old = std::mem::replace(&mut self.pages, next);
            let mut kept = 0;
            let mut changes = 0;
            let pages = &mut self.pages;
            changes += set(&mut old, false, |page| {
                while pages.get(kept).is_some_and(|next| next.address < page.address) {
                    kept += 1;
                }
                pages.get(kept).is_none_or(|next| next.address != page.address)
            });
            kept = 0;
            for page in &old {
                while pages.get(kept).is_some_and(|next| next.address < page.address) {
                    kept += 1;
                }
                if let Some(next) = pages.get_mut(kept).filter(|next| next.address == page.address) {
                    *next = *page;
                }
            }
            self.changes += changes;
        }
        let uses = &self.uses;
        let may = |page: &Page| !page.given_up && page.steps == 0 && !uses.overlap(page.address, PAGE);
        self.ranges = 0;
        let mut at = 0;
        while at < self.pages.len() && self.ranges < MOST_RANGES {
            let first = at;
            let is_next =
                |at: usize| self.pages[at].address == self.pages[first].address + (at - first) * PAGE;
            while at < self.pages.len() && is_next(at) && (self.pages[at].closed || may(&self.pages[at])) {
                at += 1;
            }
            if at == first {
                at += 1;
                continue;
            }
            self.ranges += 1;
            self.changes += set(&mut self.pages[first..at], true, |_| true);
        }
        // Those behind stay as they are, which may be closed.
        old
    }
}

/// Closes or opens pages that come in their order, as far as they may be, in as few calls as can be. How many.
fn set(pages: &mut [Page], closed: bool, mut may: impl FnMut(&Page) -> bool) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < pages.len() {
        let first = at;
        while at < pages.len()
            && pages[at].closed != closed
            && pages[at].address == pages[first].address + (at - first) * PAGE
            && may(&pages[at])
        {
            at += 1;
        }
        if at == first {
            at += 1;
            continue;
        }
        if protect(pages[first].address, (at - first) * PAGE, closed) {
            for page in &mut pages[first..at] {
                page.closed = closed;
                page.paused &= !closed;
            }
            count += 1;
        }
    }
    count
}

/// Asks the system, and not by the C library, which tells of calls.
fn protect(address: usize, size: usize, closed: bool) -> bool {
    let protection = if closed { libc::PROT_NONE } else { libc::PROT_READ | libc::PROT_WRITE };
    // SAFETY: pages of mapped data, which could be read and written before they were closed.
    unsafe { libc::syscall(libc::SYS_mprotect, address, size, protection) == 0 }
}

/// What a processor does after an instruction with this flag.
const TRAP_FLAG: i64 = 0x100;
/// String instructions go down.
const DIRECTION_FLAG: i64 = 0x400;

/// Why there was a fault (`si_code`): the memory is there, and must not be accessed so.
const NOT_ALLOWED: c_int = 2;

unsafe extern "C" fn on_fault(_: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let _errno = Errno::keep();
    // SAFETY: the kernel passes both, and the signal has an address.
    let (address, code, context_of) =
        unsafe { ((*info).si_addr().addr(), (*info).si_code, &mut *context.cast::<libc::ucontext_t>()) };
    if code == NOT_ALLOWED && look_at(address, context_of) {
        return;
    }
    // SAFETY: the arguments of this handler.
    unsafe { SEGMENTATION.pass_on(info, context) };
}

/// Why there was a trap (`si_code`): an instruction has been executed with the flag.
const STEPPED: c_int = 2;

unsafe extern "C" fn on_trap(_: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let _errno = Errno::keep();
    // SAFETY: the kernel passes both.
    let (code, registers) =
        unsafe { ((*info).si_code, &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs) };
    if code == STEPPED && stepped() {
        registers[libc::REG_EFL as usize] &= !TRAP_FLAG;
        return;
    }
    // SAFETY: the arguments of this handler.
    unsafe { TRAP.pass_on(info, context) };
}

/// By the numbers of machine code.
const GENERAL: [c_int; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

/// Whether the access was one of a closed page; the instruction is repeated then.
fn look_at(address: usize, context: &mut libc::ucontext_t) -> bool {
    if !ANY.load(Ordering::Relaxed) {
        return false;
    }
    let registers = &mut context.uc_mcontext.gregs;
    let pc = registers[libc::REG_RIP as usize] as usize;
    let ours = PAGES.try_with(|pages| {
        let Some(page) = pages.at(address).filter(|page| page.closed) else {
            return pages.repeats(pc, address);
        };
        page.faults = page.faults.saturating_add(1);
        if page.faults == MOST_OF_A_PAGE {
            GIVEN_UP.store(true, Ordering::Relaxed);
        }
        let is_watched = page.faults < MOST_OF_A_PAGE && FAULTS.fetch_add(1, Ordering::Relaxed) < MOST_FAULTS;
        let mut code = [0_u8; 15];
        let room = code.len().min(PAGE - pc % PAGE);
        let readable = contents::read_into(pc, &mut code) || contents::read_into(pc, &mut code[..room]);
        let register = |number: usize| registers[GENERAL[number & 15] as usize] as u64;
        let operands = pages.instructions.as_mut().filter(|_| readable && is_watched).and_then(|decoder| {
            let down = registers[libc::REG_EFL as usize] & DIRECTION_FLAG != 0;
            decoder.operands(&code, pc, register, this_thread() as u64, down)
        });
        match operands {
            Some((operands, count)) => pages.step(address, pc, &operands[..count], registers),
            None => pages.give_up(address),
        }
        true
    });
    // A thread that is in here already: its own memory was allocated in a closed page.
    ours.unwrap_or_else(|| protect(address / PAGE * PAGE, PAGE, false))
}

impl Pages {
    /// Whether an access of a page that is open is to be repeated: another thread may have opened it meanwhile. If it
    /// was repeated and nothing has changed since, the page is the program's own, as is the fault.
    fn repeats(&mut self, pc: usize, address: usize) -> bool {
        let now = Repeated { thread: this_thread(), pc, address, changes: self.changes };
        let at = self.repeated.iter().position(|one| one.thread == now.thread);
        if at.is_some_and(|at| self.repeated[at] == now) {
            self.repeated[at.unwrap_or_default()].thread = 0;
            return false;
        }
        let at = at.unwrap_or_else(|| {
            self.next_repeated = (self.next_repeated + 1) % STEPS;
            self.next_repeated
        });
        self.repeated[at] = now;
        true
    }

    /// Tells what an instruction accesses, and lets it be executed on open pages.
    fn step(&mut self, fault: usize, pc: usize, operands: &[Operand], registers: &mut [i64]) {
        let touches = |operand: &Operand| {
            let last = operand.address.saturating_add(operand.size.max(1) - 1);
            (operand.address / PAGE..=last / PAGE).contains(&(fault / PAGE))
        };
        if !operands.iter().any(touches) {
            return self.give_up(fault);
        }
        self.last_step += 1;
        let mut step =
            Step { thread: this_thread(), number: self.last_step, pages: [0; 2 * OPERANDS], count: 0 };
        for operand in operands.iter().filter(|operand| !operand.repeats) {
            let last = operand.address.saturating_add(operand.size.max(1) - 1);
            for address in [operand.address, last] {
                let address = address / PAGE * PAGE;
                let Some(page) = self.at(address) else { continue };
                if step.pages[..step.count].contains(&address) || step.count == step.pages.len() {
                    continue;
                }
                page.steps = page.steps.saturating_add(1);
                step.pages[step.count] = address;
                step.count += 1;
                self.open(address, PAGE);
            }
        }
        let mut given_up = false;
        for operand in operands {
            // The whole of what an instruction repeats is looked at here, and not again.
            if operand.repeats {
                self.open(operand.address, operand.size);
            }
            given_up |= self.look_at_operand(operand, pc);
        }
        if given_up {
            // Told once: the rest of the page would say the same.
            step.pages[..step.count].iter().for_each(|page| self.give_up(*page));
        }
        if step.count == 0 {
            return;
        }
        // Without room the oldest one gives way: most likely a signal handler has left it. Its pages stay open.
        let oldest = self.steps.iter_mut().min_by_key(|step| if step.thread == 0 { 0 } else { step.number });
        if let Some(place) = oldest {
            *place = step;
        }
        registers[libc::REG_EFL as usize] |= TRAP_FLAG;
    }

    /// Tells the tracker of an access. Whether it is of old data.
    fn look_at_operand(&mut self, operand: &Operand, pc: usize) -> bool {
        let (mut address, end) = (operand.address, operand.address.saturating_add(operand.size));
        let mut old = false;
        while operand.reads && address < end && !old {
            let size = self.scratch.len().min(end - address);
            let now = &mut self.scratch[..size];
            if !contents::read_into(address, now) {
                break;
            }
            // The tracker may be this thread's: it has touched a page itself.
            old = TRACKER.try_with(|tracker| told_read(tracker, address, now, pc)).unwrap_or(true);
            address += size;
        }
        if operand.writes {
            let told = TRACKER.try_with(|tracker| {
                let origin = tracker.places.code(pc);
                tracker.ledger.host_writes(operand.address, operand.size, origin);
            });
            old |= told.is_none();
        }
        old
    }

    fn give_up(&mut self, address: usize) {
        self.open(address / PAGE * PAGE, PAGE);
        if let Some(page) = self.at(address) {
            page.given_up = true;
        }
        self.split();
    }

    /// A page in the middle of others has been opened.
    fn split(&mut self) {
        self.ranges += 1;
        if self.ranges > 2 * MOST_RANGES {
            self.open(0, usize::MAX);
            self.ranges = 0;
        }
    }
}

/// Notes a read of the host, if it is of old data; whether it is.
fn told_read(tracker: &mut Tracker, address: usize, now: &[u8], pc: usize) -> bool {
    let Some(access) = tracker.ledger.host_reads(address, now) else { return false };
    let place = tracker.places.code(pc);
    tracker.note(Mistake::HostReads, access.key, access.stale, place);
    true
}

/// This thread's instruction has been executed: its pages are closed again, where the device has something newer still
/// and no other thread is at one.
fn stepped() -> bool {
    let thread = this_thread();
    PAGES
        .try_with(|pages| {
            // In a handler that has interrupted another step of this thread the last one ends first.
            let mine = pages.steps.iter_mut().filter(|step| step.thread == thread);
            let Some(step) = mine.max_by_key(|step| step.number) else { return false };
            let Step { pages: opened, count, .. } = *step;
            step.thread = 0;
            for &address in &opened[..count] {
                let Some(page) = pages.at(address) else { continue };
                page.steps = page.steps.saturating_sub(1);
                let may = page.steps == 0 && !page.given_up;
                let stale = may && !pages.uses.overlap(address, PAGE) && ON.load(Ordering::Relaxed);
                let stale = stale
                    && TRACKER.try_with(|tracker| {
                        let ledger = &tracker.ledger;
                        ledger.covering(address, PAGE).any(|(_, pair)| pair.covers_stale(address, PAGE))
                    }) == Some(true);
                if stale {
                    let range = pages.places(address, PAGE);
                    pages.changes += set(&mut pages.pages[range], true, |_| true);
                } else {
                    pages.split();
                }
            }
            true
        })
        .unwrap_or(true)
}

/// Takes the locks before a fork.
pub fn hold() {
    KNOWN.acquire();
    PAGES.acquire();
}

/// Gives them up after a fork.
pub fn let_go() {
    PAGES.release();
    KNOWN.release();
}

/// A forked child has one thread.
pub fn forget_other_threads() {
    let _ = PAGES.try_with(|pages| pages.uses.forget_other_threads());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    #[test]
    fn reads_of_closed_pages_are_noted_and_writes_make_them_good() {
        let memory = vec![1_u8; 6 * PAGE];
        let (begin, size) = (memory.as_ptr().addr(), memory.len());
        let at = |offset: usize| ptr::with_exposed_provenance_mut::<u8>(begin + offset);
        let waiting = || TRACKER.try_with(|tracker| tracker.take().len()).unwrap();
        TRACKER.try_with(|tracker| {
            let pair = tracker.ledger.map((begin, 0), 0x1000, 0, &memory[..]);
            pair.copied_to(0, &memory);
            pair.see_device(0, &vec![2; size], 1, true);
        });
        start();
        close();
        let middle = begin.next_multiple_of(PAGE) - begin + PAGE;
        assert_eq!(contents::read(begin + middle, 1), None, "the page is closed");
        // SAFETY: bytes of `memory`, as below.
        unsafe {
            assert_eq!(at(0).read_volatile(), 1, "the ends stay open");
            assert_eq!(waiting(), 0);
            at(middle + 8).write_volatile(7);
            assert_eq!(at(middle + 8).read_volatile(), 7);
            assert_eq!(waiting(), 0, "what the host has written is its own");
            assert_eq!(contents::read(begin + middle, 1), None, "the page is closed again");
            assert_eq!(at(middle + 9).read_volatile(), 1);
        }
        assert_eq!(waiting(), 1);
        assert!(contents::read(begin + middle, 1).is_some(), "told once");
        let next = begin + middle + PAGE;
        begin_use(User::Runtime, next, 1);
        begin_use(User::Library, next, PAGE);
        close();
        assert!(contents::read(next, 1).is_some(), "somebody uses it");
        end_use(User::Runtime, next, 1);
        close();
        assert!(contents::read(next, 1).is_some(), "somebody still uses it");
        end_use(User::Library, next, PAGE);
        assert!(contents::read(next, 1).is_some(), "it may have been written");
        close();
        assert_eq!(contents::read(next, 1), None);
        begin_reading(next, 1);
        begin_reading(next + 8, 1);
        end_use(User::Library, next, 1);
        assert!(contents::read(next, 1).is_some(), "somebody reads it");
        end_use(User::Library, next + 8, 1);
        assert_eq!(contents::read(next, 1), None, "it has been read");
        begin_reading(next, 1);
        open(next, 1);
        end_use(User::Library, next, 1);
        assert!(contents::read(next, 1).is_some(), "nobody tells what else is done with it");
        close();
        release(begin, size);
        assert!(contents::read(next, 1).is_some());
        TRACKER.try_with(|tracker| tracker.ledger.unmap((begin, 0)));
    }
}
