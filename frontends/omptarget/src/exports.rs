//! The exported functions: which name is which function.
//!
//! `exports.txt` is what the linker takes, and a test compares the two.

use crate::libomp::Libomp;
use crate::openacc::{compute as acc_compute, data as acc_constructs};
use crate::{data, devices, extensions, interop, kernel_language, launch, mapper, refused, register, tasks};
use gangway_frontend::{export, host_accesses};
use gangway_openacc::{
    data as acc_data, device as acc_device, interop as acc_interop, memory as acc_memory,
    present as acc_present, profiling, property as acc_property, queues as acc_queues, shutdown as acc_end,
    waits as acc_waits,
};
use gangway_openmp::{
    asynchronous, devices as device_routines, host_call, interop as properties, memory, reverse_offload,
};

export! {
    noting launch:
        __tgt_target_kernel, __tgt_target_kernel_nowait,
        __tgt_target, __tgt_target_mapper, __tgt_target_nowait, __tgt_target_nowait_mapper,
        __tgt_target_teams, __tgt_target_teams_mapper, __tgt_target_teams_nowait,
        __tgt_target_teams_nowait_mapper;
    data:
        __tgt_target_data_begin, __tgt_target_data_begin_mapper,
        __tgt_target_data_begin_nowait, __tgt_target_data_begin_nowait_mapper,
        __tgt_target_data_end, __tgt_target_data_end_mapper,
        __tgt_target_data_end_nowait, __tgt_target_data_end_nowait_mapper,
        __tgt_target_data_update, __tgt_target_data_update_mapper,
        __tgt_target_data_update_nowait, __tgt_target_data_update_nowait_mapper;
    memory:
        omp_target_alloc<Libomp>, omp_target_free<Libomp>,
        omp_target_memcpy<Libomp>, omp_target_memcpy_rect<Libomp>, omp_target_memset<Libomp>,
        omp_target_associate_ptr<Libomp>, omp_target_disassociate_ptr<Libomp>;
    asynchronous:
        omp_target_memcpy_async<Libomp>, omp_target_memcpy_rect_async<Libomp>,
        omp_target_memset_async<Libomp>;
    extensions:
        llvm_omp_target_alloc_device, llvm_omp_target_free_device,
        llvm_omp_target_alloc_host, llvm_omp_target_free_host,
        llvm_omp_target_alloc_shared, llvm_omp_target_free_shared;
}

export! {
    launch: __kmpc_push_target_tripcount, __kmpc_push_target_tripcount_mapper;
    mapper: __tgt_push_mapper_component, __tgt_mapper_num_components;
    register:
        __tgt_register_lib, __tgt_unregister_lib, __tgt_rtl_init, __tgt_rtl_deinit,
        __tgt_init_all_rtls, __tgt_register_requires;
    tasks: __tgt_target_nowait_query, __tgt_target_sync;
    device_routines:
        omp_get_num_devices<Libomp>, omp_get_device_num<Libomp>, omp_get_initial_device<Libomp>,
        omp_get_uid_from_device<Libomp>, omp_get_device_from_uid<Libomp>, omp_get_gprivate_limit<Libomp>;
    devices: __tgt_print_device_info;
    host_call:
        gangway_host_call<Libomp>, gangway_host_call_device,
        gangway_register_host_function, gangway_unregister_host_function;
    reverse_offload: __gangway_reverse_enter<Libomp>, __gangway_reverse_leave;
    memory:
        omp_target_is_present<Libomp>, omp_target_is_accessible<Libomp>, omp_get_mapped_ptr<Libomp>;
    extensions:
        __llvm_omp_indirect_call_lookup, llvm_omp_target_dynamic_shared_alloc, llvm_omp_target_lock_mem,
        llvm_omp_target_unlock_mem, ompx_dump_mapping_tables, __tgt_set_info_flag;
    interop:
        __tgt_interop_get, __tgt_interop_use60, __tgt_interop_release,
        __tgt_interop_init, __tgt_interop_use, __tgt_interop_destroy,
        ompx_interop_add_completion_callback;
    properties:
        omp_get_interop_int, omp_get_interop_ptr, omp_get_interop_str, omp_get_interop_name,
        omp_get_interop_type_desc;
    refused:
        __tgt_activate_record_replay, __tgt_target_kernel_replay, __tgt_register_rpc_callback;
    kernel_language:
        __llvmPushCallConfiguration, __llvmPopCallConfiguration, llvmLaunchKernel;
}

export! {
    noting acc_compute: __gangway_acc_compute_begin, __gangway_acc_compute_end, __gangway_acc_nohost;
    acc_compute: __gangway_acc_apart, __gangway_acc_grid, __gangway_acc_room;
    acc_constructs:
        __gangway_acc_data_begin, __gangway_acc_data_end, __gangway_acc_enter_data, __gangway_acc_exit_data,
        __gangway_acc_update, __gangway_acc_host_data, __gangway_acc_wait, __gangway_acc_init, __gangway_acc_shutdown;
    acc_data:
        acc_create<Libomp>, acc_create_async<Libomp>, acc_copyin<Libomp>, acc_copyin_async<Libomp>,
        acc_delete<Libomp>, acc_delete_async<Libomp>,
        acc_delete_finalize<Libomp>, acc_delete_finalize_async<Libomp>,
        acc_copyout<Libomp>, acc_copyout_async<Libomp>,
        acc_copyout_finalize<Libomp>, acc_copyout_finalize_async<Libomp>,
        acc_update_device<Libomp>, acc_update_device_async<Libomp>,
        acc_update_self<Libomp>, acc_update_self_async<Libomp>,
        acc_present_or_create<Libomp>, acc_pcreate<Libomp>,
        acc_present_or_copyin<Libomp>, acc_pcopyin<Libomp>,
        acc_attach<Libomp>, acc_attach_async<Libomp>, acc_detach<Libomp>, acc_detach_async<Libomp>,
        acc_detach_finalize<Libomp>, acc_detach_finalize_async<Libomp>;
    acc_memory:
        acc_malloc<Libomp>, acc_free<Libomp>,
        acc_memcpy_to_device<Libomp>, acc_memcpy_to_device_async<Libomp>,
        acc_memcpy_from_device<Libomp>, acc_memcpy_from_device_async<Libomp>,
        acc_memcpy_device<Libomp>, acc_memcpy_device_async<Libomp>,
        acc_memcpy_d2d<Libomp>, acc_memcpy_d2d_async<Libomp>;
    acc_present: acc_map_data<Libomp>, acc_unmap_data<Libomp>;
}

export! {
    acc_device:
        acc_init<Libomp>, acc_init_device<Libomp>, acc_get_num_devices<Libomp>,
        acc_set_device_type<Libomp>, acc_get_device_type<Libomp>,
        acc_set_device_num<Libomp>, acc_get_device_num<Libomp>, acc_on_device;
    acc_end: acc_shutdown<Libomp>, acc_shutdown_device<Libomp>;
    acc_waits:
        acc_async_test<Libomp>, acc_async_test_all<Libomp>, acc_wait<Libomp>, acc_async_wait<Libomp>, acc_wait_all,
        acc_async_wait_all, acc_wait_async<Libomp>, acc_wait_all_async<Libomp>,
        acc_async_test_device<Libomp>, acc_async_test_all_device<Libomp>, acc_wait_device<Libomp>, acc_wait_all_device<Libomp>,
        acc_wait_device_async<Libomp>, acc_wait_all_device_async<Libomp>, acc_wait_any<Libomp>, acc_wait_any_device<Libomp>;
    acc_queues: acc_get_default_async, acc_set_default_async;
    acc_present: acc_deviceptr<Libomp>, acc_hostptr<Libomp>, acc_is_present<Libomp>;
    acc_property: acc_get_property<Libomp>, acc_get_property_string<Libomp>;
    acc_interop:
        acc_get_current_cuda_device, acc_get_current_cuda_context,
        acc_get_cuda_stream, acc_set_cuda_stream<Libomp>;
    profiling: acc_prof_register<Libomp>, acc_prof_unregister, acc_prof_lookup, acc_register_library;
}

export! {
    noting host_accesses:
        __sanitizer_cov_load1, __sanitizer_cov_load2, __sanitizer_cov_load4, __sanitizer_cov_load8,
        __sanitizer_cov_load16, __sanitizer_cov_store1, __sanitizer_cov_store2, __sanitizer_cov_store4,
        __sanitizer_cov_store8, __sanitizer_cov_store16, __wrap_memcpy, __wrap_memmove, __wrap_memset;
}
