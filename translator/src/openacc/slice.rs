//! Private copies whose length is known when the program runs: of a section that a pointer leads to
//! (`private(p[0:n])`, `reduction(+: p[0:n])`), and of an array such as `double a[n]` (OpenACC 3.3 sections 2.5.12,
//! 2.5.15 and 2.9.10).
//!
//! On GPUs they are in device memory that the construct has for itself, of which each gang takes a part while
//! it runs ([`super::slab`] does so with copies of known length). On processors they are from the heap.

use super::index::Key;
use super::nest::Levels;

/// What copies are for: the clause that asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Private,
    /// They begin with what the item has.
    FirstPrivate,
    /// They are put together.
    Reduction,
}

impl Purpose {
    pub const ALL: [Self; 3] = [Self::Private, Self::FirstPrivate, Self::Reduction];

    /// The name of the clause.
    pub const fn clause(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::FirstPrivate => "firstprivate",
            Self::Reduction => "reduction",
        }
    }
}

/// A clause's item of which each gang, worker or lane has a copy.
#[derive(Clone, Debug)]
pub struct Slice {
    pub key: Key,
    /// The directive that it is private to.
    pub at: usize,
    pub purpose: Purpose,
    /// The variable, as the host has it.
    pub object: String,
    /// Names of numbers: the first element, the elements, the bytes of a copy, and where those of a gang begin.
    pub low: String,
    pub length: String,
    pub bytes: String,
    pub offset: String,
}

/// The part that a gang has taken.
pub const OWN: &str = "__acc_own_room";

impl Slice {
    /// The declaration of a thread's copy on a GPU, under a name.
    pub fn on_gpu(&self, name: &str, mode: Levels) -> String {
        let Self { object, low, bytes, offset, .. } = self;
        let copy = if mode.has(Levels::VECTOR) {
            "__gangway_acc_worker() * __gangway_acc_lanes() + __gangway_acc_lane()"
        } else if mode.has(Levels::WORKER) {
            "__gangway_acc_worker()"
        } else {
            "0"
        };
        let ty = format!("__typeof__(&{object}[0])");
        format!(
            "{ty} const {name} = ({ty})({OWN} + {offset} + (unsigned long)({copy}) * {bytes}) - {low}; (void){name}; "
        )
    }

    /// All threads of a gang fill its copy with what it begins with.
    pub fn filled_on_gpu(&self, name: &str, origin: &str) -> String {
        let Self { low, length, .. } = self;
        format!(
            "{{ for (unsigned long __acc_k = __gangway_acc_worker() * __gangway_acc_lanes() + __gangway_acc_lane(); \
             __acc_k < {length}; __acc_k += __gangway_acc_workers() * __gangway_acc_lanes()) \
             {name}[{low} + (long)__acc_k] = {origin}[{low} + (long)__acc_k]; }} "
        )
    }

    /// The same for a thread of a processor.
    pub fn on_processor(&self, name: &str, origin: Option<&str>) -> String {
        let Self { object, low, length, bytes, .. } = self;
        let ty = format!("__typeof__(&{object}[0])");
        let filled = origin.map_or(String::new(), |origin| {
            format!(
                "{{ for (unsigned long __acc_k = 0; __acc_k < {length}; ++__acc_k) \
                 {name}[{low} + (long)__acc_k] = {origin}[{low} + (long)__acc_k]; }} "
            )
        });
        format!(
            "__attribute__((cleanup(__gangway_acc_free))) void *{name}_all = __builtin_malloc({bytes}); \
             {ty} const {name} = ({ty}){name}_all - {low}; (void){name}; {filled}"
        )
    }
}
