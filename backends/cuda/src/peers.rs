//! Copies from one device to another without the host.

use crate::context::Context;
use crate::driver::types::{Handle, SUCCESS};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The devices of the process that are open, by ordinal.
pub(crate) struct Peers {
    /// Their contexts; null for those that are not.
    contexts: Box<[AtomicUsize]>,
    /// Pairs whose direct access has been asked for.
    asked: Mutex<BTreeSet<(usize, usize)>>,
}

impl Peers {
    /// Of so many devices none is open.
    pub fn new(devices: usize) -> Self {
        Self { contexts: (0..devices).map(|_| AtomicUsize::new(0)).collect(), asked: Mutex::default() }
    }

    /// A device has been opened.
    pub fn opened(&self, ordinal: usize, context: Handle) {
        if let Some(slot) = self.contexts.get(ordinal) {
            slot.store(context, Ordering::Release);
        }
    }

    /// A device is about to be closed.
    pub fn closed(&self, ordinal: usize) {
        self.opened(ordinal, 0);
    }

    /// The context of another device, if it is open. The first time, the two are told to
    /// reach each other directly if they can; otherwise the driver goes through the host.
    pub fn reach(&self, context: &Context, from: usize, to: usize) -> Option<Handle> {
        let peer = self.contexts.get(to)?.load(Ordering::Acquire);
        if peer == 0 {
            return None;
        }
        if self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert((from, to)) {
            let (mut can, to) = (0, i32::try_from(to).unwrap_or(0));
            let answer = &raw mut can;
            // SAFETY: the driver writes one number.
            let code = context
                .code_within(|api| unsafe { (api.device_can_access_peer)(answer, context.device, to) });
            if code == SUCCESS && can != 0 {
                // SAFETY: both contexts are retained. Without direct access it is only slower.
                let _ = context.code_within(|api| unsafe { (api.context_enable_peer_access)(peer, 0) });
            }
        }
        Some(peer)
    }
}
