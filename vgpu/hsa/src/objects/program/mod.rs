//! Code: what programs hand in, and what is loaded onto agents (HSA runtime 1.2, 2.10).

pub mod compiled;
pub mod executable;
pub mod interpreted;
pub mod kernel;
pub mod lines;
pub mod loaded;
pub mod reader;
pub mod symbol;
pub mod together;
pub mod wanted;

/// All that programs have made ends; the last `hsa_shut_down` does this.
pub fn end_all() {
    symbol::SYMBOLS.clear();
    executable::end_all();
    reader::READERS.clear();
    reader::CODE_OBJECTS.clear();
}
