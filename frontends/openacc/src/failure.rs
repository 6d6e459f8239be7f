//! The end of a program that cannot go on, in OpenACC's words where the runtime's are OpenMP's. Tools and
//! the program itself may be told before ([`tell_error`]).

use crate::profiling::{ErrorCode, tell_error};
use crate::words::OpenAcc;
use gangway_frontend::host::End;
use gangway_frontend::policy;
use gangway_frontend::words::{Told, Words};
use gangway_runtime::{Error, ErrorKind, HostRange, Result};

/// As libgomp: no other library of a stock compiler's has OpenACC. A routine may be wrong before
/// any front end has started.
const END: End = End::Status;

/// Ends the program with a message about a mistake of its own.
#[cold]
pub fn mistake(code: ErrorCode, text: std::fmt::Arguments<'_>) -> ! {
    tell_error(code, &text.to_string(), 0);
    policy::mistake_by(END, text)
}

/// A result that the program cannot go on without.
pub fn done<T>(result: Result<T>) -> T {
    result.unwrap_or_else(|error| terminate(&error))
}

/// Ends the program with an error of the runtime's.
#[cold]
pub fn terminate(error: &Error) -> ! {
    let code = code_of(&error.kind);
    match &error.kind {
        ErrorKind::NotPresent { wanted, near } => {
            let HostRange { begin, size, .. } = *wanted;
            let near: String = near.iter().map(|range| format!("\n    {}", interval(range))).collect();
            let near = if near.is_empty() { near } else { format!("\n  on the device nearby:{near}") };
            mistake(
                code,
                format_args!(
                    "device {}: present clause: !acc_is_present ({begin:#x}, {size} ({size:#x})){near}\n  \
                     help: make it present before, with a data construct, enter data, or acc_copyin",
                    error.device
                ),
            )
        }
        ErrorKind::PartlyPresent { wanted, mapped } | ErrorKind::AlreadyPresent { wanted, mapped } => {
            mistake(
                code,
                format_args!(
                    "device {}: Trying to map into device {} object when {} is already mapped\n  \
                 help: map all of it at first, or end the other mapping before",
                    error.device,
                    interval(wanted),
                    interval(mapped)
                ),
            )
        }
        ErrorKind::MembersApart { wanted, mapped } => mistake(
            code,
            format_args!(
                "device {}: Trying to map into device {} structure element when other mapped elements from the same \
                 structure weren't mapped together with it: {} is already mapped\n  \
                 help: name all members that a construct uses in the clause that maps the first",
                error.device,
                interval(wanted),
                interval(mapped)
            ),
        ),
        _ => terminate_by(END, error, &OpenAcc),
    }
}

/// Ends the program with an error of the runtime's, in a way and in words that are a front end's.
#[cold]
pub fn terminate_by(way: End, error: &Error, words: &dyn Words) -> ! {
    tell_error(code_of(&error.kind), &Told(error, words).to_string(), driver_code(&error.kind));
    policy::terminate_by(way, error, words)
}

fn interval(range: &HostRange) -> String {
    format!("[{:#x}..{:#x})", range.begin, range.begin.wrapping_add(range.size))
}

/// What the specification calls an error of the runtime's (section 5.2.2).
fn code_of(kind: &ErrorKind) -> ErrorCode {
    match kind {
        ErrorKind::NoSuchDevice { .. } => ErrorCode::DeviceUnavailable,
        ErrorKind::NoDevices { .. } | ErrorKind::NoImage { .. } => ErrorCode::DeviceTypeUnavailable,
        ErrorKind::DeviceOpen(_)
        | ErrorKind::LacksUnifiedMemory
        | ErrorKind::Forked
        | ErrorKind::ImageLoad(_) => ErrorCode::DeviceInit,
        ErrorKind::NoMemory { .. } => ErrorCode::InvalidDataSection,
        ErrorKind::PartlyPresent { .. } | ErrorKind::MembersApart { .. } => ErrorCode::PartlyPresent,
        ErrorKind::AlreadyMapped { .. } | ErrorKind::AlreadyPresent { .. } => ErrorCode::Present,
        ErrorKind::NotPresent { .. } => ErrorCode::NotPresent,
        ErrorKind::OutOfMemory { .. } => ErrorCode::OutOfMemory,
        ErrorKind::Launch { .. } | ErrorKind::Lost { .. } | ErrorKind::Queue { .. } => ErrorCode::Execution,
        ErrorKind::Transfer(_) | ErrorKind::Pin { .. } | ErrorKind::Backend(_) => ErrorCode::System,
        _ => ErrorCode::Other,
    }
}

/// The driver's own code of an error; 0 where it has none.
fn driver_code(kind: &ErrorKind) -> usize {
    let source = match kind {
        ErrorKind::DeviceOpen(source)
        | ErrorKind::ImageLoad(source)
        | ErrorKind::Transfer(source)
        | ErrorKind::Backend(source)
        | ErrorKind::Pin { source, .. }
        | ErrorKind::Launch { source, .. }
        | ErrorKind::Lost { source, .. }
        | ErrorKind::Queue { source, .. } => source,
        _ => return 0,
    };
    match source {
        gangway_backend::Error::Device { code, .. } | gangway_backend::Error::Fault { code, .. } => {
            *code as usize
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gangway_runtime::present::Label;

    #[test]
    fn errors_have_the_specifications_codes() {
        let range = || HostRange { begin: 0x10, size: 8, label: Label::NONE };
        let not_present = ErrorKind::NotPresent { wanted: range(), near: Vec::new() };
        assert_eq!(code_of(&not_present), ErrorCode::NotPresent);
        let partly = ErrorKind::PartlyPresent { wanted: range(), mapped: range() };
        assert_eq!(code_of(&partly), ErrorCode::PartlyPresent);
        let failed = gangway_backend::Error::Device { code: 700, message: String::new() };
        let failed = ErrorKind::Transfer(failed);
        assert_eq!((code_of(&failed), driver_code(&failed)), (ErrorCode::System, 700));
        assert_eq!(driver_code(&not_present), 0);
    }
}
