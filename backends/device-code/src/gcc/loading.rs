//! What GCC's device libraries are told when their image is loaded, as far as the image has them.

use crate::image::{LoadedImage, place_table};
use gangway_backend::{DeviceControls, Error, Result};

/// Symbol of the number that the device has on the host, until GCC 12.
const DEVICE_NUMBER: &str = "__gomp_device_num";
/// Since GCC 13: four numbers, which are the device's, the default device's, and how many teams
/// and threads of a team there are at most. 0 is no limit.
const ADDITIONAL_ICVS: &str = "__gomp_additional_icvs";
/// Since GCC 14: what leads to a table of functions, each with its host and device addresses, which
/// a null ends.
const INDIRECT_TABLE: &str = "__gomp_indirect_addr_map";
/// Symbol of the seconds that one tick of the device's clock takes.
const CLOCK_TICK: &str = "__nvptx_clocktick";

/// Tells GCC's device libraries their device's number, and how many ticks its clock has in a second.
///
/// # Errors
/// A variable has another size than is known, or the driver fails.
pub fn describe_device<I: LoadedImage>(image: &I, number: u32, clock_frequency: u64) -> Result<()> {
    write_variable(image, DEVICE_NUMBER, &number.to_le_bytes())?;
    let DeviceControls { default_device, teams, thread_limit } =
        DeviceControls::of(number, |name| std::env::var(name).ok());
    let icvs = [number, default_device, teams, thread_limit].map(u32::to_le_bytes).concat();
    write_variable(image, ADDITIONAL_ICVS, &icvs)?;
    let tick = 1.0 / clock_frequency.max(1) as f64;
    write_variable(image, CLOCK_TICK, &tick.to_le_bytes())
}

/// Writes a table of functions that are called by their host addresses: where it is; `None` if the
/// image's code calls none.
///
/// # Errors
/// The variable for it is another one than is known, or the driver fails.
pub fn write_indirect_table<I: LoadedImage>(
    image: &I,
    pairs: impl Iterator<Item = [u64; 2]>,
) -> Result<Option<u64>> {
    let Some((pointer, size)) = image.variable(INDIRECT_TABLE)? else { return Ok(None) };
    if size != size_of::<u64>() {
        let reason = format!("`{INDIRECT_TABLE}` has {size} bytes, expected {}", size_of::<u64>());
        return Err(Error::InvalidImage { reason });
    }
    let bytes: Vec<u8> = pairs.flatten().chain([0]).flat_map(u64::to_le_bytes).collect();
    place_table(image, &bytes, |table| image.write(pointer, &table.to_le_bytes())).map(Some)
}

fn write_variable<I: LoadedImage>(image: &I, name: &str, value: &[u8]) -> Result<()> {
    match image.variable(name)? {
        None => Ok(()),
        Some((address, size)) if size == value.len() => image.write(address, value),
        Some((_, size)) => {
            let reason = format!("`{name}` has {size} bytes, expected {}", value.len());
            Err(Error::InvalidImage { reason })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::TestImage;

    #[test]
    fn device_libraries_are_told_what_they_ask() {
        describe_device(&TestImage::default(), 3, 1 << 30).unwrap();
        let image = TestImage::with(&[(CLOCK_TICK, 8), (ADDITIONAL_ICVS, 16)]);
        describe_device(&image, 3, 1 << 30).unwrap();
        let at = |name| image.variable(name).unwrap().unwrap().0;
        assert_eq!(image.words(at(CLOCK_TICK)), [(1.0 / f64::from(1 << 30)).to_bits()]);
        assert_eq!(image.words(at(ADDITIONAL_ICVS))[0] as u32, 3);
        let refused = describe_device(&TestImage::with(&[(CLOCK_TICK, 4)]), 3, 1 << 30);
        let reason = "`__nvptx_clocktick` has 4 bytes, expected 8".to_owned();
        assert_eq!(refused, Err(Error::InvalidImage { reason }));
    }

    #[test]
    fn functions_called_by_host_addresses_have_a_table_that_ends() {
        assert_eq!(write_indirect_table(&TestImage::default(), [[1, 2]].into_iter()), Ok(None));
        let image = TestImage::with(&[(INDIRECT_TABLE, 8)]);
        let table = write_indirect_table(&image, [[1, 2]].into_iter()).unwrap().unwrap();
        let (pointer, _) = image.variable(INDIRECT_TABLE).unwrap().unwrap();
        assert_eq!((image.words(table), image.words(pointer)), (vec![1, 2, 0], vec![table]));
        let refused = write_indirect_table(&TestImage::with(&[(INDIRECT_TABLE, 16)]), [[1, 2]].into_iter());
        let reason = "`__gomp_indirect_addr_map` has 16 bytes, expected 8".to_owned();
        assert_eq!(refused, Err(Error::InvalidImage { reason }));
    }
}
