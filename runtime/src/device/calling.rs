//! What host calls ask of a device.

use super::Device;
use gangway_backend::{DevicePtr, Error as BackendError, Stream};
use gangway_host_calls::CallingDevice;

impl CallingDevice for Device {
    fn number(&self) -> i32 {
        self.number
    }

    fn opened(&self) -> Option<&dyn gangway_backend::Device> {
        self.opened_if_usable().map(|opened| &*opened.device)
    }

    fn calls_under_way(&self) -> Vec<String> {
        self.opened_if_usable().map(|opened| opened.host_calls.under_way()).unwrap_or_default()
    }

    fn run_at_once(
        &self,
        operation: &mut dyn FnMut(&dyn Stream) -> Result<(), BackendError>,
    ) -> Result<(), BackendError> {
        let unusable = || BackendError::Device { code: 0, message: "the device is not open".to_owned() };
        self.at_once(self.opened_if_usable().ok_or_else(unusable)?, operation)
    }

    fn allocate(&self, bytes: usize, alignment: usize) -> Option<DevicePtr> {
        let opened = self.opened_if_usable()?;
        opened.heap.allocate(self, opened, bytes, alignment)
    }

    fn free(&self, memory: DevicePtr) -> bool {
        self.opened_if_usable().is_some_and(|opened| opened.heap.free(self, opened, memory))
    }
}
