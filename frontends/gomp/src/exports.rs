//! The exported functions: which name is which function.
//!
//! `exports.txt` has the names that programs call, with their versions. `libgangway-gomp.so` has
//! these, and jumps to the functions here, which have longer ones: the library that they are in
//! has libomptarget's names, of which some are the same. A test compares the two.

use crate::libgomp::Libgomp;
use crate::openacc::variadic::export_variadic;
use crate::openacc::{compute, data as acc_data_constructs, fortran as acc_fortran};
use crate::{before_gcc_5, data, fortran, interop, register, target, tasks};
use gangway_frontend::export;
use gangway_openacc::data as acc_data;
use gangway_openacc::{
    device as acc_device, interop as acc_interop, memory as acc_memory, present as acc_present, profiling,
    property as acc_property, shutdown as acc_end, waits as acc_waits,
};
use gangway_openmp::{asynchronous, devices, memory};

export! {
    prefix "gangway_gomp_";
    noting target: GOMP_target_ext;
    data:
        GOMP_target_data_ext, GOMP_target_end_data, GOMP_target_enter_exit_data, GOMP_target_update_ext;
    before_gcc_5: GOMP_target, GOMP_target_data, GOMP_target_update;
    memory:
        omp_target_alloc<Libgomp>, omp_target_free<Libgomp>,
        omp_target_memcpy<Libgomp>, omp_target_memcpy_rect<Libgomp>, omp_target_memset<Libgomp>,
        omp_target_associate_ptr<Libgomp>, omp_target_disassociate_ptr<Libgomp>;
    asynchronous:
        omp_target_memcpy_async<Libgomp>, omp_target_memcpy_rect_async<Libgomp>,
        omp_target_memset_async<Libgomp>;
    interop: GOMP_interop;
}

export! {
    prefix "gangway_gomp_";
    register: GOMP_offload_register_ver, GOMP_offload_unregister_ver;
    before_gcc_5: GOMP_offload_register, GOMP_offload_unregister;
    tasks:
        GOMP_task, GOMP_taskwait, GOMP_taskwait_depend, GOMP_taskwait_depend_nowait, GOMP_taskgroup_end,
        GOMP_barrier;
    devices:
        omp_get_num_devices<Libgomp>, omp_get_initial_device<Libgomp>, omp_get_device_num<Libgomp>,
        omp_get_uid_from_device<Libgomp>, omp_get_device_from_uid<Libgomp>;
    fortran:
        omp_get_num_devices_, omp_get_initial_device_, omp_get_device_num_,
        omp_get_uid_from_device_, omp_get_uid_from_device_8_, omp_get_device_from_uid_,
        omp_get_interop_str_, omp_get_interop_name_, omp_get_interop_type_desc_, omp_get_interop_rc_desc_;
    memory:
        omp_target_is_present<Libgomp>, omp_target_is_accessible<Libgomp>, omp_get_mapped_ptr<Libgomp>;
    interop:
        omp_get_num_interop_properties, omp_get_interop_int, omp_get_interop_ptr, omp_get_interop_str,
        omp_get_interop_name, omp_get_interop_type_desc, omp_get_interop_rc_desc;
}

export_variadic! {
    prefix "gangway_gomp_";
    compute: GOACC_parallel_keyed;
    acc_data_constructs:
        GOACC_enter_data, GOACC_exit_data, GOACC_enter_exit_data, GOACC_update, GOACC_wait;
}

export! {
    prefix "gangway_gomp_";
    noting acc_data_constructs: GOACC_data_start, GOACC_data_end, GOACC_declare;
    acc_data:
        acc_create<Libgomp>, acc_create_async<Libgomp>, acc_copyin<Libgomp>, acc_copyin_async<Libgomp>,
        acc_delete<Libgomp>, acc_delete_async<Libgomp>,
        acc_delete_finalize<Libgomp>, acc_delete_finalize_async<Libgomp>,
        acc_copyout<Libgomp>, acc_copyout_async<Libgomp>,
        acc_copyout_finalize<Libgomp>, acc_copyout_finalize_async<Libgomp>,
        acc_update_device<Libgomp>, acc_update_device_async<Libgomp>,
        acc_update_self<Libgomp>, acc_update_self_async<Libgomp>,
        acc_present_or_create<Libgomp>, acc_pcreate<Libgomp>,
        acc_present_or_copyin<Libgomp>, acc_pcopyin<Libgomp>,
        acc_attach<Libgomp>, acc_attach_async<Libgomp>, acc_detach<Libgomp>, acc_detach_async<Libgomp>,
        acc_detach_finalize<Libgomp>, acc_detach_finalize_async<Libgomp>;
    acc_memory:
        acc_malloc<Libgomp>, acc_free<Libgomp>,
        acc_memcpy_to_device<Libgomp>, acc_memcpy_to_device_async<Libgomp>,
        acc_memcpy_from_device<Libgomp>, acc_memcpy_from_device_async<Libgomp>,
        acc_memcpy_device<Libgomp>, acc_memcpy_device_async<Libgomp>;
    acc_present: acc_map_data<Libgomp>, acc_unmap_data<Libgomp>;
    acc_fortran:
        acc_copyin_32_h_, acc_copyin_64_h_, acc_copyin_array_h_,
        acc_present_or_copyin_32_h_, acc_present_or_copyin_64_h_, acc_present_or_copyin_array_h_,
        acc_create_32_h_, acc_create_64_h_, acc_create_array_h_,
        acc_present_or_create_32_h_, acc_present_or_create_64_h_, acc_present_or_create_array_h_,
        acc_copyout_32_h_, acc_copyout_64_h_, acc_copyout_array_h_,
        acc_copyout_finalize_32_h_, acc_copyout_finalize_64_h_, acc_copyout_finalize_array_h_,
        acc_delete_32_h_, acc_delete_64_h_, acc_delete_array_h_,
        acc_delete_finalize_32_h_, acc_delete_finalize_64_h_, acc_delete_finalize_array_h_,
        acc_update_device_32_h_, acc_update_device_64_h_, acc_update_device_array_h_,
        acc_update_self_32_h_, acc_update_self_64_h_, acc_update_self_array_h_,
        acc_copyin_async_32_h_, acc_copyin_async_64_h_, acc_copyin_async_array_h_,
        acc_create_async_32_h_, acc_create_async_64_h_, acc_create_async_array_h_,
        acc_copyout_async_32_h_, acc_copyout_async_64_h_, acc_copyout_async_array_h_,
        acc_delete_async_32_h_, acc_delete_async_64_h_, acc_delete_async_array_h_,
        acc_copyout_finalize_async_32_h_, acc_copyout_finalize_async_64_h_,
        acc_copyout_finalize_async_array_h_,
        acc_delete_finalize_async_32_h_, acc_delete_finalize_async_64_h_,
        acc_delete_finalize_async_array_h_,
        acc_update_device_async_32_h_, acc_update_device_async_64_h_, acc_update_device_async_array_h_,
        acc_update_self_async_32_h_, acc_update_self_async_64_h_, acc_update_self_async_array_h_;
}

export! {
    prefix "gangway_gomp_";
    compute: GOACC_parallel;
    acc_data_constructs: GOACC_get_num_threads, GOACC_get_thread_num;
    acc_device:
        acc_init<Libgomp>, acc_get_num_devices<Libgomp>,
        acc_set_device_type<Libgomp>, acc_get_device_type<Libgomp>,
        acc_set_device_num<Libgomp>, acc_get_device_num<Libgomp>, acc_on_device;
    acc_end: acc_shutdown<Libgomp>;
    acc_waits:
        acc_async_test<Libgomp>, acc_async_test_all<Libgomp>, acc_wait<Libgomp>, acc_async_wait<Libgomp>, acc_wait_all,
        acc_async_wait_all, acc_wait_async<Libgomp>, acc_wait_all_async<Libgomp>;
    acc_present: acc_deviceptr<Libgomp>, acc_hostptr<Libgomp>, acc_is_present<Libgomp>;
    acc_property: acc_get_property<Libgomp>, acc_get_property_string<Libgomp>;
    acc_interop:
        acc_get_current_cuda_device, acc_get_current_cuda_context,
        acc_get_cuda_stream, acc_set_cuda_stream<Libgomp>;
    profiling: acc_prof_register<Libgomp>, acc_prof_unregister, acc_prof_lookup, acc_register_library;
    acc_fortran:
        acc_is_present_32_h_, acc_is_present_64_h_, acc_is_present_array_h_,
        acc_init_h_, acc_shutdown_h_, acc_get_num_devices_h_, acc_set_device_type_h_,
        acc_get_device_type_h_, acc_set_device_num_h_, acc_get_device_num_h_, acc_on_device_h_,
        acc_async_test_h_, acc_async_test_all_h_, acc_wait_h_, acc_wait_all_h_, acc_wait_async_h_,
        acc_wait_all_async_h_, acc_get_property_h_, acc_get_property_string_h_;
}
