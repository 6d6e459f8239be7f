//! The kernels of an image of GCC's, and how each is launched.
//!
//! They get one pointer to a table of addresses. OpenMP's get, besides, a block of memory with a
//! stack for each warp of each team ("soft stacks"), and the size of a stack. The layouts and names
//! are those of `libgomp`'s plugin for nvptx in GCC 12 to 16.

use gangway_backend::{Error, Result};
use gangway_image::{ptx, ptx_objects};
use std::collections::BTreeMap;

/// Since GCC 14: the dynamic shared memory of OpenMP's kernels, from which `omp_low_lat_mem_space` is
/// allocated. The device code takes it as large as the launch makes it.
const LOW_LATENCY_POOL: &[u8] = b"__nvptx_lowlat_pool";
/// Bytes of it, unless the variable says otherwise.
const LOW_LATENCY_SIZE: u32 = 8 << 10;
/// libgomp's variable for them.
const LOW_LATENCY_VARIABLE: &str = "GOMP_NVPTX_LOWLAT_POOL";
/// How a kernel of GCC's is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
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
#[must_use]
pub fn is_gcc(image: &[u8]) -> bool {
    ptx_objects::is_ptx_objects(image)
}

/// The kernels of an image of GCC's.
#[derive(Debug, Default)]
pub struct Entries {
    parameters: BTreeMap<Box<str>, usize>,
    /// Bytes of dynamic shared memory that OpenMP's kernels have.
    pool: u32,
}

impl Entries {
    /// Those of an image; none if it is not GCC's.
    #[must_use]
    pub fn of(image: &[u8]) -> Self {
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
    #[must_use]
    pub fn shared_memory(&self, entry: Option<Entry>) -> u32 {
        if entry == Some(Entry::OpenMp) { self.pool } else { 0 }
    }

    /// What runs the constructors of variables, if there are any.
    #[must_use]
    pub fn constructors(&self) -> Option<&str> {
        self.initialiser(CONSTRUCTORS)
    }

    /// What runs the destructors of variables, if there are any.
    #[must_use]
    pub fn destructors(&self) -> Option<&str> {
        self.initialiser(DESTRUCTORS)
    }

    fn initialiser(&self, symbol: &str) -> Option<&str> {
        let is_one = |name: &str| matches!(name.strip_prefix(symbol), Some("" | WITH_STACK));
        self.parameters.keys().map(|name| &**name).find(|name| is_one(name))
    }

    /// How a kernel is launched; `None` if it is not one of GCC's.
    ///
    /// # Errors
    /// It is one in a form that is not known.
    pub fn entry(&self, name: &str) -> Result<Option<Entry>> {
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
