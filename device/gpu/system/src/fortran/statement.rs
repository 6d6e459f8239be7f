//! A statement under way: its calls are collected in a block on the heap, which goes to the host
//! when it is full and when the statement ends.

use crate::block::{ask_with, call};
use crate::device;
use core::ffi::c_int;
use gangway_system::fortran::{Kind, head};
use gangway_system::{Header, Operation, Stream};

/// Bytes that a block has room for. Most statements are shorter; all threads of a device may be
/// inside of one.
const ROOM: usize = 376;

/// How often a thread without memory tries again: others give theirs back when their statements end.
const PATIENCE: u32 = 100_000;

/// Where a statement stands in the program.
pub struct Origin<'t> {
    pub file: &'t [u8],
    pub line: c_int,
}

/// A variable that the statement writes to.
#[derive(Clone, Copy)]
struct Variable {
    start: *mut u8,
    length: usize,
}

/// A statement. The header and the text are the block of its host calls.
#[repr(C)]
pub struct Statement {
    /// The number that the host has given to its earlier parts, or 0.
    number: u64,
    variables: [Variable; 2],
    /// Bytes of the text, and all bytes of items.
    used: usize,
    header: Header,
    text: [u8; ROOM],
}

/// Says what cannot be done, and ends the kernel.
pub fn refuse(what: &[u8]) -> ! {
    let parts: [&[u8]; 3] = [b"gangway: Fortran output in device code: ", what, b" is not supported\n"];
    let length = parts.iter().map(|part| part.len()).sum();
    let fill = |block: &mut [u8]| {
        let mut at = 0;
        for part in parts {
            block[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
    };
    ask_with(Operation::Write, Stream::Error as u64, 0, length, fill, |_, _| ());
    device::trap()
}

impl Statement {
    pub fn begin(kind: Kind, unit: u64, format: &[u8], origin: Origin<'_>) -> *mut Self {
        let cookie = Self::allocate();
        // SAFETY: it has been allocated; the text is written before it is read.
        let statement = unsafe {
            (&raw mut (*cookie).number).write(0);
            let none = Variable { start: core::ptr::null_mut(), length: 0 };
            (&raw mut (*cookie).variables).write([none; 2]);
            (&raw mut (*cookie).used).write(0);
            &mut *cookie
        };
        let words = [unit, i64::from(origin.line) as u64, origin.file.len() as u64, format.len() as u64];
        statement.head(kind, size_of_val(&words) + origin.file.len() + format.len());
        for word in words {
            statement.put(&word.to_ne_bytes());
        }
        statement.put(origin.file);
        statement.put(format);
        statement.fill();
        cookie
    }

    fn allocate() -> *mut Self {
        for attempt in 0..PATIENCE {
            // SAFETY: any size may be asked for.
            let memory = unsafe { device::malloc(size_of::<Self>() as u64) };
            if !memory.is_null() {
                return memory.cast();
            }
            device::pause(attempt);
        }
        refuse(b"a statement without memory left on the device's heap")
    }

    /// Names a variable that gets what the statement writes.
    pub fn writes(&mut self, start: *mut u8, length: usize) {
        let free = usize::from(!self.variables[0].start.is_null());
        self.variables[free] = Variable { start, length };
    }

    /// Adds an item.
    pub fn item(&mut self, kind: Kind, words: &[u64], text: &[u8]) {
        self.head(kind, size_of_val(words) + text.len());
        for word in words {
            self.put(&word.to_ne_bytes());
        }
        self.put(text);
        self.fill();
    }

    /// Begins an item of so many bytes.
    pub fn head(&mut self, kind: Kind, bytes: usize) {
        self.put(&head(kind, bytes as u64).to_ne_bytes());
    }

    /// Adds bytes of the item.
    #[inline(never)]
    pub fn put(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.used == ROOM {
                self.send();
            }
            let room = ROOM - self.used;
            let count = if bytes.len() < room { bytes.len() } else { room };
            self.text[self.used..self.used + count].copy_from_slice(&bytes[..count]);
            self.used += count;
            bytes = &bytes[count..];
        }
    }

    /// Ends an item: the next one begins at a multiple of eight bytes, as the room is one.
    pub fn fill(&mut self) {
        while !self.used.is_multiple_of(8) {
            self.text[self.used] = 0;
            self.used += 1;
        }
    }

    /// Calls the host with the first `length` bytes of the text.
    fn ask(&mut self, operation: Operation, second: u64, length: usize) -> u64 {
        self.header =
            Header { operation: operation as u64, first: self.number, second, length: length as u64 };
        // SAFETY: the text follows the header.
        let answer = unsafe {
            let block = (&raw mut *self).byte_add(core::mem::offset_of!(Self, header)).cast();
            call(block, size_of::<Header>() + length)
        };
        match answer {
            // The host has said why it failed.
            Some(u64::MAX) => device::trap(),
            Some(answer) => answer,
            None => {
                crate::stdio::say_unserved();
                device::trap()
            }
        }
    }

    /// Sends what there is as a part of the statement.
    fn send(&mut self) {
        self.number = self.ask(Operation::FortranPart, 0, self.used);
        self.used = 0;
    }

    /// Has the host repeat the statement, and answers its status.
    ///
    /// # Safety
    /// It is a statement under way, which ends here.
    pub unsafe fn end(cookie: *mut Self) -> c_int {
        // SAFETY: as the caller says.
        let statement = unsafe { &mut *cookie };
        let wanted = statement.variables[0].length + statement.variables[1].length;
        if wanted > ROOM {
            // The rest is asked for by the number.
            statement.send();
        }
        let used = statement.used;
        let mut there = if wanted < ROOM { wanted } else { ROOM };
        let length = if used < there { there } else { used };
        let status = statement.ask(Operation::FortranRun, used as u64, length);
        let (mut taken, mut at) = (0, 0);
        for variable in statement.variables {
            for index in 0..variable.length {
                if at == there {
                    taken += there;
                    let rest = wanted - taken;
                    there = if rest < ROOM { rest } else { ROOM };
                    at = 0;
                    statement.ask(Operation::FortranResult, taken as u64, there);
                }
                // SAFETY: the variable has so many bytes.
                unsafe { variable.start.add(index).write(statement.text[at]) };
                at += 1;
            }
        }
        // SAFETY: it is of `malloc`, and no longer in use.
        unsafe { device::free(cookie.cast()) };
        status as c_int
    }
}
