//! What a thread is doing inside a device image.
//!
//! A launch notes it on its thread, where the crash report finds it.

use gangway_backend::Launch;

/// What a thread is doing, and on which device.
pub(crate) struct Activity<'a> {
    /// Ordinal of the device.
    pub device: usize,
    pub kind: ActivityKind<'a>,
}

pub(crate) enum ActivityKind<'a> {
    /// Running this kernel.
    Kernel(&'a Launch<'a>),
    /// Running the image's initialisers.
    Loading,
    /// Running the image's finalisers.
    Unloading,
}
