//! An image on a device, as those see it who tell it about its device.

use gangway_backend::Result;

/// What a back end does with an image that it has loaded, and with the device's memory meanwhile.
/// Called when images are loaded and kernels looked up, never by a launch.
pub trait LoadedImage {
    /// Looks a variable up: its device address and its size, if there is one.
    ///
    /// # Errors
    /// The driver fails.
    fn variable(&self, name: &str) -> Result<Option<(u64, usize)>>;

    /// Reads memory of a variable at once.
    ///
    /// # Errors
    /// The driver fails.
    fn read(&self, to: &mut [u8], from: u64) -> Result<()>;

    /// Writes memory of a variable, or what [`allocate`](Self::allocate) gave, at once.
    ///
    /// # Errors
    /// The driver fails.
    fn write(&self, to: u64, from: &[u8]) -> Result<()>;

    /// Allocates device memory for as long as the image is loaded.
    ///
    /// # Errors
    /// There is none left, or the driver fails.
    fn allocate(&self, bytes: usize) -> Result<u64>;

    /// Frees what [`allocate`](Self::allocate) gave; a failure has nobody to be told to.
    fn free(&self, address: u64);
}

/// Puts a table into memory of its own, and then `lead` leads the device code to it: its address.
pub(crate) fn place_table<I: LoadedImage>(
    image: &I,
    table: &[u8],
    lead: impl FnOnce(u64) -> Result<()>,
) -> Result<u64> {
    let address = image.allocate(table.len())?;
    if let Err(error) = image.write(address, table).and_then(|()| lead(address)) {
        image.free(address);
        return Err(error);
    }
    Ok(address)
}

/// An image in ordinary memory, for tests.
#[cfg(test)]
#[derive(Debug, Default)]
pub(crate) struct TestImage {
    variables: std::collections::BTreeMap<&'static str, (u64, usize)>,
    blocks: std::cell::RefCell<std::collections::BTreeMap<u64, Vec<u8>>>,
}

#[cfg(test)]
impl TestImage {
    /// An image with variables of these sizes, all zero.
    pub fn with(variables: &[(&'static str, usize)]) -> Self {
        let mut image = Self::default();
        for &(name, size) in variables {
            image.variables.insert(name, (image.allocate(size).unwrap(), size));
        }
        image
    }

    /// The words of a variable, or of a table.
    pub fn words(&self, address: u64) -> Vec<u64> {
        let blocks = self.blocks.borrow();
        blocks[&address].chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
    }

    /// How many blocks there are, variables included.
    pub fn blocks(&self) -> usize {
        self.blocks.borrow().len()
    }
}

#[cfg(test)]
impl LoadedImage for TestImage {
    fn variable(&self, name: &str) -> Result<Option<(u64, usize)>> {
        Ok(self.variables.get(name).copied())
    }

    fn read(&self, to: &mut [u8], from: u64) -> Result<()> {
        to.copy_from_slice(&self.blocks.borrow()[&from][..to.len()]);
        Ok(())
    }

    /// Refuses what does not fit.
    fn write(&self, to: u64, from: &[u8]) -> Result<()> {
        let mut blocks = self.blocks.borrow_mut();
        let (begin, block) = blocks.range_mut(..=to).next_back().unwrap();
        let at = (to - begin) as usize;
        let place = block.get_mut(at..at + from.len());
        let place =
            place.ok_or(gangway_backend::Error::Unsupported { operation: "writes behind a block" })?;
        place.copy_from_slice(from);
        Ok(())
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        let mut blocks = self.blocks.borrow_mut();
        let address = (blocks.len() as u64 + 1) << 20;
        blocks.insert(address, vec![0; bytes]);
        Ok(address)
    }

    fn free(&self, address: u64) {
        self.blocks.borrow_mut().remove(&address);
    }
}
