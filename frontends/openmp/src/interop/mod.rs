//! Interoperability objects (OpenMP 6.0 chapter 16 and the interoperability
//! routines): a program gets hold of the foreign runtime under a device, and of a
//! stream of it that OpenMP waits for where the program says so.
//!
//! A device whose back end has no foreign runtime gives `omp_interop_none`, as the
//! stock library does for the host's processors.

mod construct;
mod object;
mod property;

pub use construct::{Wanted, add_completion, destroy, get, use_object};
pub(crate) use object::hold;
pub use object::{Completion, Interop, Kind, synchronize_implicit};
pub use property::{
    NO_VALUE, OTHER, OUT_OF_RANGE, SUCCESS, TYPE_INT, name, omp_get_interop_int, omp_get_interop_name,
    omp_get_interop_ptr, omp_get_interop_str, omp_get_interop_type_desc,
};
