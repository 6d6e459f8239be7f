//! Reading `CUjit_option` and their values.

use crate::abi::number::jit_option;
use crate::abi::{In, Out, Result, Status, Untyped};
use crate::objects::program::jit::{JitOptions, Log};

/// Reads options. Some are answered in their place in `values`, whatever the value is.
pub fn options(count: u32, options: In<u32>, values: In<Untyped>) -> Result<JitOptions> {
    let numbers = options.array(count as usize)?;
    let given = values.array(count as usize)?;
    let mut read = JitOptions::none();
    let (mut info, mut error) = (GivenLog::NONE, GivenLog::NONE);
    for (index, (number, value)) in numbers.into_iter().zip(given).enumerate() {
        // Options of 32 bits leave the other half of their value undefined.
        let short = value.address() as u32;
        match number {
            jit_option::WALL_TIME => read.wall_time = values.place(index),
            jit_option::INFO_LOG_BUFFER => info.buffer = value.out(),
            jit_option::INFO_LOG_BUFFER_SIZE_BYTES => info.size = Some((short, values.place(index))),
            jit_option::ERROR_LOG_BUFFER => error.buffer = value.out(),
            jit_option::ERROR_LOG_BUFFER_SIZE_BYTES => error.size = Some((short, values.place(index))),
            jit_option::LOG_VERBOSE => read.verbose = short != 0,
            jit_option::MAX_REGISTERS => read.max_registers = Some(short).filter(|&most| most > 0),
            // Hints to a compiler that is not there.
            hint if hint <= jit_option::LAST => {}
            _ => return Err(Status::INVALID_VALUE),
        }
    }
    (read.info, read.error) = (info.log(), error.log());
    for log in [&read.info, &read.error].into_iter().flatten() {
        log.write("");
    }
    Ok(read)
}

/// What a caller has said of a log so far.
struct GivenLog {
    buffer: Out<u8>,
    size: Option<(u32, Out<usize>)>,
}

impl GivenLog {
    const NONE: Self = Self { buffer: Out::NULL, size: None };

    /// A log needs a buffer and a size.
    fn log(self) -> Option<Log> {
        let (size, used) = self.size?;
        (!self.buffer.is_null()).then_some(Log { buffer: self.buffer, size: size as usize, used })
    }
}
