//! Symbols of executables: kernels and variables.

use crate::abi::Handle;
use crate::abi::handle::Kind;
use crate::objects::table::Table;

/// A symbol of an executable, on one agent.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Of a kernel that of its descriptor, `saxpy.kd`.
    pub name: String,
    pub agent: Handle,
    /// Whether other modules of the program may use it.
    pub is_global: bool,
    pub meaning: Meaning,
}

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    Variable {
        address: u64,
        size: u64,
        align: u32,
        constant: bool,
    },
    Kernel {
        /// Where the descriptor is: what a packet names.
        object: u64,
        kernarg_size: u32,
        kernarg_align: u32,
        group_size: u32,
        private_size: u32,
        dynamic_stack: bool,
    },
}

pub static SYMBOLS: Table<Symbol> = Table::new(Kind::Symbol);
