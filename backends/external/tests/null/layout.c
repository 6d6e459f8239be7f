/* The layout of the header's structures, as src/abi.rs has it. Also valid C++. */
#include <gangway/rtl.h>

#ifndef __cplusplus
#include <assert.h>
#endif

static_assert(sizeof(gangway_rtl_error) == 256, "error");
static_assert(offsetof(gangway_rtl_error, message) == 8, "error");
static_assert(sizeof(gangway_rtl_session) == 48, "session");
static_assert(offsetof(gangway_rtl_session, own) == 32, "session");
static_assert(offsetof(gangway_rtl_session, words) == 8, "session");
static_assert(sizeof(gangway_rtl_foreign) == 40, "foreign");
static_assert(offsetof(gangway_rtl_foreign, platform) == 16, "foreign");
static_assert(sizeof(gangway_rtl_launch) == 104, "launch");
static_assert(offsetof(gangway_rtl_launch, argument_bytes) == 88, "launch");
static_assert(sizeof(gangway_rtl_parameter) == 8, "parameter");
static_assert(sizeof(gangway_rtl_kernel_properties) == 56, "kernel properties");
static_assert(offsetof(gangway_rtl_kernel_properties, environment) == 32, "kernel properties");
static_assert(offsetof(gangway_rtl_kernel_properties, parameters) == 48, "kernel properties");
static_assert(offsetof(gangway_rtl_launch, arguments) == 8, "launch");
static_assert(offsetof(gangway_rtl_launch, kernel) == 16, "launch");
static_assert(offsetof(gangway_rtl_launch, name) == 24, "launch");
static_assert(offsetof(gangway_rtl_launch, source) == 40, "launch");
static_assert(offsetof(gangway_rtl_launch, teams) == 48, "launch");
static_assert(offsetof(gangway_rtl_launch, thread_limit) == 60, "launch");
static_assert(offsetof(gangway_rtl_launch, trip_count) == 72, "launch");
static_assert(offsetof(gangway_rtl_launch, dynamic_group_memory) == 80, "launch");
static_assert(GANGWAY_RTL_OK == 0 && GANGWAY_RTL_FAILED == 5 && GANGWAY_RTL_PEER_COPY == 8, "values");
static_assert(GANGWAY_RTL_POOLED_MEMORY == 16 && GANGWAY_RTL_PACKED_TRANSFERS == 32, "values");
static_assert(sizeof(gangway_rtl_indirect_call) == 16, "indirect call");
static_assert(offsetof(gangway_rtl_indirect_call, device) == 8, "indirect call");
static_assert(sizeof(gangway_rtl_host_calls) == 40 && offsetof(gangway_rtl_host_calls, call) == 24, "host calls");
static_assert(GANGWAY_RTL_HOST_CALLS == 64 && GANGWAY_RTL_MAPPING_NOTICES == 512, "values");
static_assert(GANGWAY_RTL_PINNED_STAGING == 1024, "values");
static_assert(sizeof(gangway_rtl_address) == 8 && sizeof(void *) == 8, "addresses");
