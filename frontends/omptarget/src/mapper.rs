//! User-defined mappers: functions of the compiler's that name the components of an item.

use crate::map_type;
use gangway_frontend::guard::guard;
use gangway_runtime::{Components, Item, Label};
use std::ffi::c_void;

/// A mapper as the compiler emits it: it calls [`__tgt_push_mapper_component`] once per
/// component, with `components` as the handle.
pub type MapperFunction = unsafe extern "C" fn(
    components: *mut c_void,
    base: usize,
    begin: usize,
    size: i64,
    map_type: u64,
    label: Label,
);

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
        let kind = map_type::kind(map_type);
        components.push(Item { base, begin, size: size as usize, kind, label });
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
