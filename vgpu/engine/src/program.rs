//! A module in device memory, ready to be launched from.

use std::sync::Arc;

/// A loaded module. Dropping it frees its variables.
#[derive(Debug)]
pub struct Program {
    _private: (),
}

/// An index into [`Program::kernels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelId(pub u32);

/// What the driver tells about a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    pub name: Box<str>,
    pub parameters: Vec<Parameter>,
    /// Length of the parameter buffer in bytes.
    pub parameter_size: u32,
    /// Bytes of shared memory that it and what it can call declare.
    pub static_shared: u32,
    /// Bytes of local memory per thread: an estimate where there is recursion.
    pub local: u32,
    /// From `.maxntid` and `.reqntid`, otherwise 1024.
    pub max_threads: u32,
    pub required_threads: Option<[u32; 3]>,
    /// What a real compiler might use: an estimate.
    pub registers: u32,
}

/// A kernel parameter's place in the parameter buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub offset: u32,
    pub size: u32,
}

/// A variable in global or constant memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Global {
    pub address: u64,
    pub size: u64,
    pub constant: bool,
    pub managed: bool,
}

/// Why a module cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// Names that nothing defines: `CUDA_ERROR_INVALID_IMAGE` or what the linker says.
    Undefined(Vec<Box<str>>),
    OutOfMemory(String),
}

impl Program {
    pub fn kernels(&self) -> &[Kernel] {
        todo!()
    }

    pub fn kernel(&self, _name: &str) -> Option<KernelId> {
        todo!()
    }

    pub fn global(&self, _name: &str) -> Option<Global> {
        todo!()
    }

    pub fn module(&self) -> &Arc<gangway_ptx::Module> {
        todo!()
    }
}
