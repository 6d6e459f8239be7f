//! Fortran's names of routines that have another one in C. The others are declared there
//! with C's names.

use crate::libgomp::Libgomp;
use gangway_openmp::devices;

/// See [`devices::omp_get_num_devices`].
pub extern "C" fn omp_get_num_devices_() -> i32 {
    devices::omp_get_num_devices::<Libgomp>()
}

/// See [`devices::omp_get_initial_device`].
pub extern "C" fn omp_get_initial_device_() -> i32 {
    devices::omp_get_initial_device::<Libgomp>()
}

/// See [`devices::omp_get_device_num`].
pub extern "C" fn omp_get_device_num_() -> i32 {
    devices::omp_get_device_num::<Libgomp>()
}
