//! Who is told that warps wait.
//!
//! A warp that waits for the host gives its turn away (`nanosleep`) and looks again. So when warps
//! have only had turns, they may wait for somebody who does not know yet.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Is called with its own argument; returns soon.
pub type Listener = extern "C" fn(*mut c_void);

struct Node {
    listener: Listener,
    context: *mut c_void,
    next: *const Node,
}

/// Those who are told. They stay as long as the process.
static LISTENERS: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());

/// Has a function called again and again while warps of any device wait.
pub fn when_warps_wait(listener: Listener, context: *mut c_void) {
    let node = Box::into_raw(Box::new(Node { listener, context, next: ptr::null() }));
    let mut head = LISTENERS.load(Ordering::Acquire);
    loop {
        // SAFETY: nobody else has it yet.
        unsafe { (*node).next = head };
        match LISTENERS.compare_exchange(head, node, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return,
            Err(now) => head = now,
        }
    }
}

/// Tells them.
pub(super) fn tell() {
    let mut at: *const Node = LISTENERS.load(Ordering::Acquire);
    // SAFETY: nodes are leaked, and published with release ordering.
    while let Some(node) = unsafe { at.as_ref() } {
        (node.listener)(node.context);
        at = node.next;
    }
}
