//! What LLVM's device runtime is told when its image is loaded, and what kernels' environments say.

use super::environment::{
    BUFFER_LENGTH, CONFIGURATION_SIZE, Configuration, DEVICE_ENVIRONMENT, DeviceEnvironment, INDIRECT_TABLE,
    KERNEL_ENVIRONMENT,
};
use crate::image::{LoadedImage, place_table};
use gangway_backend::{DevicePtr, Error, Result};

/// Tells the device runtime in an image about its device: where it keeps that, if there is one.
///
/// # Errors
/// The device runtime is another one than is known, or the driver fails.
pub fn describe_device<I: LoadedImage>(image: &I, environment: &DeviceEnvironment) -> Result<Option<u64>> {
    let name = DEVICE_ENVIRONMENT;
    // Images without a device runtime have none.
    let Some((address, size)) = image.variable(name)? else { return Ok(None) };
    if size < size_of::<DeviceEnvironment>() {
        let expected = size_of::<DeviceEnvironment>();
        let reason =
            format!("`{name}` has {size} bytes, expected {expected}: its device runtime is not LLVM 22's");
        return Err(Error::InvalidImage { reason });
    }
    image.write(address, &environment.bytes())?;
    Ok(Some(address))
}

/// Writes a table of functions that are called by their host addresses, for the device runtime
/// whose description of the device is at `environment`: the table's address.
///
/// # Errors
/// There is no memory for it, or the driver fails.
pub fn write_indirect_table<I: LoadedImage>(
    image: &I,
    environment: u64,
    pairs: impl ExactSizeIterator<Item = [u64; 2]>,
) -> Result<u64> {
    let count = pairs.len() as u64;
    let bytes: Vec<u8> = pairs.flatten().flat_map(u64::to_le_bytes).collect();
    place_table(image, &bytes, |table| {
        let fields = [table, count].map(u64::to_le_bytes).concat();
        image.write(environment + INDIRECT_TABLE as u64, &fields)
    })
}

/// Where a kernel's environment is, if it has one, and what it says.
///
/// # Errors
/// It says what is not known, or the driver fails.
pub fn configuration<I: LoadedImage>(image: &I, kernel: &str) -> Result<(Option<DevicePtr>, Configuration)> {
    let symbol = format!("{kernel}{KERNEL_ENVIRONMENT}");
    let Some((address, size)) = image.variable(&symbol)? else {
        return Ok((None, Configuration::BARE));
    };
    let refused = |reason: String| Error::InvalidImage { reason };
    if size < CONFIGURATION_SIZE {
        return Err(refused(format!("`{symbol}` has {size} bytes, expected {CONFIGURATION_SIZE} at least")));
    }
    let mut bytes = [0; BUFFER_LENGTH.end];
    let there = size.min(bytes.len());
    image.read(&mut bytes[..there], address)?;
    let configuration = Configuration::read(&bytes, size)
        .ok_or_else(|| refused(format!("`{symbol}` says execution mode {}, expected 0 to 7", bytes[2])))?;
    Ok((Some(DevicePtr(address as usize)), configuration))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::TestImage;
    use gangway_backend::ExecutionMode;

    const ENVIRONMENT: DeviceEnvironment = DeviceEnvironment {
        debug_kind: 0,
        device_count: 1,
        device_number: 0,
        shared_memory: 0,
        clock_frequency: 5,
        indirect_table: 0,
        indirect_count: 0,
        parallelism: 8,
    };

    #[test]
    fn device_runtimes_are_told_about_their_device() {
        assert_eq!(describe_device(&TestImage::default(), &ENVIRONMENT), Ok(None));
        let image = TestImage::with(&[(DEVICE_ENVIRONMENT, 48)]);
        let at = describe_device(&image, &ENVIRONMENT).unwrap().unwrap();
        assert_eq!(image.words(at), [1 << 32, 0, 5, 0, 0, 8]);
        let pairs = [[1, 2], [3, 4]];
        let table = write_indirect_table(&image, at, pairs.into_iter()).unwrap();
        assert_eq!(
            (image.words(table), image.words(at)),
            (vec![1, 2, 3, 4], vec![1 << 32, 0, 5, table, 2, 8])
        );
    }

    #[test]
    fn older_device_runtimes_are_refused() {
        let image = TestImage::with(&[(DEVICE_ENVIRONMENT, 32)]);
        let reason = "`__omp_rtl_device_environment` has 32 bytes, expected 48: its device runtime is not \
                      LLVM 22's";
        let refused = Err(Error::InvalidImage { reason: reason.to_owned() });
        assert_eq!(describe_device(&image, &ENVIRONMENT), refused);
    }

    #[test]
    fn a_table_that_nothing_leads_to_is_freed() {
        let image = TestImage::with(&[(DEVICE_ENVIRONMENT, 32)]);
        let (at, _) = image.variable(DEVICE_ENVIRONMENT).unwrap().unwrap();
        write_indirect_table(&image, at, [[1, 2]].into_iter()).unwrap_err();
        assert_eq!(image.blocks(), 1);
    }

    #[test]
    fn kernels_have_an_environment_or_none() {
        let image = TestImage::with(&[("k_kernel_environment", 40), ("short_kernel_environment", 8)]);
        assert_eq!(configuration(&image, "other"), Ok((None, Configuration::BARE)));
        let (at, _) = image.variable("k_kernel_environment").unwrap().unwrap();
        image.write(at, &[0, 1, 2]).unwrap();
        let (environment, found) = configuration(&image, "k").unwrap();
        assert_eq!((environment, found.mode), (Some(DevicePtr(at as usize)), ExecutionMode::Spmd));
        image.write(at, &[0, 1, 8]).unwrap();
        for (kernel, why) in [
            ("k", "`k_kernel_environment` says execution mode 8, expected 0 to 7"),
            ("short", "`short_kernel_environment` has 8 bytes, expected 24 at least"),
        ] {
            let refused = Err(Error::InvalidImage { reason: why.to_owned() });
            assert_eq!(configuration(&image, kernel), refused);
        }
    }
}
