//! What compiled code and the engine agree on: the state of a warp, the entry points of
//! functions, and the helpers that compiled code calls.
//!
//! Compiled code reads and writes [`Warp`] at the offsets of its fields
//! (`core::mem::offset_of!`); nothing else about the engine is known to it. Everything is
//! reached through pointers in here, so that code has no relocations.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicU64};

use crate::frame::Frame;
use crate::grants::Grants;
use crate::lines::Lines;
use crate::windows::Windows;

/// Lanes of a warp.
pub const LANES: usize = 32;
/// The mask of all lanes.
pub const ALL: u32 = u32::MAX;

/// Per-lane values, as compiled code hands them to helpers and takes them back. Values of
/// 32 bits and less are in [`Self::Lanes32`] form, 64-bit values in this.
pub type Lanes64 = [u64; LANES];
pub type Lanes32 = [u32; LANES];

/// Compiled code of a function, converged flavour: all lanes run.
///
/// `arguments` points to one pointer per parameter, then one per return parameter, each to
/// the lanes' values: `[u32; 32]` or `[u64; 32]` for scalars (smaller ones are zero-extended
/// to 32 bits), 32 consecutive copies for arrays. It returns the lanes
/// that came back; the others have exited.
pub type Converged = unsafe extern "C" fn(warp: *mut Warp, arguments: *const *mut c_void) -> u32;

/// Compiled code of a function, masked flavour. `frame` is where its lanes are, which may have
/// been in it before; `lanes` are those that call. It gives the lanes that have returned, the join
/// where all have met ([`met`](crate::frame::met)), or [`SWITCH`](crate::frame::SWITCH).
///
/// Without a frame, a function in which lanes may wait for others tells the size of its frame. All
/// other functions have their frame on the stack then.
pub type Masked = unsafe extern "C" fn(
    warp: *mut Warp,
    arguments: *const *mut c_void,
    frame: *mut c_void,
    lanes: u32,
) -> u64;

/// Compiled code of the regions of a function that each lane runs by itself, or in which all do the same; of the number
/// that converged code tells. All lanes of the warp enter it. `frame` has the registers that it needs from before, in
/// the form that converged code holds them, and gets for each lane those that it may have written, or their one value.
/// It gives the number of the exit: regions that lanes run by themselves have one.
pub type Lanewise = unsafe extern "C" fn(warp: *mut Warp, frame: *mut c_void, region: u64) -> u64;

/// Which flavour of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavour {
    Converged,
    Masked,
    Lanewise,
}

/// Where in the table of functions the code of a function's regions is: behind the two entries of each of the
/// module's functions.
pub(crate) const fn entry_of_regions(functions: usize, function: u32) -> usize {
    2 * functions + function as usize
}

/// The state of a warp that compiled code sees.
///
/// A kernel of short blocks starts a warp every few dozen nanoseconds, while the data that it
/// works on drives everything else out of the cache. So what is written for each block
/// stands in one cache line, the second; the first is what a launch writes and code reads most.
#[repr(C, align(64))]
pub struct Warp {
    /// Two entries per function, converged and masked, then one for the regions of each ([`Lanewise`]); null until it
    /// is compiled.
    pub functions: *const AtomicPtr<c_void>,
    /// The helpers, in the order of [`crate::support::HELPERS`].
    pub helpers: *const *const c_void,
    /// The address of each variable of the module, in its own space, then those of each
    /// function's static ones.
    pub symbols: *const u64,
    /// The kernel's parameters, as the launch gave them.
    pub parameters: *const u8,
    /// Lane 0's local memory; the next lane's is `local_stride` bytes after.
    pub local: *mut u8,
    pub local_stride: u64,
    /// Functions are entered with their frame above this address of the stack only: what they
    /// call of the engine's, which may hold locks, needs not look.
    pub stack_limit: u64,
    /// The engine's own side of this warp.
    pub host: *mut c_void,

    /// The block's shared memory: static, then dynamic.
    pub shared: *mut u8,
    /// Offset in local memory where the next frame begins, the same for all lanes.
    pub local_top: u64,
    /// Steps back until the warp has to give way; compiled code counts it down at back edges.
    pub fuel: i64,
    /// Where compiled code last called a helper: the return address, which helpers' entries
    /// ([`helper!`]) write. Faults find the instruction by it.
    pub called_from: u64,
    /// Lanes that have executed `exit`, or were never there.
    pub exited: u32,
    /// The carry flags of `add.cc` and its kin, one bit per lane.
    pub carry: u32,
    pub block: [u32; 3],
    pub worker: u32,
    pub warp_index: u32,

    pub grid: [u32; 3],
    pub threads: [u32; 3],
    pub warps: u32,
    pub workers: u32,
    pub dynamic_shared: u32,
    pub grid_id: u64,
    pub shared_size: u64,
    /// Where the kernel's parameters end in local memory, at whose beginning they are if their
    /// address is taken.
    pub local_parameters: u64,
    /// The address of the grid's workspace, of which `%envreg1` and `%envreg2` are the halves;
    /// 0 when the launch is not cooperative.
    pub workspace: u64,
    pub thread: [[u32; LANES]; 3],
    /// Where compiled code puts addresses and values for helpers, and finds results.
    pub addresses: Lanes64,
    pub values: [Lanes64; 5],
    pub results: [Lanes64; 2],
    /// Loads and exchanges that lanes may wait with, since the fuel was last spent.
    pub spins: u32,
    /// The loop in which it was spent: its first block, and the address of the frame.
    pub spent_at: u32,
    pub spent_in: u64,
    /// How often the fuel was spent since lanes last took turns.
    pub rations: u32,
    /// How often lanes of a function had their turn since those outside of it last had theirs.
    pub turns: u32,
    /// The frame of the function that runs, or of the innermost on the way to it, in which lanes
    /// may wait for others.
    pub(crate) frame: *mut Frame,
    /// The frames in which lanes are, the youngest first.
    pub(crate) frames: *mut Frame,
    pub waiting: Waiting,
    /// The frame pointer of the code that last called a helper in which warps wait.
    pub called_in: u64,
    /// Where in the host's memory the warp has been.
    pub(crate) windows: Windows,
    /// Check mode: what it may access, until this counts on.
    pub(crate) freed: *const AtomicU64,
    pub(crate) grants: Grants,
    /// Race check: what it has accessed and not told of.
    pub(crate) lines: Lines,
}

/// What lanes wait for that are parked. Compiled code does not look at it.
#[repr(C)]
pub struct Waiting {
    /// The lanes that wait at collective instructions.
    pub meeting: u32,
    /// By lane: the mask of those that it waits for, or the number of the barrier.
    pub waits_for: Lanes32,
    /// By lane: how often the barrier had been completed before, or one of the numbers that stand
    /// for collective instructions.
    pub generation: Lanes32,
    /// By lane: the form of the collective instruction that it waits at, what it brings there, and
    /// what it has got from it.
    pub opcode: Lanes32,
    pub inputs: [Lanes64; 4],
    pub results: [Lanes64; 2],
    /// By lane: where in compiled code it has begun to wait.
    pub place: Lanes64,
}

// See the description of the structure.
const _: () = {
    use std::mem::offset_of;
    const LINE: usize = 64;
    let line = offset_of!(Warp, shared);
    assert!(line % LINE == 0 && offset_of!(Warp, warp_index) < line + LINE);
    assert!(offset_of!(Warp, thread) % LINE == 0 && offset_of!(Warp, addresses) % LINE == 0);
};

/// Makes the entry of a helper: it notes where in compiled code it was called from, so that
/// a fault inside finds its instruction, and goes on to the helper itself. `helper!(enter_load =>
/// load)` makes `enter_load` from `extern "C" fn load(warp: *mut Warp, ...)`; all arguments
/// and results pass through. The compiler records the positions of calls, which is all
/// that it has to do for it.
macro_rules! helper {
    ($entry:ident => $helper:path [frame]) => {
        /// The entry of a helper in which warps wait, which also notes the frame of the function that calls: checks
        /// find the functions on the way to it.
        ///
        /// # Safety
        /// As for other helpers.
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $entry() {
            core::arch::naked_asm!(
                "mov rax, [rsp]",
                "mov [rdi + {called_from}], rax",
                "mov [rdi + {called_in}], rbp",
                "jmp {helper}",
                called_from = const core::mem::offset_of!($crate::abi::Warp, called_from),
                called_in = const core::mem::offset_of!($crate::abi::Warp, called_in),
                helper = sym $helper,
            )
        }
    };
    ($entry:ident => $helper:path) => {
        /// The entry of the helper, to be called by compiled code only.
        ///
        /// # Safety
        /// The first argument is the running warp; for the others the helper's own rules hold.
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $entry() {
            core::arch::naked_asm!(
                "mov rax, [rsp]",
                "mov [rdi + {called_from}], rax",
                "jmp {helper}",
                called_from = const core::mem::offset_of!($crate::abi::Warp, called_from),
                helper = sym $helper,
            )
        }
    };
}
#[allow(unused_imports)]
pub(crate) use helper;
