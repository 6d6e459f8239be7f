//! What the user calls a byte of a mapped structure, from the program's debug information.

use gangway_runtime::Label;

/// The name of the pointer at a byte of a variable.
pub(crate) fn name(variable: Label, offset: usize) -> Option<String> {
    gangway_backends::pointer_name(variable.describe(), offset.cast_signed())
}
