//! What the library says to the program's user, on stderr.

use std::fmt;
use std::io::Write;

/// Prints a line that begins with `gangway: `, as [`eprintln!`] does; but where nobody listens
/// (a closed pipe, a full disk) it does nothing, since a panic must not reach the C caller.
macro_rules! report {
    ($($argument:tt)+) => {
        $crate::report::line(format_args!($($argument)+))
    };
}
pub(crate) use report;

/// In one piece, so that lines of several threads do not mix.
pub fn line(text: fmt::Arguments<'_>) {
    let _ = std::io::stderr().write_all(format!("gangway: {text}\n").as_bytes());
}
