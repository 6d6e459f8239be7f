//! What a user-defined mapper calls to name its components.

use gangway_openmp::guard::guard;
use gangway_runtime::{Components, Item, Label};
use std::ffi::c_void;

/// Adds a component.
///
/// # Safety
/// `components` is the handle the mapper was called with.
pub unsafe extern "C" fn __tgt_push_mapper_component(
    components: *mut c_void,
    base: usize,
    begin: usize,
    size: i64,
    map_type: u64,
    label: Label,
) {
    guard((), || {
        // SAFETY: the handle is the runtime's component list.
        let components = unsafe { &mut *components.cast::<Components>() };
        components.push(Item { base, begin, size, map_type, label, mapper: None });
    });
}

/// Number of components so far.
///
/// # Safety
/// As [`__tgt_push_mapper_component`].
pub unsafe extern "C" fn __tgt_mapper_num_components(components: *const c_void) -> i64 {
    // SAFETY: the handle is the runtime's component list.
    guard(0, || unsafe { &*components.cast::<Components>() }.len() as i64)
}
