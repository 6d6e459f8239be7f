//! The constructs that a thread has begun outside of parallel regions, and that nobody has
//! waited for yet.
//!
//! libgomp has no team there, so it runs every task at once, and none of its functions waits for
//! anything. Its own target tasks make a team of one thread for the initial thread, which stays:
//! when a parallel region after that ends, libgomp 12 frees the region's team while threads of
//! it may still be in the team's barrier (`gomp_team_end` keeps it for them only if there is no
//! team around), and the program can hang. So these constructs are no tasks of libgomp's: they
//! stand here, and the functions that wait for tasks wait for them, too.

use crate::dependences::Dependence;
use crate::pending::{self, Deferred, Pending};
use gangway_frontend::guard::guard;
use gangway_frontend::libraries;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Once};

/// Constructs that may be open before those are looked for that are done.
const FEW: usize = 64;

#[derive(Default)]
struct Open {
    /// In the order in which they have begun.
    all: VecDeque<Arc<Pending>>,
    /// When there are so many, or addresses, those that are done are taken out.
    full: usize,
    last: HashMap<usize, Last>,
}

/// Who has last used an address.
#[derive(Default)]
struct Last {
    writer: Option<Arc<Pending>>,
    /// Since then.
    readers: Vec<Arc<Pending>>,
}

impl Drop for Open {
    /// The thread ends.
    fn drop(&mut self) {
        // After an error nobody waits: one of these may be what has failed.
        if !libraries::is_ending() {
            self.all.iter().for_each(Pending::wait);
        }
    }
}

thread_local! {
    static OPEN: RefCell<Open> = RefCell::default();
    /// Whether there are any: most threads never have one.
    static SOME: Cell<bool> = const { Cell::new(false) };
}

/// Begins a construct.
pub(crate) fn begin(construct: Box<dyn Deferred>, dependences: &[Dependence]) {
    let before = awaited(dependences);
    wait_at_exit();
    if pending::are_enough() {
        end_oldest();
    }
    // The runtime may call host functions meanwhile, which begin others.
    let pending = Pending::begin_as_task(construct, before);
    OPEN.with_borrow_mut(|open| open.add(&pending, dependences));
    SOME.set(true);
}

/// Waits for the oldest one, and takes those out that are done with it.
#[cold]
fn end_oldest() {
    let next = || OPEN.with_borrow_mut(|open| open.all.pop_front());
    if let Some(oldest) = next() {
        oldest.wait();
    }
    while let Some(next) = next() {
        if !is_over(&next) {
            return OPEN.with_borrow_mut(|open| open.all.push_front(next));
        }
    }
}

/// Has the end of the program wait for those of the thread that ends it: the implicit barrier
/// behind the initial task (OpenMP 5.2 section 2.1) comes before what the program does at exit.
/// Exit handlers run in reverse order; those of before see what the constructs have computed.
#[inline]
fn wait_at_exit() {
    static ONCE: Once = Once::new();
    extern "C" fn wait() {
        if !libraries::is_failing() {
            guard((), wait_for_all);
        }
    }
    ONCE.call_once(|| {
        // Without room for one more handler they are waited for when the images go.
        // SAFETY: the handler stays loaded (the library is linked with `nodelete`).
        unsafe { libc::atexit(wait) };
    });
}

/// Waits for those that have to be done before something with these dependences.
pub(crate) fn wait_for(dependences: &[Dependence]) {
    awaited(dependences).iter().for_each(Pending::wait);
}

/// Whether it is done, and is not to be waited for.
fn is_over(pending: &Arc<Pending>) -> bool {
    let done = pending.is_done();
    if done {
        pending.met();
    }
    done
}

/// Whether the thread has any.
#[inline]
pub(crate) fn are_some() -> bool {
    SOME.get()
}

/// Waits for all of them.
pub(crate) fn wait_for_all() {
    if SOME.get() {
        SOME.set(false);
        let open = OPEN.with_borrow_mut(std::mem::take);
        open.all.iter().for_each(Pending::wait);
    }
}

/// Those that something with these dependences has to wait for.
fn awaited(dependences: &[Dependence]) -> Vec<Arc<Pending>> {
    if !SOME.get() || dependences.is_empty() {
        return Vec::new();
    }
    OPEN.with_borrow(|open| {
        let mut found = Vec::new();
        for dependence in dependences {
            let Some(last) = open.last.get(&dependence.address) else { continue };
            found.extend(last.writer.iter().cloned());
            if dependence.writes {
                found.extend(last.readers.iter().cloned());
            }
        }
        found.sort_by_key(Arc::as_ptr);
        found.dedup_by(|one, other| Arc::ptr_eq(one, other));
        found
    })
}

impl Open {
    fn add(&mut self, pending: &Arc<Pending>, dependences: &[Dependence]) {
        if self.size() >= self.full.max(FEW) {
            self.forget_done();
        }
        self.all.push_back(Arc::clone(pending));
        for dependence in dependences {
            let last = self.last.entry(dependence.address).or_default();
            if dependence.writes {
                *last = Last { writer: Some(Arc::clone(pending)), readers: Vec::new() };
            } else {
                last.readers.push(Arc::clone(pending));
            }
        }
    }

    fn size(&self) -> usize {
        self.all.len().max(self.last.len())
    }

    fn forget_done(&mut self) {
        self.all.retain(|pending| !is_over(pending));
        self.last.retain(|_, last| {
            last.writer = last.writer.take().filter(|writer| !is_over(writer));
            last.readers.retain(|reader| !is_over(reader));
            last.writer.is_some() || !last.readers.is_empty()
        });
        self.full = 2 * self.size();
    }
}
