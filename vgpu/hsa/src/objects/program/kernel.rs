//! Which kernels are loaded, by the addresses that packets name.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use gangway_code_object::{Argument, ValueKind};

use super::compiled::Compiled;
use super::loaded::Loaded;

/// A kernel that can be launched. Its code stays for as long as this exists.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub name: Arc<str>,
    pub code: Arc<Loaded>,
    pub compiled: Arc<Compiled>,
    /// Where among its arguments the sizes of its work-groups stand, if it is told them there.
    pub sizes: Option<u32>,
}

/// Where a kernel is told the sizes of its work-groups: three numbers of 16 bits (AMDGPU guide, "Kernel Argument Metadata").
pub(super) fn sizes(arguments: &[Argument]) -> Option<u32> {
    let at = |kind| arguments.iter().find(|argument| argument.kind == kind).map(|argument| argument.offset);
    let (first, second) = (at(ValueKind::HiddenGroupSizeX)?, at(ValueKind::HiddenGroupSizeY)?);
    (second == first + 2 && first.is_multiple_of(4)).then_some(first)
}

static KERNELS: RwLock<BTreeMap<u64, Kernel>> = RwLock::new(BTreeMap::new());

/// The kernel whose descriptor is at an address.
#[must_use]
pub fn find(object: u64) -> Option<Kernel> {
    KERNELS.read().unwrap_or_else(PoisonError::into_inner).get(&object).cloned()
}

/// The kernels of some code, with the addresses of their descriptors.
pub(super) fn all_of(code: &Arc<Loaded>) -> Vec<(u64, Kernel)> {
    let kernels = KERNELS.read().unwrap_or_else(PoisonError::into_inner);
    let of = kernels.iter().filter(|(_, kernel)| Arc::ptr_eq(&kernel.code, code));
    of.map(|(object, kernel)| (*object, kernel.clone())).collect()
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
