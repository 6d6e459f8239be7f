//! What has happened to a warp that cannot go on.

use std::cell::{Cell, RefCell};

use gangway_interpreter::FaultKind;

use super::trap::Trap;

/// What a helper has ended the warp for.
#[derive(Debug)]
pub(crate) struct Failure {
    pub kind: FaultKind,
    /// The lanes that it happened to, as far as is known; any of the warp's when none.
    pub lanes: u32,
    /// The address in compiled code.
    pub pc: usize,
}

/// The failure of a warp, or the signal that it has raised.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    failure: RefCell<Option<Failure>>,
    trap: Cell<Option<Trap>>,
}

impl Failures {
    /// For a warp of another launch.
    pub fn clear(&self) {
        self.failure.replace(None);
        self.trap.set(None);
    }

    pub fn note(&self, failure: Failure) {
        self.failure.replace(Some(failure));
    }

    /// Where the handler of signals notes one.
    #[must_use]
    pub fn trap(&self) -> &Cell<Option<Trap>> {
        &self.trap
    }

    /// Whether anything has happened.
    #[must_use]
    pub fn has_any(&self) -> bool {
        self.failure.borrow().is_some() || self.trap.get().is_some()
    }

    /// What a helper has ended the warp for, and the lanes.
    #[must_use]
    pub fn failure(&self) -> Option<(FaultKind, u32)> {
        self.failure.borrow().as_ref().map(|failure| (failure.kind.clone(), failure.lanes))
    }

    #[must_use]
    pub fn take_failure(&self) -> Option<Failure> {
        self.failure.take()
    }

    #[must_use]
    pub fn take_trap(&self) -> Option<Trap> {
        self.trap.take()
    }
}
