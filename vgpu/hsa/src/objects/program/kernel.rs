//! Which kernels are loaded, by the addresses that packets name.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::compiled::Compiled;
use super::loaded::Loaded;

/// A kernel that can be launched. Its code stays for as long as this exists.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub name: Arc<str>,
    pub code: Arc<Loaded>,
    pub compiled: Arc<Compiled>,
}

static KERNELS: RwLock<BTreeMap<u64, Kernel>> = RwLock::new(BTreeMap::new());

/// The kernel whose descriptor is at an address.
#[must_use]
pub fn find(object: u64) -> Option<Kernel> {
    KERNELS.read().unwrap_or_else(PoisonError::into_inner).get(&object).cloned()
}

pub(super) fn add(object: u64, kernel: Kernel) {
    KERNELS.write().unwrap_or_else(PoisonError::into_inner).insert(object, kernel);
}

/// Forgets the kernels of some code.
pub(super) fn remove(code: &Arc<Loaded>) {
    let mut kernels = KERNELS.write().unwrap_or_else(PoisonError::into_inner);
    let gone: Vec<Kernel> = kernels
        .extract_if(.., |_, kernel| Arc::ptr_eq(&kernel.code, code))
        .map(|(_, kernel)| kernel)
        .collect();
    drop(kernels);
    // Not under the lock: the memory may go now.
    drop(gone);
}
