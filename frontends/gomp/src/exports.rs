//! The exported functions: which name is which function.
//!
//! `exports.txt` is what the linker takes, with the versions of the names; a test compares
//! the two.

use crate::libgomp::Libgomp;
use crate::{data, fortran, register, target};
use gangway_openmp::{devices, export, memory};

export! {
    noting target: GOMP_target_ext, GOMP_target;
    data:
        GOMP_target_data_ext, GOMP_target_data, GOMP_target_end_data, GOMP_target_enter_exit_data,
        GOMP_target_update_ext, GOMP_target_update;
    memory:
        omp_target_alloc<Libgomp>, omp_target_free<Libgomp>,
        omp_target_memcpy<Libgomp>, omp_target_memcpy_rect<Libgomp>,
        omp_target_associate_ptr<Libgomp>, omp_target_disassociate_ptr<Libgomp>;
}

export! {
    register:
        GOMP_offload_register_ver, GOMP_offload_unregister_ver,
        GOMP_offload_register, GOMP_offload_unregister;
    devices: omp_get_num_devices<Libgomp>, omp_get_initial_device<Libgomp>, omp_get_device_num<Libgomp>;
    fortran: omp_get_num_devices_, omp_get_initial_device_, omp_get_device_num_;
    memory: omp_target_is_present<Libgomp>;
}
