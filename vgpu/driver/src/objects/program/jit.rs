//! The options of loading and linking, `CUjit_option`: logs, and what a compiler would like to
//! know.

use std::time::Instant;

use crate::abi::Out;

/// A buffer of the caller for text.
#[derive(Clone, Copy, Debug)]
pub struct Log {
    pub buffer: Out<u8>,
    pub size: usize,
    /// Where the caller gave the size and wants to know how much was used.
    pub used: Out<usize>,
}

/// The options of one call. The pointers in it are the caller's, which promises that they
/// stay until the call - or for `cuLink*` the link - is over.
#[derive(Debug)]
pub struct JitOptions {
    pub info: Option<Log>,
    pub error: Option<Log>,
    /// Where `CU_JIT_WALL_TIME` is answered, in milliseconds.
    pub wall_time: Out<f32>,
    pub verbose: bool,
    /// `CU_JIT_MAX_REGISTERS`
    pub max_registers: Option<u32>,
    start: Instant,
}

// SAFETY: the pointers are used under the lock of the link that they belong to. By contract no
// other thread of the program uses the buffers meanwhile.
unsafe impl Send for JitOptions {}

impl JitOptions {
    /// No options. What they are for begins now.
    #[must_use]
    pub fn none() -> Self {
        Self {
            info: None,
            error: None,
            wall_time: Out::NULL,
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

    #[must_use]
    pub fn wants_error(&self) -> bool {
        self.error.is_some()
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

    /// Answers how long it took.
    pub fn finish(&self) {
        self.wall_time.set_if_wanted(self.start.elapsed().as_secs_f32() * 1e3);
    }
}

impl Log {
    /// Writes as much as there is room for, and a terminator.
    pub fn write(&self, text: &str) {
        let Some(room) = self.size.checked_sub(1) else { return };
        let length = text.floor_char_boundary(room);
        if self.buffer.fill(text.bytes().take(length).chain([0])).is_ok() {
            self.used.set_if_wanted(length);
        }
    }
}
