//! Errors in OpenACC's words, as far as it has any of its own.
//!
//! [`failure`](crate::failure) knows more of them: what it says is a message of libgomp's as a whole.

use gangway_frontend::words::{self, Words};
use gangway_runtime::{ErrorKind, Remedy};

/// libgomp's words for attachments. For the rest they are those of the front end that came first.
#[derive(Debug)]
pub struct OpenAcc;

impl Words for OpenAcc {
    fn instead(&self, kind: &ErrorKind) -> Option<String> {
        attachment(kind).or_else(|| words::of_first().instead(kind))
    }

    fn help(&self, kind: &ErrorKind) -> Vec<String> {
        words::of_first().help(kind)
    }

    fn remedy(&self, remedy: &Remedy) -> Option<String> {
        words::of_first().remedy(remedy)
    }
}

/// What libgomp says of a pointer that cannot be detached. Programs of OpenMP have such pointers, too.
#[must_use]
pub fn attachment(kind: &ErrorKind) -> Option<String> {
    let ErrorKind::NotAttached { pointer, within } = kind else { return None };
    Some(match within {
        None => format!("attach count underflow: {kind}"),
        Some(structure) => format!(
            "no attachment counters for struct {structure}: the pointer at {pointer:#x} is to be detached, and none in \
             there has been attached\n  help: attach it before"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gangway_runtime::HostRange;
    use gangway_runtime::present::Label;

    #[test]
    fn attachments_are_told_as_by_libgomp() {
        let told = |within| OpenAcc.instead(&ErrorKind::NotAttached { pointer: 0x10, within }).unwrap();
        assert_eq!(
            told(None),
            "attach count underflow: the pointer at 0x10 has been detached as often as it was attached\n  \
             help: detach it once for each time that it is attached"
        );
        assert_eq!(
            told(Some(HostRange { begin: 8, size: 16, label: Label::NONE })),
            "no attachment counters for struct [0x8, 0x18) of 16 bytes: the pointer at 0x10 is to be detached, and \
             none in there has been attached\n  help: attach it before"
        );
        assert_eq!(OpenAcc.instead(&ErrorKind::LacksUnifiedMemory), None);
    }
}
