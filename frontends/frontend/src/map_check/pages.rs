//! Pages of the host whose data the device has newer: out of reach, so that a read of them shows.
//!
//! Only whole pages inside of a mapped range are taken. An access raises a signal, whose handler decodes the instruction
//! and tells the tracker which bytes it reads and writes. Then the page is opened for this one instruction, behind which
//! the processor traps, and it is closed again. The runtime's own copies open what they touch before.
//!
//! Stacks are left alone: functions that the program calls later use them. What cannot be decoded opens its page for
//! good, and so does a page that has cost [`MOST_FAULTS`]. A *system call* on such a page fails with `EFAULT`;
//! `libgangway-host-access.so` opens the pages of those that programs make through the C library.

use super::contents;
use super::decode::{Instructions, OPERANDS, Operand};
use super::lock::{Lock, this_thread};
use super::tracker::{Mistake, TRACKER, Tracker};
use crate::host_accesses;
use std::ffi::c_int;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const PAGE: usize = 4096;

/// Accesses of closed pages that are looked at; then the pages stay open.
const MOST_FAULTS: usize = 2_000_000;

/// Threads that execute an instruction on an open page at once.
const STEPS: usize = 64;

/// A page that may be closed.
#[derive(Clone, Copy, Debug)]
struct Page {
    address: usize,
    closed: bool,
    /// It stays open until data is moved again.
    given_up: bool,
}

/// A thread between the opening of pages and the trap behind its instruction.
#[derive(Clone, Copy, Debug)]
struct Step {
    thread: i32,
    pages: [usize; 2 * OPERANDS],
    count: usize,
}

struct Pages {
    /// In the order of their addresses.
    pages: Vec<Page>,
    steps: [Step; STEPS],
    instructions: Option<Instructions>,
    /// For contents that are read.
    scratch: [u8; 64],
}

static PAGES: Lock<Pages> = Lock::new(Pages {
    pages: Vec::new(),
    steps: [Step { thread: 0, pages: [0; 2 * OPERANDS], count: 0 }; STEPS],
    instructions: None,
    scratch: [0; 64],
});

/// How many accesses there have been.
static FAULTS: AtomicUsize = AtomicUsize::new(0);
/// Whether pages are closed at all.
static ON: AtomicBool = AtomicBool::new(false);
/// Whether one has been.
static ANY: AtomicBool = AtomicBool::new(false);

/// Has pages closed from now on.
pub fn start() {
    let _ = PAGES.try_with(|pages| pages.instructions = Some(Instructions::new()));
    ON.store(true, Ordering::Release);
}

/// Whether pages were left open as there were too many accesses.
pub fn were_given_up() -> bool {
    FAULTS.load(Ordering::Relaxed) >= MOST_FAULTS
}

/// Opens the pages of a range before the runtime touches it.
pub fn open(address: usize, size: usize) {
    if !ANY.load(Ordering::Relaxed) || size == 0 {
        return;
    }
    let _ = PAGES.try_with(|pages| {
        pages.forget_foreign();
        pages.open(address, size);
    });
}

/// Whether pages have been closed in this process.
pub fn any() -> bool {
    ANY.load(Ordering::Relaxed)
}

/// Whether this thread is at work here or at the tracker.
pub fn are_mine() -> bool {
    PAGES.is_mine() || TRACKER.is_mine()
}

/// Opens all pages.
pub fn open_all() {
    open(0, usize::MAX);
}

/// The memory of a range is given back, or changed by the system: its pages are open from now on.
pub fn release(address: usize, size: usize) {
    if ANY.load(Ordering::Relaxed) && size != 0 {
        let _ = PAGES.try_with(|pages| {
            pages.open(address, size);
            pages.within(address, size).iter_mut().for_each(|page| page.given_up = true);
        });
    }
}

/// Closes the pages whose data the device has newer, and no others.
pub fn close() {
    if !ON.load(Ordering::Acquire) || host_accesses::are_told() {
        return;
    }
    let wanted = TRACKER.try_with(|tracker| wanted(tracker)).unwrap_or_default();
    if wanted.is_empty() && !ANY.load(Ordering::Relaxed) {
        return;
    }
    install();
    ANY.store(true, Ordering::Relaxed);
    let maps = maps();
    let _ = PAGES.try_with(|pages| {
        pages.forget_foreign();
        pages.change(&wanted, &maps);
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
        wanted.extend(
            (begin..end).step_by(PAGE).filter(|page| pair.is_stale_on_host(page - pair.host(), PAGE)),
        );
    }
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// A mapping of the process: its range, and whether it is private memory that may be read and written; or cannot be
/// touched.
struct Map {
    begin: usize,
    end: usize,
    plain: bool,
    closed: bool,
    stack: bool,
}

fn maps() -> Vec<Map> {
    let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut maps: Vec<Map> = Vec::new();
    let here = ptr::from_ref(&text).addr();
    for line in text.lines() {
        let Some((range, rest)) = line.split_once(' ') else { continue };
        let Some((begin, end)) = range.split_once('-') else { continue };
        let (Ok(begin), Ok(end)) = (usize::from_str_radix(begin, 16), usize::from_str_radix(end, 16)) else {
            continue;
        };
        let closed = rest.starts_with("---");
        // Stacks of threads have one guard page or a few below them.
        let guard = maps.last().is_some_and(|below: &Map| {
            below.closed && below.end == begin && below.end - below.begin <= 16 * PAGE
        });
        let stack = rest.ends_with("[stack]") || (begin..end).contains(&here);
        maps.push(Map { begin, end, plain: rest.starts_with("rw-p"), closed, stack: stack || guard });
    }
    maps
}

impl Pages {
    fn within(&mut self, address: usize, size: usize) -> &mut [Page] {
        let first = self.pages.partition_point(|page| page.address + PAGE <= address);
        let end = address.saturating_add(size);
        let last = self.pages.partition_point(|page| page.address < end);
        &mut self.pages[first..last.max(first)]
    }

    fn at(&mut self, address: usize) -> Option<&mut Page> {
        let page = address / PAGE * PAGE;
        let at = self.pages.binary_search_by_key(&page, |page| page.address).ok()?;
        Some(&mut self.pages[at])
    }

    fn open(&mut self, address: usize, size: usize) {
        set(self.within(address, size), false);
    }

    /// Pages that are closed no more have been given back and taken again by somebody.
    fn forget_foreign(&mut self) {
        if self.pages.is_empty() {
            return;
        }
        let maps = maps();
        self.pages.retain(|page| {
            !page.closed || maps.iter().any(|map| map.closed && (map.begin..map.end).contains(&page.address))
        });
    }

    /// Closes those that are wanted, and opens the others.
    fn change(&mut self, wanted: &[usize], maps: &[Map]) {
        let is_plain = |page: usize| {
            let at = maps.partition_point(|map| map.end <= page);
            maps.get(at).is_some_and(|map| map.begin <= page && map.plain && !map.stack)
        };
        let mut next = Vec::with_capacity(wanted.len());
        let mut old = self.pages.iter().peekable();
        for &address in wanted {
            while old.peek().is_some_and(|page| page.address < address) {
                old.next();
            }
            match old.peek() {
                Some(page) if page.address == address => next.push(**page),
                _ if is_plain(address) => next.push(Page { address, closed: false, given_up: false }),
                _ => {}
            }
        }
        let kept = |page: &Page| next.binary_search_by_key(&page.address, |page| page.address).is_ok();
        let mut gone: Vec<Page> =
            self.pages.iter().copied().filter(|page| page.closed && !kept(page)).collect();
        set(&mut gone, false);
        self.pages = next;
        set(&mut self.pages, true);
    }
}

/// Closes or opens pages, which come in their order; those that have been given up stay as they are.
fn set(pages: &mut [Page], closed: bool) {
    let mut at = 0;
    while at < pages.len() {
        let takes_part = |page: &Page| page.closed != closed && !(closed && page.given_up);
        if !takes_part(&pages[at]) {
            at += 1;
            continue;
        }
        let first = at;
        while at < pages.len()
            && takes_part(&pages[at])
            && pages[at].address == pages[first].address + (at - first) * PAGE
        {
            at += 1;
        }
        let protection = if closed { libc::PROT_NONE } else { libc::PROT_READ | libc::PROT_WRITE };
        let start: *mut libc::c_void = ptr::with_exposed_provenance_mut(pages[first].address);
        // SAFETY: pages of mapped data, which could be read and written before they were closed.
        let done = unsafe { libc::mprotect(start, (at - first) * PAGE, protection) == 0 };
        if done {
            pages[first..at].iter_mut().for_each(|page| page.closed = closed);
        }
    }
}

/// Who had the signals before.
static BEFORE: [OnceLock<libc::sigaction>; 2] = [const { OnceLock::new() }; 2];

/// Puts the handlers before all others, unless they are.
fn install() {
    for (signal, before) in [libc::SIGSEGV, libc::SIGTRAP].into_iter().zip(&BEFORE) {
        let ours = if signal == libc::SIGSEGV { on_fault as *const () } else { on_trap as *const () };
        // SAFETY: `sigaction` is plain data, and the handler is one for these flags.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, ptr::null(), &raw mut old) != 0
                || old.sa_sigaction == ours as usize
                || before.set(old).is_err()
            {
                continue;
            }
            let mut new: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = ours as usize;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            libc::sigaction(signal, &raw const new, ptr::null_mut());
        }
    }
}

/// What a processor does after an instruction with this flag.
const TRAP_FLAG: i64 = 0x100;

/// What the program's code has between two of its instructions must not change while a handler looks.
struct Errno(c_int);

impl Errno {
    fn keep() -> Self {
        // SAFETY: this thread's own.
        Self(unsafe { *libc::__errno_location() })
    }
}

impl Drop for Errno {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = self.0 };
    }
}

unsafe extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let _errno = Errno::keep();
    // SAFETY: the kernel passes both, and the signal has an address.
    let (address, context_of) =
        unsafe { ((*info).si_addr().addr(), &mut *context.cast::<libc::ucontext_t>()) };
    if look_at(address, context_of) {
        return;
    }
    // SAFETY: the arguments of this handler.
    unsafe { pass_on(0, signal, info, context) };
}

unsafe extern "C" fn on_trap(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let _errno = Errno::keep();
    // SAFETY: the kernel passes it.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    if stepped() {
        registers[libc::REG_EFL as usize] &= !TRAP_FLAG;
        return;
    }
    // SAFETY: the arguments of this handler.
    unsafe { pass_on(1, signal, info, context) };
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
    let ours = PAGES.try_with(|pages| {
        let Some(page) = pages.at(address) else { return false };
        if !page.closed {
            // Another thread has opened it meanwhile, or it is no fault of ours.
            return is_open(address);
        }
        let mut code = [0_u8; 15];
        let pc = registers[libc::REG_RIP as usize] as usize;
        let room = code.len().min(PAGE - pc % PAGE);
        let readable = contents::read_into(pc, &mut code) || contents::read_into(pc, &mut code[..room]);
        let register = |number: usize| registers[GENERAL[number & 15] as usize] as u64;
        let operands = pages
            .instructions
            .as_mut()
            .filter(|_| readable && FAULTS.fetch_add(1, Ordering::Relaxed) < MOST_FAULTS)
            .and_then(|decoder| decoder.operands(&code, pc, register, thread_pointer()));
        match operands {
            Some((operands, count)) => pages.step(address, pc, &operands[..count], registers),
            None => pages.give_up(address),
        }
        true
    });
    // A thread that is in here already: its own memory was allocated in a closed page.
    ours.unwrap_or_else(|| open_blindly(address))
}

/// Opens a page without a lock, as this thread has it.
fn open_blindly(address: usize) -> bool {
    let start: *mut libc::c_void = ptr::with_exposed_provenance_mut(address / PAGE * PAGE);
    // SAFETY: a page that could not be touched, in a process that closes pages.
    unsafe { libc::mprotect(start, PAGE, libc::PROT_READ | libc::PROT_WRITE) == 0 }
}

fn is_open(address: usize) -> bool {
    let mut byte = [0_u8];
    contents::read_into(address, &mut byte)
}

/// The x86-64 ABI keeps the thread pointer at the address it points to.
fn thread_pointer() -> u64 {
    let pointer;
    // SAFETY: reads one word of the thread control block.
    unsafe {
        std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly, preserves_flags));
    }
    pointer
}

impl Pages {
    /// Tells what an instruction accesses, and lets it be executed on open pages.
    fn step(&mut self, fault: usize, pc: usize, operands: &[Operand], registers: &mut [i64]) {
        let thread = this_thread();
        let place = self.steps.iter().position(|step| step.thread == thread);
        let place = place.or_else(|| self.steps.iter().position(|step| step.thread == 0));
        let Some(place) = place else { return self.give_up(fault) };
        if self.steps[place].thread == 0 {
            self.steps[place] = Step { thread, pages: [0; 2 * OPERANDS], count: 0 };
        }
        let mut known = false;
        for operand in operands {
            let last = operand.address.saturating_add(operand.size.max(1) - 1);
            for address in [operand.address, last] {
                known |= address / PAGE == fault / PAGE;
                let Some(page) = self.at(address).copied().filter(|page| page.closed) else { continue };
                self.open(page.address, PAGE);
                let Step { pages, count, .. } = &mut self.steps[place];
                if *count < pages.len() {
                    pages[*count] = page.address;
                    *count += 1;
                }
            }
        }
        if !known {
            self.steps[place].thread = 0;
            return self.give_up(fault);
        }
        let mut given_up = false;
        for operand in operands {
            let size = operand.size.min(self.scratch.len());
            let now = &mut self.scratch[..size];
            let read = contents::read_into(operand.address, now);
            let told = TRACKER.try_with(|tracker| {
                if operand.reads && read && told_read(tracker, operand.address, now, pc) {
                    given_up = true;
                }
                if operand.writes {
                    let origin = tracker.places.code(pc);
                    tracker.ledger.host_writes(operand.address, operand.size, origin);
                }
            });
            // The tracker is this thread's: it has touched a page itself.
            given_up |= told.is_none();
        }
        if given_up {
            // Told once: the rest of the page would say the same.
            let Step { pages, count, .. } = self.steps[place];
            pages[..count].iter().for_each(|page| self.give_up(*page));
        }
        registers[libc::REG_EFL as usize] |= TRAP_FLAG;
    }

    fn give_up(&mut self, address: usize) {
        self.open(address / PAGE * PAGE, PAGE);
        if let Some(page) = self.at(address) {
            page.given_up = true;
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

/// This thread's instruction has been executed: its pages are closed again, where the device has something newer still.
fn stepped() -> bool {
    let thread = this_thread();
    PAGES
        .try_with(|pages| {
            let Some(step) = pages.steps.iter_mut().find(|step| step.thread == thread) else { return false };
            let Step { pages: opened, count, .. } = *step;
            step.thread = 0;
            for &address in &opened[..count] {
                let stale = TRACKER.try_with(|tracker| {
                    tracker.ledger.covering(address, PAGE).any(|(_, pair)| pair.covers_stale(address, PAGE))
                });
                if stale == Some(true) {
                    set(pages.within(address, PAGE), true);
                }
            }
            true
        })
        .unwrap_or(true)
}

/// Leaves a signal to whoever had it before.
///
/// # Safety
/// The arguments are those of a handler.
unsafe fn pass_on(index: usize, signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let before = BEFORE[index].get();
    // SAFETY: the action was in force before, so its handler is one for these arguments.
    unsafe {
        match before {
            // A fault cannot be ignored: the instruction would be repeated for ever.
            Some(before) if before.sa_sigaction == libc::SIG_IGN && (*info).si_code <= 0 => {}
            Some(before) if ![libc::SIG_DFL, libc::SIG_IGN].contains(&before.sa_sigaction) => {
                if before.sa_flags & libc::SA_SIGINFO != 0 {
                    type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void);
                    std::mem::transmute::<usize, Handler>(before.sa_sigaction)(signal, info, context);
                } else {
                    std::mem::transmute::<usize, unsafe extern "C" fn(c_int)>(before.sa_sigaction)(signal);
                }
            }
            _ => {
                libc::signal(signal, libc::SIG_DFL);
                if (*info).si_code <= 0 {
                    libc::raise(signal);
                }
            }
        }
    }
}

/// Takes the lock before a fork.
pub fn hold() {
    PAGES.acquire();
}

/// Gives it up after a fork.
pub fn let_go() {
    PAGES.release();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_of_closed_pages_are_noted_and_writes_make_them_good() {
        let memory = vec![1_u8; 6 * PAGE];
        let (begin, size) = (memory.as_ptr().addr(), memory.len());
        let at = |offset: usize| ptr::with_exposed_provenance_mut::<u8>(begin + offset);
        let waiting = || TRACKER.try_with(|tracker| tracker.take().len()).unwrap();
        TRACKER.try_with(|tracker| {
            let pair = tracker.ledger.map((begin, 0), 0x1000, 0, &memory);
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
        open(begin + middle + PAGE, 1);
        assert!(contents::read(begin + middle + PAGE, 1).is_some());
        release(begin, size);
        TRACKER.try_with(|tracker| tracker.ledger.unmap((begin, 0)));
    }
}
