//! What GCC's device code writes and how it ends: a ring of lines that the host reads while kernels run.
//!
//! The layout is that of newlib for `amdgcn` and of libgomp's plugin in GCC 12. Kernels of one stream run one after the
//! other, so they share a ring: positions count on, and a kernel that finds it full waits for the host.

use crate::agent::Agent;
use crate::memory;
use gangway_backend::{DevicePtr, Result};
use std::io::Write;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering, fence};

/// Lines of a ring.
const LINES: usize = 1024;
const TEXT: usize = 128;

/// What a kernel has returned that has not called `exit`.
const RUNNING: i32 = 0xcafe_0000_u32.cast_signed();
/// The upper half of what one has returned that has called it.
const ENDED: i32 = 0xffff;

#[repr(C)]
struct Ring {
    returned: AtomicI32,
    /// The position that the next line gets.
    next: AtomicU32,
    lines: [Line; LINES],
    /// Lines before this position have been read.
    read: AtomicU32,
}

#[repr(C)]
struct Line {
    is_written: AtomicI32,
    message: [u8; TEXT],
    kind: i32,
    value: Value,
}

#[repr(C)]
union Value {
    integer: i64,
    real: f64,
    text: [u8; TEXT],
}

const _: () = assert!(size_of::<Line>() == 264 && std::mem::offset_of!(Line, value) == 136);
const _: () = assert!(std::mem::offset_of!(Ring, read) == 8 + LINES * 264);

/// The ring of a stream.
pub(crate) struct Output {
    place: DevicePtr,
}

impl Output {
    /// A ring in memory that host and device see.
    pub fn new(agent: &Agent) -> Result<Self> {
        let place = memory::visible(agent, agent.pools.host, size_of::<Ring>())?;
        let output = Self { place };
        // SAFETY: so many bytes have been allocated, and nobody has seen them. All zeroes are a ring.
        unsafe { std::ptr::with_exposed_provenance_mut::<Ring>(place.0).write_bytes(0, 1) };
        output.ring().returned.store(RUNNING, Ordering::Release);
        Ok(output)
    }

    /// Where kernels find it.
    pub fn address(&self) -> u64 {
        self.place.0 as u64
    }

    fn ring(&self) -> &Ring {
        // SAFETY: the ring is alive, and the device writes what is atomic here; lines it has said to be written.
        unsafe { &*std::ptr::with_exposed_provenance(self.place.0) }
    }

    /// Takes the lines that have been written: text for stdout. Where `all` kernels are done, no line is on its way.
    pub fn take(&self, all: bool) -> Vec<u8> {
        let ring = self.ring();
        let mut text = Vec::new();
        let end = ring.next.load(Ordering::Acquire);
        let mut at = ring.read.load(Ordering::Relaxed);
        while at != end {
            let line = &ring.lines[at as usize % LINES];
            if line.is_written.load(Ordering::Acquire) == 0 && !all {
                break;
            }
            line.write(&mut text);
            line.is_written.store(0, Ordering::Relaxed);
            at = at.wrapping_add(1);
            ring.read.store(at, Ordering::Release);
        }
        text
    }

    /// How a kernel has ended the program, if one has.
    pub fn ending(&self) -> Option<Ending> {
        fence(Ordering::Acquire);
        Ending::of(self.ring().returned.load(Ordering::Acquire))
    }

    /// Frees it.
    ///
    /// # Safety
    /// The stream is idle.
    pub unsafe fn free(self, agent: &Agent) {
        // SAFETY: the caller's promise.
        let _ = unsafe { memory::free(agent, self.place) };
    }
}

impl Line {
    fn write(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(until_null(&self.message));
        // SAFETY: any bytes are a value of each of these.
        let (integer, real, bytes) = unsafe { (self.value.integer, self.value.real, &self.value.text) };
        // Writing into memory does not fail.
        let _ = match self.kind {
            0 => writeln!(text, "{integer}"),
            1 if real.is_nan() => writeln!(text, "nan"),
            1 => writeln!(text, "{real:.6}"),
            2 => text.write_all(until_null(bytes)).and_then(|()| text.write_all(b"\n")),
            3 => text.write_all(until_null(bytes)),
            other => writeln!(
                text,
                "gangway: device code has written a line of kind {other}, which GCC 12 has none of"
            ),
        };
    }
}

fn until_null(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// How device code has ended the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Exit(i32),
    Abort,
}

impl Ending {
    fn of(returned: i32) -> Option<Self> {
        let is_ended = returned >> 16 & 0xffff == ENDED;
        let ending = if returned >> 8 & 0xff == 0 { Self::Exit(returned & 0xff) } else { Self::Abort };
        is_ended.then_some(ending)
    }
}

unsafe extern "C" {
    /// The C library's, so that what host and device write keeps its order.
    static stdout: *mut libc::FILE;
}

/// Writes what device code has written.
pub(crate) fn print(text: &[u8]) {
    if text.is_empty() {
        return;
    }
    // SAFETY: the C library's stream, and so many bytes.
    unsafe {
        libc::fwrite(text.as_ptr().cast(), 1, text.len(), stdout);
        libc::fflush(stdout);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_texts_with_a_value() {
        let line = |kind, value| {
            let mut message = [0; TEXT];
            message[..2].copy_from_slice(b"x ");
            let mut text = Vec::new();
            Line { is_written: AtomicI32::new(1), message, kind, value }.write(&mut text);
            String::from_utf8(text).unwrap()
        };
        let mut bytes = [0; TEXT];
        bytes[..3].copy_from_slice(b"end");
        assert_eq!(line(0, Value { integer: -7 }), "x -7\n");
        assert_eq!(line(1, Value { real: 1.5 }), "x 1.500000\n");
        assert_eq!(line(2, Value { text: bytes }), "x end\n");
        assert_eq!(line(3, Value { text: bytes }), "x end");
        assert!(line(9, Value { integer: 0 }).contains("of kind 9"));
    }

    #[test]
    fn endings_are_those_of_exit_and_abort() {
        assert_eq!(Ending::of(RUNNING), None);
        assert_eq!(Ending::of(0xffff_0007_u32.cast_signed()), Some(Ending::Exit(7)));
        assert_eq!(Ending::of(0xffff_0600_u32.cast_signed()), Some(Ending::Abort));
    }
}
