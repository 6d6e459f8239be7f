//! Functions whose addresses stand in a table of an image.

use crate::device::CallingDevice;
use gangway_backend::{Error as BackendError, Module, Stream};
use std::collections::BTreeMap;
use std::ffi::CStr;

/// Functions whose device addresses stand in a table of the image, in the order of the host's.
#[derive(Debug, Clone)]
pub struct FunctionTable {
    /// The table.
    pub symbol: &'static CStr,
    /// Host addresses.
    pub host: Vec<usize>,
}

impl FunctionTable {
    /// The table of an image that has been loaded: host addresses by device address, without the
    /// null ones.
    ///
    /// # Errors
    /// The image has no such table, or it cannot be read.
    pub fn read(
        &self,
        device: &dyn CallingDevice,
        module: &dyn Module,
    ) -> Result<BTreeMap<u64, usize>, BackendError> {
        let mut words = vec![0_u64; self.host.len()];
        let size = size_of_val(&*words);
        if size == 0 {
            return Ok(BTreeMap::new());
        }
        let from = module.global(&self.symbol.to_string_lossy(), size)?;
        let to = words.as_mut_ptr().cast();
        // SAFETY: the back end says that as many bytes stand there; the words outlive the copy.
        let mut copy = |stream: &dyn Stream| unsafe { stream.copy_from_device(to, from, size) };
        device.run_at_once(&mut copy)?;
        Ok(words.into_iter().zip(self.host.iter().copied()).filter(|(address, _)| *address != 0).collect())
    }
}
