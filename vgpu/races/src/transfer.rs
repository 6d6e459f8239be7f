//! Copies and fills of memory, which are accesses, too.

use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::Arc;

use rustc_hash::FxHasher;

use crate::block::{Access, Block};
use crate::device::{Device, Past};
use crate::finding::{By, Finding, Place};

/// A piece of memory that is copied or filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub address: u64,
    pub size: u64,
    pub write: bool,
}

/// A copy or fill, or the end of some memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Neither a kernel nor the program's own code.
    pub by: By,
    /// The function that has it, where that is known.
    pub function: String,
    /// The construct: file, line and column.
    pub source: Option<(String, u32, u32)>,
}

impl Device {
    /// Memory is copied or filled: the races that are new. It comes after `past`.
    #[must_use]
    pub fn transfer(
        self: &Arc<Self>,
        origin: &Origin,
        accesses: &[Transfer],
        past: Option<Arc<dyn Past>>,
    ) -> Vec<Finding> {
        let Some(launch) = self.launch(1, 1, false, past) else { return Vec::new() };
        let mut block = Block::default();
        block.start(&launch, 0, 1, 0);
        // No program has this number.
        let code = BuildHasherDefault::<FxHasher>::default().hash_one(origin);
        let place = || {
            let Origin { by, function, source } = origin.clone();
            Place { by, function, source, ..Place::default() }
        };
        let site = self.site(u64::MAX, code, place);
        for &Transfer { address, size, write } in accesses {
            let (warp, lane, shared, strong, narrow, bytes) = (0, 0, false, false, false, None);
            block.access(&Access { warp, lane, address, size, shared, write, strong, narrow, bytes, site });
        }
        launch.end()
    }
}
