//! What the library says to the program's user, on stderr.

/// Prints a line that begins with `gangway: `, as [`eprintln!`] does. Where the line cannot go it
/// does nothing, since a panic must not reach the C caller.
macro_rules! report {
    ($($argument:tt)+) => {
        $crate::objects::process::report::line(&format!($($argument)+))
    };
}
pub(crate) use report;

/// In one piece, so that lines of several threads do not mix.
pub fn line(text: &str) {
    gangway_trace::say(text);
}
