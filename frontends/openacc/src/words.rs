//! Errors in OpenACC's words, as far as it has any of its own.
//!
//! [`failure`](crate::failure) knows more of them: what it says is a message of libgomp's as a whole.

use gangway_backend::AllocationKind;
use gangway_frontend::words::{self, Words};
use gangway_runtime::present::Label;
use gangway_runtime::{ErrorKind, MappedAction, Remedy};

/// libgomp's words for attachments, and what clauses and directives of OpenACC do about errors. For the rest they are
/// those of the front end that came first.
#[derive(Debug)]
pub struct OpenAcc;

impl Words for OpenAcc {
    fn instead(&self, kind: &ErrorKind) -> Option<String> {
        attachment(kind).or_else(|| words::of_first().instead(kind))
    }

    fn help(&self, kind: &ErrorKind) -> Vec<String> {
        help(kind).map_or_else(|| words::of_first().help(kind), |line| vec![line.to_owned()])
    }

    fn remedy(&self, remedy: &Remedy) -> Option<String> {
        Some(match remedy {
            Remedy::Pointee => {
                "name what the construct uses of it in a data clause, as in copy(p[0:n])".to_owned()
            }
            Remedy::InnerPointee { holder, member } => {
                let member = member.as_deref().or(holder.name()).unwrap_or("s.member");
                format!(
                    "name what it points to in a data clause as well, as in copy({member}[0:n]), which attaches the \
                     pointer, too"
                )
            }
            Remedy::Whole(structure) => format!(
                "make all that the construct uses of it present before, or all of it: copy({})",
                name(*structure)
            ),
        })
    }
}

fn name(label: Label) -> &'static str {
    label.name().unwrap_or("s")
}

/// What clauses and directives can do about an error.
const fn help(kind: &ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::PartlyPresent { .. } => Some(
            "what a data clause names must be present as a whole or not at all; make the larger section present first, \
             or end the data lifetime of the smaller one",
        ),
        ErrorKind::NotPresent { .. } => Some(
            "make it present with a data construct, enter data or declare before, or use a clause that does, as in \
             copy",
        ),
        ErrorKind::NeverMapped { action: MappedAction::Update, .. } => {
            Some("make all of it present with a data construct or enter data before, or say if_present")
        }
        ErrorKind::OutOfMemory { memory: AllocationKind::Device, .. } => {
            Some("end data lifetimes that are over (exit data), or work in smaller pieces")
        }
        _ => None,
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
