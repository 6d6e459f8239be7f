//! What the user calls a byte of a mapped structure, from the program's debug information.

use gangway_cpu::Part;
use gangway_runtime::Label;

/// The name of the pointer at a byte of a variable.
pub(crate) fn name(variable: Label, offset: usize) -> Option<String> {
    let name = gangway_cpu::name_of(Part::Pointer, variable.describe(), offset.cast_signed())?;
    Some(name.as_str().to_owned())
}
