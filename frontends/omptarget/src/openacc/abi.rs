//! The layouts of `gangway/openacc_translated.h`.

use gangway_openacc::profiling;
use std::ffi::{c_char, c_void};

/// Where a construct stands, in clang's form: `;file;function;line;column;;`.
#[repr(C)]
#[derive(Debug)]
pub struct Site {
    /// The description, a constant of the program.
    pub source: *const c_char,
    /// Which construct it is, in the order of the header.
    pub construct: u32,
}

impl Site {
    /// What tools are told that the construct is.
    pub(super) fn profiled(&self) -> profiling::Construct {
        match self.construct {
            1 => profiling::Construct::Kernels,
            2 => profiling::Construct::Serial,
            3 => profiling::Construct::Data,
            4 => profiling::Construct::EnterData,
            5 => profiling::Construct::ExitData,
            6 => profiling::Construct::HostData,
            7 => profiling::Construct::Update,
            8 => profiling::Construct::Wait,
            9 => profiling::Construct::Declare,
            _ => profiling::Construct::Parallel,
        }
    }
}

/// A list item of a data clause.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AccItem {
    /// Its first byte on the host.
    pub begin: *mut c_void,
    /// How many bytes it has.
    pub bytes: usize,
    /// Where the pointer is that leads to it and that is attached, if it is on the device; or null.
    pub pointer: *mut *mut c_void,
    /// What is done with it, see [`kind`].
    pub kind: u32,
    /// See [`flag`].
    pub flags: u32,
    /// Its description, in clang's form, a constant of the program.
    pub label: *const c_char,
    /// Where the first byte is on the device; on the host where nothing is there. Of an item with
    /// [`flag::PIECES`] it leads to the dimensions of it first.
    pub device: *mut c_void,
}

/// What items are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Construct {
    /// A compute construct or `data`: structured references.
    Structured,
    Enter,
    Exit,
    Update,
}

/// How a construct is launched.
#[repr(C)]
#[derive(Debug)]
pub struct AccLaunch {
    /// The queue.
    pub asynchronous: i32,
    /// `if` or `self` bind the construct to the host.
    pub on_host: i32,
    /// What the launch gives as its device: [`LAUNCH`] or [`LAUNCH_ON_HOST`].
    pub device: i32,
    /// Gangs that are asked for, in each dimension; 0 leaves it open.
    pub gangs: [u32; 3],
    /// Workers of a gang.
    pub workers: u32,
    /// Lanes of a worker.
    pub vector: u32,
    /// Not 0: no clause says how many workers, and the kernel runs with fewer, too.
    pub open: u32,
    /// How many gangs each dimension has, where all are counted in the first of `gangs`.
    pub grid: [u32; 3],
}

/// The number of no device: the launch is of the compute construct that the thread has begun.
pub const LAUNCH: i64 = -0x0acc;
/// The same, and the construct runs on the host.
pub const LAUNCH_ON_HOST: i64 = -0x0acd;

/// What a clause does with an item.
pub mod kind {
    pub const COPY: u32 = 0;
    pub const COPYIN: u32 = 1;
    pub const COPYOUT: u32 = 2;
    pub const CREATE: u32 = 3;
    pub const NO_CREATE: u32 = 4;
    pub const PRESENT: u32 = 5;
    pub const DEVICEPTR: u32 = 6;
    pub const ATTACH: u32 = 7;
    pub const DELETE: u32 = 8;
    pub const DETACH: u32 = 9;
    pub const USE_DEVICE: u32 = 10;
    pub const UPDATE_SELF: u32 = 11;
    pub const UPDATE_DEVICE: u32 = 12;
    /// No item, but what the rows of the item are that it points to: see [`super::flag::HAS_ROWS`].
    pub const ROW: u32 = 13;
    /// No clause names it: what the construct seems to use of the data that a pointer leads to. The pointer is the
    /// item's. It is copied if nothing of that is on the device.
    pub const SUPPOSED_COPY: u32 = 14;
    /// The same, of what it does not write.
    pub const SUPPOSED_COPYIN: u32 = 15;
    /// No item, but the first bytes of a flexible array that the construct uses: these have to stand on the device behind
    /// the structure, unless [`super::flag::IF_PRESENT`] says that they may be nowhere.
    pub const FLEXIBLE: u32 = 16;
    /// No clause names it: a member that the construct uses of the object at `this`, or all of that. The pointer is the
    /// member's own place, if it is one.
    pub const USED: u32 = 17;
}

/// What else a clause says.
pub mod flag {
    pub const IF_PRESENT: u32 = 1;
    pub const FINALIZE: u32 = 2;
    /// Every byte is zero where the item begins to be present (`zero`).
    pub const ZERO: u32 = 8;
    /// An object of which clauses may have named members: it stays as it is where a part of it is present.
    pub const OBJECT: u32 = 32;
    /// Of such an object the construct uses nothing but the members that its clauses name.
    pub const NAMED: u32 = 64;
    /// Of an item: it consists of pointers to rows. Of a row: its dimension is a pointer's.
    pub const HAS_ROWS: u32 = 128;
    /// Above these bits stands the number of the object that a member belongs to, or of an object of which the
    /// construct's clauses name members; 0: none.
    pub const OBJECT_SHIFT: u32 = 8;
    /// The bits of that number.
    pub const OBJECT_BITS: u32 = 0x7_ffff;
    /// An object is a structure that ends with a flexible array: what follows is no further element.
    pub const OPEN_END: u32 = 1 << 27;
    /// The item has several dimensions, of which something may be between the parts that are meant. `device` leads to
    /// them, outer ones first, each a [`Dimension`](crate::section::Dimension) without an offset; behind them is one
    /// without a stride.
    pub const PIECES: u32 = 1 << 28;
    /// The item is a pointer, and no section of what it leads to is named.
    pub const POINTER: u32 = 1 << 29;
    /// Present data is copied where the construct begins, too (`always`, `alwaysin`).
    pub const ALWAYS_IN: u32 = 1 << 30;
    /// Present data is copied where the construct ends, too (`always`, `alwaysout`).
    pub const ALWAYS_OUT: u32 = 1 << 31;
}
