//! The options of loading and linking, `CUjit_option`: logs, and what a compiler would like to know.

use std::time::Instant;

use crate::abi::pointer::In;
use crate::abi::status::{Result, Status};

/// The numbers of the options that mean something here.
mod option {
    pub const MAX_REGISTERS: u32 = 0;
    pub const THREADS_PER_BLOCK: u32 = 1;
    pub const WALL_TIME: u32 = 2;
    pub const INFO_LOG_BUFFER: u32 = 3;
    pub const INFO_LOG_BUFFER_SIZE: u32 = 4;
    pub const ERROR_LOG_BUFFER: u32 = 5;
    pub const ERROR_LOG_BUFFER_SIZE: u32 = 6;
    pub const LOG_VERBOSE: u32 = 12;
    /// The last that `cuda.h` has.
    pub const LAST: u32 = 33;
}

/// A buffer of the caller for text.
#[derive(Clone, Copy, Debug)]
struct Log {
    buffer: *mut u8,
    size: usize,
    /// Where the caller gave the size and wants to know how much was used.
    used: Option<*mut usize>,
}

/// The options of one call. The pointers in it are the caller's, which promises that they
/// stay until the call - or for `cuLink*` the link - is over.
#[derive(Debug)]
pub struct Options {
    info: Option<Log>,
    error: Option<Log>,
    wall_time: Option<*mut f32>,
    verbose: bool,
    /// `CU_JIT_MAX_REGISTERS`
    max_registers: Option<u32>,
    start: Instant,
}

// SAFETY: the pointers are used under the lock of the link that they belong to, and by
// contract no other thread of the program uses the buffers meanwhile.
unsafe impl Send for Options {}

impl Options {
    /// Reads them. `values` is an array of pointer-sized values that some options are answered in.
    pub fn read(count: u32, options: In<u32>, values: In<usize>) -> Result<Options> {
        let numbers = options.array(count as usize)?;
        let given = values.array(count as usize)?;
        let place = |index: usize| values.as_ptr().cast_mut().wrapping_add(index);
        let mut read = Options::none();
        let mut logs = [(std::ptr::null_mut::<u8>(), None), (std::ptr::null_mut(), None)];
        for (index, (number, value)) in numbers.into_iter().zip(given).enumerate() {
            // Options of 32 bits leave the other half of their value undefined.
            let short = value as u32;
            match number {
                option::WALL_TIME => read.wall_time = Some(place(index).cast()),
                option::INFO_LOG_BUFFER => logs[0].0 = value as *mut u8,
                option::INFO_LOG_BUFFER_SIZE => logs[0].1 = Some((short as usize, place(index))),
                option::ERROR_LOG_BUFFER => logs[1].0 = value as *mut u8,
                option::ERROR_LOG_BUFFER_SIZE => logs[1].1 = Some((short as usize, place(index))),
                option::LOG_VERBOSE => read.verbose = short != 0,
                option::MAX_REGISTERS => read.max_registers = Some(short).filter(|&most| most > 0),
                option::THREADS_PER_BLOCK => {}
                // Hints to a compiler that is not there.
                known if known <= option::LAST => {}
                _ => return Err(Status::INVALID_VALUE),
            }
        }
        let log = |(buffer, size): (*mut u8, Option<(usize, *mut usize)>)| {
            let (size, used) = size?;
            (!buffer.is_null()).then_some(Log { buffer, size, used: Some(used) })
        };
        let [info, error] = logs;
        (read.info, read.error) = (log(info), log(error));
        for log in [&read.info, &read.error].into_iter().flatten() {
            log.write("");
        }
        Ok(read)
    }

    /// No options.
    pub fn none() -> Options {
        Options {
            info: None,
            error: None,
            wall_time: None,
            verbose: false,
            max_registers: None,
            start: Instant::now(),
        }
    }

    /// Limits kernels to the registers that the program allows. Nothing here has so few that
    /// it matters, but programs ask how many a kernel uses.
    pub fn limit_registers(&self, module: &mut gangway_ptx::Module) {
        let Some(most) = self.max_registers else { return };
        for kernel in module.functions.iter_mut().filter(|function| function.entry) {
            let own = kernel.limits.max_registers.unwrap_or(most);
            kernel.limits.max_registers = Some(own.min(most));
        }
    }

    pub fn wants_error(&self) -> bool {
        self.error.is_some()
    }

    pub fn is_verbose(&self) -> bool {
        self.verbose
    }

    pub fn info(&self, text: &str) {
        if let Some(log) = &self.info {
            log.write(text);
        }
    }

    pub fn error(&self, text: &str) {
        if let Some(log) = &self.error {
            log.write(text);
        }
    }

    /// Answers `CU_JIT_WALL_TIME`, in milliseconds.
    pub fn finish(&self) {
        if let Some(place) = self.wall_time {
            // SAFETY: a value of the caller's array, which holds a float for this option.
            unsafe { place.write_unaligned(self.start.elapsed().as_secs_f32() * 1e3) };
        }
    }
}

impl Log {
    /// Writes as much as there is room for, and a terminator.
    fn write(&self, text: &str) {
        let Some(room) = self.size.checked_sub(1) else { return };
        let mut length = text.len().min(room);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        // SAFETY: the caller gave a buffer of `size` bytes, more than `length`.
        unsafe {
            self.buffer.copy_from_nonoverlapping(text.as_ptr(), length);
            self.buffer.add(length).write(0);
        }
        if let Some(used) = self.used {
            // SAFETY: a value of the caller's array, pointer-sized.
            unsafe { used.write_unaligned(length) };
        }
    }
}
