//! What front ends ask about kernels and devices, where the launch is theirs to shape.

use super::Runtime;
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::events::Site;
use crate::shape::{GivenGroupMemory, Shape};
use gangway_backend::{
    Kernel, KernelLimits, KernelResources, LaunchShape, Occupancy, Properties, SourceText,
};

/// A region's kernel on a device.
pub struct KernelQuestions<'r> {
    device: &'static Device,
    kernel: &'r Kernel,
    /// Its symbol.
    pub name: &'static str,
    /// What a launch of it may ask for.
    pub limits: KernelLimits,
}

impl Runtime {
    /// The kernel of the region at a host address.
    ///
    /// # Errors
    /// There is no such region, or no kernel of it for the device.
    pub fn questions_about(
        &self,
        device: &'static Device,
        host: usize,
        site: &Site,
    ) -> Result<KernelQuestions<'_>> {
        let (region, kernel) = self.region(device, host, site)?;
        Ok(KernelQuestions { device, kernel, name: region.name, limits: kernel.limits })
    }
}

impl KernelQuestions<'_> {
    /// What it takes of the device, as far as that says it.
    #[must_use]
    pub fn resources(&self) -> KernelResources {
        self.kernel.resources
    }

    /// The dimensions that a launch asking for this shape gets.
    ///
    /// # Errors
    /// The device cannot be used.
    pub fn launch_shape(&self, asked: &Shape) -> Result<LaunchShape> {
        let group_memory = GivenGroupMemory { dynamic: asked.dynamic_group_memory, replaced: None };
        let launch = asked.launch(self.name, self.kernel, group_memory, SourceText::NONE);
        let shape = self.device.open()?.device.launch_shape(&launch);
        Ok(shape.unwrap_or_else(|| launch.asked_shape()))
    }

    /// The launch that keeps the device busiest, with teams of `most_threads` threads at most
    /// (0: as many as it can have). `None`: the device does not say.
    ///
    /// # Errors
    /// What the driver says.
    pub fn occupancy(&self, most_threads: u32) -> Result<Option<Occupancy>> {
        match self.device.open()?.device.occupancy(self.kernel, most_threads) {
            Ok(occupancy) => Ok(Some(occupancy)),
            Err(gangway_backend::Error::Unsupported { .. }) => Ok(None),
            Err(error) => Err(Error::new(ErrorKind::Backend(error), self.device.number(), None)),
        }
    }
}

/// What programs ask about a device, which is opened for it; `None` if it does not say.
///
/// # Errors
/// It cannot be opened.
pub fn properties(device: &'static Device) -> Result<Option<Properties>> {
    Ok(device.open()?.device.properties())
}
