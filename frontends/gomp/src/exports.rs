//! The exported functions: which name is which function.
//!
//! `exports.txt` has the names that programs call, with their versions. `libgangway-gomp.so` has
//! these, and jumps to the functions here, which have longer ones: the library that they are in
//! has libomptarget's names, of which some are the same. A test compares the two.

use crate::libgomp::Libgomp;
use crate::{before_gcc_5, data, fortran, register, target, tasks};
use gangway_openmp::{devices, export, memory};

export! {
    prefix "gangway_gomp_";
    noting target: GOMP_target_ext;
    data:
        GOMP_target_data_ext, GOMP_target_end_data, GOMP_target_enter_exit_data, GOMP_target_update_ext;
    before_gcc_5: GOMP_target, GOMP_target_data, GOMP_target_update;
    memory:
        omp_target_alloc<Libgomp>, omp_target_free<Libgomp>,
        omp_target_memcpy<Libgomp>, omp_target_memcpy_rect<Libgomp>,
        omp_target_associate_ptr<Libgomp>, omp_target_disassociate_ptr<Libgomp>;
}

export! {
    prefix "gangway_gomp_";
    register: GOMP_offload_register_ver, GOMP_offload_unregister_ver;
    before_gcc_5: GOMP_offload_register, GOMP_offload_unregister;
    tasks: GOMP_task, GOMP_taskwait, GOMP_taskwait_depend, GOMP_taskgroup_end, GOMP_barrier;
    devices: omp_get_num_devices<Libgomp>, omp_get_initial_device<Libgomp>, omp_get_device_num<Libgomp>;
    fortran: omp_get_num_devices_, omp_get_initial_device_, omp_get_device_num_;
    memory: omp_target_is_present<Libgomp>;
}
