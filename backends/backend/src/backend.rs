//! One type of device: which images it can run, how many devices there are, and how one is opened.

use crate::device::Device;
use crate::error::Result;
use crate::host_watch::HostWatcher;

/// One type of device.
pub trait Backend: Send + Sync {
    /// Short lower-case name, as in `GANGWAY_DEVICE` and `libgangway-rtl-<name>.so`.
    fn name(&self) -> &str;

    /// Whether an image could run on a device of this type. Cheap, and must not
    /// initialise a driver: it is asked at program start for every image.
    fn recognises(&self, image: &[u8]) -> bool;

    /// Number of devices of this type. The first call may look for hardware;
    /// later calls answer the same. Absent hardware is 0, not an error.
    fn device_count(&self) -> usize;

    /// Why [`device_count`](Self::device_count) is 0, in words for `gangway info`.
    fn why_absent(&self) -> Option<String> {
        None
    }

    /// One line for each setting in the environment that was not understood, for others to print: a
    /// back end never does.
    fn warnings(&self) -> &[String] {
        &[]
    }

    /// Opens device `ordinal` (below `device_count`), when it is first used. Called once
    /// per device, but for a thread that has waited for another's call for long: then
    /// the device that comes second is dropped unused.
    ///
    /// # Errors
    /// The device cannot be initialised.
    fn open(&self, ordinal: usize) -> Result<Box<dyn Device>>;

    /// Called in the child of a fork, on its only thread, before anything else: whether
    /// devices that were open before can be used there. A back end that says so has put
    /// its own state in order. It must not wait for other threads, which are gone.
    fn survives_fork(&self) -> bool {
        false
    }

    /// The program requires unified shared memory (OpenMP 6.0 section 10.5.1.6), called before a
    /// device is opened: one that can have it and has it on request only has it from now on.
    fn require_unified_memory(&self) {}

    /// Who of the back end wants to hear of what the program's own threads do. Only asked where the user looks for races.
    fn host_watcher(&self) -> Option<&dyn HostWatcher> {
        None
    }

    /// A name that stays the same across runs (OpenMP 6.0, `omp_get_uid_from_device`).
    fn unique_id(&self, ordinal: usize) -> String {
        format!("gangway-{}-{ordinal}", self.name())
    }
}
