//! `detach` (OpenMP 5.2, 12.5.2): a task has ended when its function has returned and its event is
//! fulfilled, by whatever thread of the device. Tasks that depend on such a one are put off.
//!
//! Each thread has a list of its own tasks that have not ended. It looks after them wherever it has to wait for
//! tasks: in `taskwait`, at the end of a `taskgroup`, at barriers, and at the end of a region. All hangs
//! on a word that is zero until a task has an event, and is gone in programs without one.

use crate::explicit::{self, Happened};
use crate::target::{self, MOST_THREADS};
use crate::task_memory::{
    AGAIN, Compiler, Entry, EntryOfFlang, Event, FRESH, RUNNING, Task, header, release, set_event,
};
use crate::{device_heap, shared};
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// `kmp_depend_info_t`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Dependence {
    address: usize,
    length: usize,
    /// Bit 0: `in`. Bit 1: `out`. Bit 2: `mutexinoutset`. Bit 3: `inoutset`. Bit 7: `omp_all_memory`.
    flags: u8,
}

const _: () = assert!(size_of::<Dependence>() == 24);

const IN: u8 = 1;
const ALL_MEMORY: u8 = 1 << 7;

impl Dependence {
    fn conflicts(self, other: Self) -> bool {
        let all = (self.flags | other.flags) & ALL_MEMORY != 0;
        (all || self.address == other.address) && !(self.flags == IN && other.flags == IN)
    }
}

/// The dependences of a task, as the compiler hands them over.
#[derive(Clone, Copy)]
pub struct Dependences {
    start: *const Dependence,
    count: usize,
}

impl Dependences {
    pub const NONE: Self = Self { start: core::ptr::null(), count: 0 };

    /// # Safety
    /// There are so many.
    #[must_use]
    pub unsafe fn new(start: *const c_void, count: i32) -> Self {
        Self { start: start.cast(), count: count.max(0).cast_unsigned() as usize }
    }

    fn get(self, at: usize) -> Dependence {
        // SAFETY: there are so many, as whoever made it says.
        unsafe { self.start.add(at).read() }
    }

    fn conflict(self, other: Self) -> bool {
        (0..self.count).any(|at| (0..other.count).any(|index| self.get(at).conflicts(other.get(index))))
    }

    /// A copy in the heap, as the compiler's is gone when the task runs later.
    fn kept(self) -> Self {
        if self.count == 0 {
            return Self::NONE;
        }
        let memory: *mut Dependence =
            device_heap::allocate((self.count * size_of::<Dependence>()) as u64).cast();
        for at in 0..self.count {
            // SAFETY: the memory is large enough.
            unsafe { memory.add(at).write(self.get(at)) };
        }
        Self { start: memory, ..self }
    }
}

/// A task that has not ended: either its function has returned, and its event is not fulfilled; or it has
/// not begun, as it depends on such a one.
struct Unfinished {
    next: Link,
    event: *mut Event,
    task: *mut Task,
    word: i32,
    depth: u8,
    dependences: Dependences,
}

shared! {
    /// Each thread's list, the oldest one first, as a [`Link`].
    static LISTS: [i32; MOST_THREADS]
}

/// Where an entry is in the device's heap: how far from [`BASE`], in units of what it aligns to. Code that is not
/// optimised has all of the runtime's shared memory, which is nearly all that there is.
type Link = i32;

const NOWHERE: Link = i32::MIN;
const UNIT: i64 = 16;

/// The first entry that there has ever been.
static BASE: AtomicU64 = AtomicU64::new(0);

fn link(entry: *mut Unfinished) -> Link {
    if entry.is_null() {
        return NOWHERE;
    }
    let address = entry as u64;
    let base = match BASE.compare_exchange(0, address, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => address,
        Err(base) => base,
    };
    let units = address.wrapping_sub(base).cast_signed() / UNIT;
    match Link::try_from(units) {
        Ok(link) if link != NOWHERE => link,
        // Heaps are not that large.
        _ => target::trap(),
    }
}

fn entry(link: Link) -> *mut Unfinished {
    if link == NOWHERE {
        return core::ptr::null_mut();
    }
    let offset = (i64::from(link) * UNIT).cast_unsigned();
    let address = BASE.load(Ordering::Relaxed).wrapping_add(offset);
    core::ptr::with_exposed_provenance_mut(address as usize)
}

/// Whether a task has ever had an event.
static DETACHED: Happened = Happened::not_yet();

/// A thread starts a kernel.
#[inline(always)]
pub fn start() {
    // SAFETY: the entry is the thread's own.
    unsafe { LISTS.set_element(target::thread_id(), NOWHERE) };
}

/// Whether anything here is in use.
#[must_use]
#[inline(always)]
pub fn are_there() -> bool {
    DETACHED.get()
}

/// The places of the thread's list that lead to its entries: the first one, and one in each entry.
fn first() -> *mut Link {
    // SAFETY: the entry of the thread is inside.
    unsafe { LISTS.pointer().cast::<Link>().add(target::thread_id() as usize) }
}

fn append(event: *mut Event, task: *mut Task, word: i32, dependences: Dependences) {
    let memory: *mut Unfinished = device_heap::allocate(size_of::<Unfinished>() as u64).cast();
    let next = NOWHERE;
    let depth = explicit::current().depth();
    let unfinished = Unfinished { next, event, task, word, depth, dependences: dependences.kept() };
    // SAFETY: the memory is large enough. The list is the thread's own.
    unsafe {
        memory.write(unfinished);
        let mut place = first();
        while *place != NOWHERE {
            place = &raw mut (*entry(*place)).next;
        }
        place.write(link(memory));
    }
}

/// Whether a task with these dependences has to wait for one of the list, up to one of its places.
fn is_held_up(dependences: Dependences, until: *mut Link) -> bool {
    let mut place = first();
    // SAFETY: the list is the thread's own.
    unsafe {
        while place != until && *place != NOWHERE {
            let earlier = entry(*place);
            if (*earlier).dependences.conflict(dependences) {
                return true;
            }
            place = &raw mut (*earlier).next;
        }
    }
    false
}

/// Looks once whether something has ended or can begin. The answer is whether it has found something.
fn advance() -> bool {
    let mut place = first();
    // SAFETY: the list is the thread's own. An entry that is taken out is nobody else's.
    unsafe {
        while *place != NOWHERE {
            let unfinished = entry(*place);
            let ready = if (*unfinished).task.is_null() {
                (*(*unfinished).event).fulfilled.load(Ordering::Relaxed) != 0
            } else {
                !is_held_up((*unfinished).dependences, place)
            };
            if ready {
                finish(place);
                return true;
            }
            place = &raw mut (*unfinished).next;
        }
    }
    false
}

/// Takes an entry out of the list, and runs the task that has waited there.
///
/// # Safety
/// The place leads to an entry.
unsafe fn finish(place: *mut Link) {
    target::fence_device();
    // SAFETY: as the caller says; event and dependences are of the heap, and the entry's own.
    unsafe {
        let memory = entry(*place);
        let Unfinished { next, event, task, word, dependences, .. } = memory.read();
        place.write(next);
        target::release(memory.cast());
        if task.is_null() {
            target::release(event.cast());
        } else {
            run(word, task, dependences);
        }
        target::release(dependences.start.cast_mut().cast());
    }
}

/// Runs a task now.
///
/// # Safety
/// The task is of the runtime's, and the compiler has filled it. Its dependences are there.
pub unsafe fn run(word: i32, task: *mut Task, dependences: Dependences) {
    // SAFETY: as the caller says. The function is of the type that its compiler makes.
    unsafe {
        let header = header(task);
        if (*header).state != FRESH {
            (*header).state = AGAIN;
            return;
        }
        let outer = explicit::enter();
        loop {
            (*header).state = RUNNING;
            let entry = target::opaque((*task).entry);
            if (*header).compiler == Compiler::Flang {
                core::mem::transmute::<*const c_void, EntryOfFlang>(entry)(word, task);
            } else {
                core::mem::transmute::<*const c_void, Entry>(entry)(word, task);
            }
            if (*header).state == RUNNING {
                break;
            }
        }
        explicit::leave(outer);
        if are_there() && !(*header).event.is_null() {
            returned((*header).event, dependences);
        }
        release(task);
    }
}

/// Runs a task now, or puts it off until those have ended that it depends on.
///
/// # Safety
/// The task is of the runtime's, and its dependences are there.
#[inline(never)]
pub unsafe fn run_or_put_off(word: i32, task: *mut Task, dependences: Dependences) {
    if is_held_up(dependences, core::ptr::null_mut()) {
        append(core::ptr::null_mut(), task, word, dependences);
    } else {
        // SAFETY: as the caller says.
        unsafe { run(word, task, dependences) };
    }
}

/// The function of a task with an event has returned.
///
/// # Safety
/// The event is of [`event_of`].
pub unsafe fn returned(event: *mut Event, dependences: Dependences) {
    // SAFETY: as the caller says.
    if unsafe { (*event).fulfilled.load(Ordering::Relaxed) } == 0 {
        append(event, core::ptr::null_mut(), 0, dependences);
    } else {
        // SAFETY: the event is of the heap; nobody fulfils it again.
        unsafe { target::release(event.cast()) };
    }
}

/// Waits until the thread's tasks have ended that began in the task that it is in, or in one inside of it.
#[inline(always)]
pub fn wait() {
    if are_there() {
        wait_for_all();
    }
}

#[inline(never)]
fn wait_for_all() {
    let depth = explicit::current().depth();
    let is_left = || {
        let mut place = first();
        // SAFETY: the list is the thread's own.
        unsafe {
            while *place != NOWHERE && (*entry(*place)).depth < depth {
                place = &raw mut (*entry(*place)).next;
            }
            *place != NOWHERE
        }
    };
    while is_left() {
        if !advance() {
            target::sleep(100);
        }
    }
}

/// Waits for tasks of which these are dependences.
#[inline(never)]
pub fn wait_for(dependences: Dependences) {
    while is_held_up(dependences, core::ptr::null_mut()) {
        if !advance() {
            target::sleep(100);
        }
    }
}

/// Runs what can run: `taskyield`.
pub fn look_once() {
    if are_there() {
        advance();
    }
}

/// The event of a task that has `detach`, before the task is handed in.
///
/// # Safety
/// The task is of the runtime's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_task_allow_completion_event(
    _: *const crate::environment::Location,
    _: i32,
    task: *mut Task,
) -> *mut Event {
    DETACHED.set();
    let event: *mut Event = device_heap::allocate(size_of::<Event>() as u64).cast();
    // SAFETY: the memory is large enough, and the task as the caller says.
    unsafe {
        event.write(Event { fulfilled: AtomicU32::new(0) });
        set_event(task, event);
    }
    event
}

/// # Safety
/// The event is of a `detach` clause, and is fulfilled for the first time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_fulfill_event(event: *mut Event) {
    // What the thread has done for the task is there before the task has ended.
    target::fence_device();
    // SAFETY: as the caller says.
    unsafe { (*event).fulfilled.store(1, Ordering::Relaxed) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_that_read_do_not_conflict() {
        let dependence = |address, flags| Dependence { address, length: 8, flags };
        let conflict = |one: &[Dependence], other: &[Dependence]| {
            let of = |list: &[Dependence]| Dependences { start: list.as_ptr(), count: list.len() };
            of(one).conflict(of(other))
        };
        let (reads, writes) = (dependence(8, 1), dependence(8, 3));
        assert!(!conflict(&[reads], &[reads]));
        assert!(conflict(&[reads], &[writes]) && conflict(&[writes], &[reads]));
        assert!(!conflict(&[writes], &[dependence(16, 3)]));
        assert!(conflict(&[dependence(24, 3), writes], &[reads]));
        assert!(conflict(&[dependence(0, ALL_MEMORY)], &[reads]));
        assert!(!conflict(&[], &[writes]));
    }
}
