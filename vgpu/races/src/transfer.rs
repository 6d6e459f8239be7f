//! Copies and fills of memory, which are accesses, too.

use std::sync::Arc;

use crate::block::{Access, Block};
use crate::device::{Device, Past};
use crate::finding::{Finding, Place};

/// A piece of memory that is copied or filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub address: u64,
    pub size: u64,
    pub write: bool,
}

impl Device {
    /// Memory is copied or filled: the races that are new. `what` it is, in words. It comes after `past`.
    #[must_use]
    pub fn transfer(
        self: &Arc<Self>,
        what: &'static str,
        accesses: &[Transfer],
        past: Option<Arc<dyn Past>>,
    ) -> Vec<Finding> {
        let Some(launch) = self.launch(1, 1, false, past) else { return Vec::new() };
        let mut block = Block::default();
        block.start(&launch, 0, 1, 0);
        // No program has this number.
        let code = (u64::MAX, what.as_ptr() as u64);
        let place = || Place { copy: Some(what), ..Place::default() };
        let site = self.site(code.0, code.1, place);
        for &Transfer { address, size, write } in accesses {
            let (warp, lane, shared, strong, narrow, bytes) = (0, 0, false, false, false, None);
            block.access(&Access { warp, lane, address, size, shared, write, strong, narrow, bytes, site });
        }
        launch.end()
    }
}
