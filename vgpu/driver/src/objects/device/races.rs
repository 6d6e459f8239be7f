//! Races that kernels have had, in all: told when the process ends (`GANGWAY_VGPU_CHECK=race`). Each has been told
//! when its first launch ended.

use std::sync::Once;

use gangway_engine::Races;

use super::Device;
use crate::objects::process::report::report;
use crate::objects::process::state;

/// Has the sum told at the end of the process.
pub fn watch() {
    static ONCE: Once = Once::new();
    extern "C" fn at_exit() {
        // What a forked child has is its parent's.
        if state::is_forked() {
            return;
        }
        let all = Device::all().iter().filter_map(|device| device.started()?.races());
        let all = all.fold(Races::default(), Races::and);
        if let Some(text) = text(all) {
            report!("{text}");
        }
    }
    // SAFETY: a function without parameters that may run at any exit.
    ONCE.call_once(|| unsafe {
        libc::atexit(at_exit);
    });
}

fn text(Races { places, count, unseen }: Races) -> Option<String> {
    let found = match places {
        0 => None,
        1 => Some(format!("races of 1 pair of instructions, {count} in all")),
        _ => Some(format!("races of {places} pairs of instructions, {count} in all")),
    };
    let unseen = (unseen > 0).then(|| {
        format!("{unseen} launches or blocks were too large or too long, or interpreted, and not looked at for races")
    });
    match (found, unseen) {
        (Some(found), Some(unseen)) => Some(format!("{found}; {unseen}")),
        (found, unseen) => found.or(unseen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_and_what_was_not_looked_at_is_said() {
        let said = |places, count, unseen| text(Races { places, count, unseen });
        assert_eq!(said(0, 0, 0), None);
        assert_eq!(said(1, 7, 0).unwrap(), "races of 1 pair of instructions, 7 in all");
        assert!(said(2, 7, 1).unwrap().starts_with("races of 2 pairs of instructions, 7 in all; 1 launches"));
        assert!(said(0, 0, 3).unwrap().contains("not looked at"));
    }
}
