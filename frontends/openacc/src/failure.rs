//! The end of a program that cannot go on, in OpenACC's words where the runtime's are OpenMP's.

use crate::words::OpenAcc;
use gangway_frontend::host::End;
use gangway_frontend::policy;
use gangway_runtime::{Error, ErrorKind, HostRange, Result};

/// As libgomp: no other library of a stock compiler's has OpenACC. A routine may be wrong before
/// any front end has started.
const END: End = End::Status;

/// Ends the program with a message about a mistake of its own.
#[cold]
pub fn mistake(text: std::fmt::Arguments<'_>) -> ! {
    policy::mistake_by(END, text)
}

/// A result that the program cannot go on without.
pub fn done<T>(result: Result<T>) -> T {
    result.unwrap_or_else(|error| terminate(&error))
}

/// Ends the program with an error of the runtime's.
#[cold]
pub fn terminate(error: &Error) -> ! {
    match &error.kind {
        ErrorKind::NotPresent { wanted, near } => {
            let HostRange { begin, size, .. } = *wanted;
            let near: String = near.iter().map(|range| format!("\n    {}", interval(range))).collect();
            let near = if near.is_empty() { near } else { format!("\n  on the device nearby:{near}") };
            mistake(format_args!(
                "device {}: present clause: !acc_is_present ({begin:#x}, {size} ({size:#x})){near}\n  \
                 help: make it present before, with a data construct, enter data, or acc_copyin",
                error.device
            ))
        }
        ErrorKind::PartlyPresent { wanted, mapped } | ErrorKind::AlreadyPresent { wanted, mapped } => {
            mistake(format_args!(
                "device {}: Trying to map into device {} object when {} is already mapped\n  \
                 help: map all of it at first, or end the other mapping before",
                error.device,
                interval(wanted),
                interval(mapped)
            ))
        }
        _ => policy::terminate_by(END, error, &OpenAcc),
    }
}

fn interval(range: &HostRange) -> String {
    format!("[{:#x}..{:#x})", range.begin, range.begin.wrapping_add(range.size))
}
