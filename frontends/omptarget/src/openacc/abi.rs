//! The layouts of `gangway/openacc_translated.h`.

use std::ffi::{c_char, c_void};

/// Where a construct stands, in clang's form: `;file;function;line;column;;`.
#[repr(C)]
#[derive(Debug)]
pub struct Site {
    /// The description, a constant of the program.
    pub source: *const c_char,
    /// Which construct it is.
    pub construct: u32,
}

/// A list item of a data clause.
#[repr(C)]
#[derive(Debug)]
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
    /// [`flag::ROWS`] it is an [`AccRows`] first, with [`flag::PIECES`] an [`AccPieces`].
    pub device: *mut c_void,
}

/// The rows that the pointers of an item lead to.
#[repr(C)]
#[derive(Debug)]
pub struct AccRows {
    /// The bytes between where a pointer leads to and its row.
    pub before: usize,
    /// The bytes of a row.
    pub bytes: usize,
    /// Not 0: a row consists of pointers to rows, which the next element describes.
    pub more: usize,
}

/// A dimension of an item that is updated in pieces: outer ones first, behind them the pieces.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AccPieces {
    /// How many steps it has; the bytes of a piece.
    pub count: usize,
    /// The bytes of a step; 0: these are the pieces.
    pub step: usize,
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
    /// Gangs that are asked for; 0 leaves it open.
    pub gangs: [u32; 3],
    /// Workers of a gang.
    pub workers: u32,
    /// Lanes of a worker.
    pub vector: u32,
    /// Not 0: no clause says how many workers, and the kernel runs with fewer, too.
    pub open: u32,
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
}

/// What else a clause says.
pub mod flag {
    pub const IF_PRESENT: u32 = 1;
    pub const FINALIZE: u32 = 2;
    /// Every byte is zero where the item begins to be present (`zero`).
    pub const ZERO: u32 = 8;
    /// An object of which clauses name members: it stays as it is where a part of it is present.
    pub const OBJECT: u32 = 32;
    /// The item consists of pointers to rows. What the rows are, `device` says before the call: see
    /// [`AccRows`](super::AccRows).
    pub const ROWS: u32 = 64;
    /// Present data is copied where the construct begins, too (`always`, `alwaysin`).
    pub const ALWAYS_IN: u32 = 128;
    /// The item is no one range, but pieces, which `device` describes: see [`AccPieces`](super::AccPieces).
    pub const PIECES: u32 = 1 << 29;
    /// The item is a pointer, and no section of what it leads to is named.
    pub const POINTER: u32 = 1 << 30;
    /// Present data is copied where the construct ends, too (`always`, `alwaysout`).
    pub const ALWAYS_OUT: u32 = 1 << 31;
    /// Above these bits stands the number of the object that a member belongs to; 0: none.
    pub const OBJECT_SHIFT: u32 = 8;
    /// The bits of that number.
    pub const OBJECT_BITS: u32 = 0x1f_ffff;
}
