//! What GCC's device code for nvptx wants of whoever loads and launches it.
//!
//! Its kernels get one pointer to a table of addresses. OpenMP's get, besides, a block of
//! memory with a stack for each warp of each team ("soft stacks"), and the size of a stack.
//! The layouts and names are those of `libgomp`'s plugin for nvptx in GCC 12 to 16.

use crate::context::Context;
use crate::driver::types::{Address, Handle};
use crate::properties::Properties;
use crate::symbol::{allocate_now, free_now, global, write_now};
use gangway_backend::{DeviceControls, Error, Result};
use gangway_image::{ptx, ptx_objects};
use std::collections::BTreeMap;

/// Symbol of the number that the device has on the host, until GCC 12.
const DEVICE_NUMBER: &str = "__gomp_device_num";
/// Since GCC 13: four numbers, which are the device's, the default device's, and how many teams
/// and threads of a team there are at most. 0 is no limit.
const ADDITIONAL_ICVS: &str = "__gomp_additional_icvs";
/// Since GCC 14: what leads to a table of functions, each with its host and device addresses, which
/// a null ends.
const INDIRECT_TABLE: &str = "__gomp_indirect_addr_map";
/// Since GCC 14: the dynamic shared memory of OpenMP's kernels, from which `omp_low_lat_mem_space` is
/// allocated. The device code takes it as large as the launch makes it.
const LOW_LATENCY_POOL: &[u8] = b"__nvptx_lowlat_pool";
/// Bytes of it, unless the variable says otherwise.
const LOW_LATENCY_SIZE: u32 = 8 << 10;
/// libgomp's variable for them.
const LOW_LATENCY_VARIABLE: &str = "GOMP_NVPTX_LOWLAT_POOL";
/// Symbol of the seconds that one tick of the device's clock takes.
const CLOCK_TICK: &str = "__nvptx_clocktick";

/// How a kernel of GCC's is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// OpenMP: a table, soft stacks, the size of a stack.
    OpenMp,
    /// OpenACC: a table.
    OpenAcc,
    /// Constructors or destructors of variables, for one thread, since GCC 15: the end of its stack, if
    /// the code is OpenMP's.
    Initialiser { stack: bool },
}

/// Symbols of what runs constructors and destructors; OpenMP's have [`WITH_STACK`] behind them.
const CONSTRUCTORS: &str = "__do_global_ctors__entry";
const DESTRUCTORS: &str = "__do_global_dtors__entry";
const WITH_STACK: &str = "__mgomp";

/// Whether an image is a program's of GCC.
pub(crate) fn is_gcc(image: &[u8]) -> bool {
    ptx_objects::is_ptx_objects(image)
}

/// The kernels of an image of GCC's.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    parameters: BTreeMap<Box<str>, usize>,
    /// Bytes of dynamic shared memory that OpenMP's kernels have.
    pool: u32,
}

impl Entries {
    /// Those of an image; none if it is not GCC's.
    pub(crate) fn of(image: &[u8]) -> Self {
        if !is_gcc(image) {
            return Self::default();
        }
        let texts = ptx_objects::texts(image).unwrap_or_default();
        let has_pool =
            |text: &&[u8]| text.windows(LOW_LATENCY_POOL.len()).any(|part| part == LOW_LATENCY_POOL);
        let pool = if texts.iter().any(has_pool) { low_latency_size() } else { 0 };
        let kernels = texts.into_iter().flat_map(ptx::kernel_parameters);
        Self { parameters: kernels.map(|(name, parameters)| (name.into(), parameters)).collect(), pool }
    }

    /// Bytes of dynamic shared memory that a launch has for the code of the image.
    pub(crate) fn shared_memory(&self, entry: Option<Entry>) -> u32 {
        if entry == Some(Entry::OpenMp) { self.pool } else { 0 }
    }

    /// What runs the constructors of variables, if there are any.
    pub(crate) fn constructors(&self) -> Option<&str> {
        self.initialiser(CONSTRUCTORS)
    }

    /// What runs the destructors of variables, if there are any.
    pub(crate) fn destructors(&self) -> Option<&str> {
        self.initialiser(DESTRUCTORS)
    }

    fn initialiser(&self, symbol: &str) -> Option<&str> {
        let is_one = |name: &str| matches!(name.strip_prefix(symbol), Some("" | WITH_STACK));
        self.parameters.keys().map(|name| &**name).find(|name| is_one(name))
    }

    /// How a kernel is launched; `None` if it is not one of GCC's.
    pub(crate) fn entry(&self, name: &str) -> Result<Option<Entry>> {
        if [self.constructors(), self.destructors()].contains(&Some(name)) {
            return Ok(Some(Entry::Initialiser { stack: name.ends_with(WITH_STACK) }));
        }
        match self.parameters.get(name) {
            None => Ok(None),
            Some(1) => Ok(Some(Entry::OpenAcc)),
            Some(3) => Ok(Some(Entry::OpenMp)),
            Some(other) => Err(Error::InvalidImage {
                reason: format!(
                    "kernel `{name}` has {other} parameters, expected 1 (OpenACC) or 3 (OpenMP): \
                     it is not of GCC 16 or older"
                ),
            }),
        }
    }
}

/// Bytes of the pool as the environment has them; what is no number is as if it were not there.
fn low_latency_size() -> u32 {
    let said = std::env::var(LOW_LATENCY_VARIABLE).ok();
    said.and_then(|text| text.trim().parse().ok()).unwrap_or(LOW_LATENCY_SIZE)
}

/// Tells GCC's device libraries about their device, as far as an image has them.
pub(crate) fn describe_device(
    context: &Context,
    properties: &Properties,
    module: Handle,
    number: u32,
) -> Result<()> {
    write_variable(context, module, DEVICE_NUMBER, &number.to_le_bytes())?;
    let DeviceControls { default_device, teams, thread_limit } =
        DeviceControls::of(number, |name| std::env::var(name).ok());
    let icvs = [number, default_device, teams, thread_limit].map(u32::to_le_bytes).concat();
    write_variable(context, module, ADDITIONAL_ICVS, &icvs)?;
    let tick = 1.0 / properties.clock_frequency.max(1) as f64;
    write_variable(context, module, CLOCK_TICK, &tick.to_le_bytes())
}

/// Writes a table of functions that are called by their host addresses; `None` if the image's code
/// calls none.
pub(crate) fn write_indirect_table(
    context: &Context,
    module: Handle,
    pairs: impl Iterator<Item = [u64; 2]>,
) -> Result<Option<Address>> {
    let Some((pointer, size)) = global(context, module, INDIRECT_TABLE)? else { return Ok(None) };
    if size != size_of::<Address>() {
        let reason = format!("`{INDIRECT_TABLE}` has {size} bytes, expected {}", size_of::<Address>());
        return Err(Error::InvalidImage { reason });
    }
    let bytes: Vec<u8> = pairs.flatten().chain([0]).flat_map(u64::to_le_bytes).collect();
    let table = allocate_now(context, bytes.len())?;
    let written =
        write_now(context, table, &bytes).and_then(|()| write_now(context, pointer, &table.to_le_bytes()));
    if let Err(error) = written {
        free_now(context, table);
        return Err(error);
    }
    Ok(Some(table))
}

fn write_variable(context: &Context, module: Handle, name: &str, value: &[u8]) -> Result<()> {
    match global(context, module, name)? {
        None => Ok(()),
        Some((address, size)) if size == value.len() => write_now(context, address, value),
        Some((_, size)) => {
            let reason = format!("`{name}` has {size} bytes, expected {}", value.len());
            Err(Error::InvalidImage { reason })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_told_apart_by_their_parameters() {
        let text = b".version 6.0\n.target sm_30\n\
            .visible .entry omp (.param .u64 %arg, .param .u64 %stack, .param .u64 %sz)\n{ ret; }\n\
            .visible .entry acc (.param .u64 %in_ar0)\n{ ret; }\n.visible .entry other ()\n{ ret; }\n";
        let entries = Entries::of(&ptx_objects::joined(&[text]));
        assert_eq!(entries.entry("omp").unwrap(), Some(Entry::OpenMp));
        assert_eq!(entries.entry("acc").unwrap(), Some(Entry::OpenAcc));
        assert_eq!(entries.entry("none").unwrap(), None);
        assert!(matches!(entries.entry("other"), Err(Error::InvalidImage { .. })));
        assert_eq!(Entries::of(text).entry("omp").unwrap(), None);
        assert_eq!((entries.constructors(), entries.destructors()), (None, None));
    }

    #[test]
    fn openmp_kernels_have_a_pool_if_the_image_knows_one() {
        let kernel = b".version 6.0\n.target sm_30\n\
            .visible .entry omp (.param .u64 %arg, .param .u64 %stack, .param .u64 %sz)\n{ ret; }\n";
        let library = b".version 6.0\n.target sm_30\n.extern .shared .u8 __nvptx_lowlat_pool[];\n";
        let entries = Entries::of(&ptx_objects::joined(&[kernel, library]));
        assert_eq!(entries.shared_memory(Some(Entry::OpenMp)), LOW_LATENCY_SIZE);
        assert_eq!(entries.shared_memory(Some(Entry::OpenAcc)), 0);
        assert_eq!(entries.shared_memory(None), 0);
        // Until GCC 13 there is none.
        let entries = Entries::of(&ptx_objects::joined(&[kernel]));
        assert_eq!(entries.shared_memory(Some(Entry::OpenMp)), 0);
    }

    #[test]
    fn constructors_and_destructors_are_known_by_name() {
        let text = b".version 7.3\n.target sm_52\n\
            .visible .entry __do_global_ctors__entry__mgomp (.param .u64 %in_ar0)\n{ ret; }\n\
            .visible .entry __do_global_dtors__entry\n{ ret; }\n";
        let entries = Entries::of(&ptx_objects::joined(&[text]));
        let [load, unload] = [entries.constructors(), entries.destructors()].map(Option::unwrap);
        assert_eq!((load, unload), ("__do_global_ctors__entry__mgomp", "__do_global_dtors__entry"));
        let entry = |name| entries.entry(name).unwrap();
        assert_eq!(entry(load), Some(Entry::Initialiser { stack: true }));
        assert_eq!(entry(unload), Some(Entry::Initialiser { stack: false }));
    }
}
