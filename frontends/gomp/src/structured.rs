//! The arrays of structured data: its end is not told them.

use crate::table::{Meanings, Table};
use gangway_runtime::Device;
use std::cell::{Cell, RefCell};

/// The arrays of a `data` construct.
#[derive(Default)]
pub(crate) struct Structured {
    /// `None` on the host.
    pub device: Option<&'static Device>,
    hosts: Vec<Cell<usize>>,
    sizes: Vec<usize>,
    kinds: Vec<u16>,
}

thread_local! {
    /// Arrays for the next ones.
    static SPARE: RefCell<Vec<Structured>> = const { RefCell::new(Vec::new()) };
}

/// Arrays that a thread keeps.
const SPARES: usize = 8;

impl Structured {
    /// A copy of a construct's arrays.
    pub fn of(device: Option<&'static Device>, table: &Table<'_>) -> Self {
        let mut this = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
        this.device = device;
        this.hosts.clear();
        this.hosts.extend(table.hosts().iter().cloned());
        this.sizes.clear();
        this.sizes.extend_from_slice(table.sizes());
        this.kinds.clear();
        this.kinds.extend_from_slice(table.kinds());
        this
    }

    /// They as list items of the end.
    pub fn table(&self, end: impl Into<Meanings>) -> Table<'_> {
        Table::of(end, &self.hosts, &self.sizes, &self.kinds)
    }

    /// Keeps their memory for the next ones.
    pub fn recycle(self) {
        SPARE.with_borrow_mut(|spare| {
            if spare.len() < SPARES {
                spare.push(self);
            }
        });
    }
}
