//! What device code asks of the host on behalf of the C library: one host call, whose block says
//! which operation is meant.
//!
//! `device/gpu/system` makes the calls and `runtime/host-calls/src/system` answers them. Both read
//! formats of `printf` with the same [`format`], so that they agree on the arguments.
//!
//! A block is a [`Header`] and the text behind it. What stands in one may be anything: the host
//! checks it.

#![no_std]

pub mod format;
pub mod fortran;

/// The number of the host call: the FNV-1a hash of `gangway.system`. The dot keeps it apart
/// from those of programs.
pub const FUNCTION: u64 = number(b"gangway.system");

const fn number(name: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut index = 0;
    while index < name.len() {
        hash = (hash ^ name[index] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        index += 1;
    }
    hash
}

/// What stands at the start of a block. The host writes its answer into `first`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Header {
    /// An [`Operation`].
    pub operation: u64,
    pub first: u64,
    pub second: u64,
    /// Bytes of text behind the header. The block may have more.
    pub length: u64,
}

/// Bytes of a header.
pub const HEADER: usize = size_of::<Header>();

const _: () = assert!(HEADER == 32);

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Operation {
    /// Write the text to the stream `first`. Answer: how many bytes.
    Write = 1,
    /// Write what a format gives to the stream `first`: of the text, `second` bytes are the format,
    /// and the arguments follow ([`format`]). Answer: how many bytes, or -1.
    Format = 2,
    /// Put what a format gives over the text, up to `first` bytes of it. Answer: how many bytes it
    /// has, or -1.
    FormatHere = 3,
    /// Flush the stream `first`; 0: all. Answer: 0, or -1.
    Flush = 4,
    /// End the process with the status `first`, at once if `second` is 1.
    Exit = 5,
    /// Say that the program gives up. The caller traps.
    Abort = 6,
    /// Where the device sees the value of the variable that the text names. Answer: address, or 0.
    Environment = 7,
    /// Seconds since 1970.
    Time = 8,
    /// The processor's time that the process has used.
    Clock = 9,
    /// Keep the text as a part of the output statement `first` of Fortran's ([`fortran`]); 0: of a
    /// new one. Answer: the statement's number.
    FortranPart = 10,
    /// Repeat the statement `first`; 0: one without earlier parts. The first `second` bytes of the text
    /// are its last part. Answer: its status (`iostat`), or -1. What it has written to
    /// variables is put over the text, as far as it has room.
    FortranRun = 11,
    /// Put over the text what the statement `first` has written to variables, from the byte
    /// `second` on. After the last byte there is no such statement any longer. Answer: 0, or -1.
    FortranResult = 12,
    /// End the process as Fortran does ([`fortran::end`]).
    FortranEnd = 13,
    /// Allocate `first` bytes of the device's memory, at a multiple of `second`, a power of two. Answer:
    /// address, or 0.
    Allocate = 14,
    /// Free the block at the address `first`. Answer: 1, or 0 if it is not of `Allocate`.
    Free = 15,
    /// Call the function at the host's address `first` with the address of the text. Answer: what it returns.
    Call = 16,
}

impl Operation {
    const ALL: [Self; 16] = [
        Self::Write,
        Self::Format,
        Self::FormatHere,
        Self::Flush,
        Self::Exit,
        Self::Abort,
        Self::Environment,
        Self::Time,
        Self::Clock,
        Self::FortranPart,
        Self::FortranRun,
        Self::FortranResult,
        Self::FortranEnd,
        Self::Allocate,
        Self::Free,
        Self::Call,
    ];

    /// The operation of a number.
    #[must_use]
    pub fn of(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| *operation as u64 == number)
    }
}

/// The streams that device code names. The values of the host's `stdout` and `stderr` are
/// streams as well; a program may hand them to its regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Stream {
    Input = 1,
    Output = 2,
    Error = 3,
}
