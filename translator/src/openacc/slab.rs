//! Where variables are that the threads of a gang share: in shared memory, as long as there is room, and
//! otherwise in device memory, of which each gang takes a part while it runs.
//!
//! There are so many parts as fit into a few megabytes, whatever the number of gangs: a gang for which none is
//! free waits for one. It waits for gangs that run, and these wait for nobody.

use super::index::{Space, Variable};
use super::layout::Layout;
use super::mode::Sizes;
use super::nest::Levels;
use super::writer::Writer;

/// What is in shared memory of one gang at most: all that a kernel can have without asking (CUDA programming guide,
/// compute capabilities), less what reductions and broadcasts need.
pub const SHARED: u64 = 44 << 10;
/// What all parts have together, and the least and largest number of parts.
const PARTS_BYTES: u64 = 16 << 20;
const PARTS: (u64, u64) = (4, 256);

/// The memory of a gang.
#[derive(Debug, Default)]
pub struct Memory {
    /// What is in shared memory.
    pub shared: Layout,
    /// Declarations of what is in device memory, and its bytes.
    members: String,
    bytes: u64,
    first: Option<usize>,
}

impl Memory {
    /// Whether shared memory has room for a variable.
    pub fn has_room(&mut self, variable: &Variable) -> bool {
        // What has no size yet is in a template; the linker says it if that is too large.
        variable.space.is_none_or(|space| self.shared.bytes_with(space) <= SHARED)
    }

    /// Adds a variable to what is in device memory: the address of a thread's.
    pub fn add(&mut self, variable: &Variable, name: &str, workers: Option<u64>) -> String {
        let (count, at) = match workers {
            Some(workers) => (format!("[{workers}]"), "[__gangway_acc_worker()]"),
            None => (String::new(), ""),
        };
        self.members += &format!("__typeof__({}) {name}{count}; ", variable.ty);
        let bytes =
            variable.space.map_or(0, |Space { bytes, .. }| bytes.saturating_mul(workers.unwrap_or(1)));
        self.bytes = self.bytes.saturating_add(bytes);
        self.first.get_or_insert(variable.range.start);
        format!("&__acc_part->{name}{at}")
    }

    /// Where a variable is declared that shared memory has no room for.
    pub const fn too_large(&self) -> Option<usize> {
        self.first
    }

    /// A kernel's text, with its shared memory, and with a part of device memory for each gang, if it needs one.
    pub fn around(&self, text: String, sizes: Sizes, writer: &mut Writer<'_>) -> String {
        let text = self.shared.declared() + &text;
        if self.members.is_empty() {
            return text;
        }
        let parts = (PARTS_BYTES / self.bytes.max(1)).clamp(PARTS.0, PARTS.1);
        let (all, taken, own) =
            (writer.fresh("s", "parts"), writer.fresh("s", "taken"), writer.fresh("s", "part"));
        let one = sizes.one(Levels::NONE).unwrap_or("1");
        let members = &self.members;
        format!(
            "struct {all}_t {{ {members} }}; static struct {all}_t {all}[{parts}]; static unsigned {taken}[{parts}]; \
             static __gangway_acc_shared unsigned {own}; \
             if ({one}) *__gangway_acc_seen_by_all(&{own}) = __gangway_acc_take({taken}, {parts}); \
             __gangway_acc_gang_barrier(); \
             struct {all}_t *const __acc_part = &{all}[*__gangway_acc_seen_by_all(&{own})]; \
             {{ {text} }} \
             __gangway_acc_gang_barrier(); \
             if ({one}) __gangway_acc_leave({taken}, *__gangway_acc_seen_by_all(&{own}));"
        )
    }
}
