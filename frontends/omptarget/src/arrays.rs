//! The argument arrays of a construct, as every function of the ABI passes them.

use crate::abi::KernelArguments;
use gangway_runtime::{Arguments, Label, MapperFunction};

/// Parallel arrays in the caller's memory; `names` and `mappers` may be null.
#[derive(Clone, Copy)]
pub(crate) struct Arrays {
    pub(crate) count: i32,
    pub(crate) bases: *mut usize,
    pub(crate) begins: *mut usize,
    pub(crate) sizes: *mut i64,
    pub(crate) types: *mut u64,
    pub(crate) names: *mut Label,
    pub(crate) mappers: *mut Option<MapperFunction>,
}

impl Arrays {
    /// The arrays of a launch.
    #[inline]
    pub(crate) fn of(kernel: &KernelArguments) -> Self {
        Self {
            count: kernel.count as i32,
            bases: kernel.bases,
            begins: kernel.begins,
            sizes: kernel.sizes,
            types: kernel.types,
            names: kernel.names,
            mappers: kernel.mappers,
        }
    }

    /// The arrays in the runtime's terms; nothing is copied.
    ///
    /// # Safety
    /// They are the compiler's, of one call that lasts as long as the result.
    #[inline]
    pub(crate) unsafe fn arguments<'a>(self) -> Arguments<'a> {
        let count = self.count.max(0) as usize;
        // SAFETY: the caller's promise.
        unsafe {
            Arguments::from_raw(
                count,
                self.bases,
                self.begins,
                self.sizes,
                self.types,
                self.names,
                self.mappers,
            )
        }
    }
}
