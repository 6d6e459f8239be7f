// options: -std=c++20 -Wextra -pedantic
// The headers in C++, where types are stricter.
#include <acc_prof.h>
#include <openacc.h>

#include <cstdio>
#include <type_traits>

static_assert(std::is_same_v<decltype(acc_wait_any(0, static_cast<int *>(nullptr))), int>);
static_assert(std::is_same_v<decltype(acc_create(nullptr, 0)), void *>);
static_assert(noexcept(acc_memcpy_d2d(nullptr, nullptr, 0, 0, 0)));
static_assert(sizeof(acc_device_t) == sizeof(int) && sizeof(acc_async_t) == sizeof(int));
static_assert(sizeof(acc_error_event_info) == _ACC_ERROR_EVENT_INFO_VALID_BYTES);
static_assert(sizeof(acc_data_event_info) == _ACC_DATA_EVENT_INFO_VALID_BYTES);
static_assert(sizeof(acc_launch_event_info) == _ACC_LAUNCH_EVENT_INFO_VALID_BYTES);
static_assert(sizeof(acc_other_event_info) == _ACC_OTHER_EVENT_INFO_VALID_BYTES);
static_assert(sizeof(acc_prof_info) == _ACC_PROF_INFO_VALID_BYTES && sizeof(acc_api_info) == _ACC_API_INFO_VALID_BYTES);
static_assert(acc_ev_error == 100 && acc_error_implementation_defined == 100);
static_assert(acc_async_default < 0 && acc_async_sync < 0 && acc_async_noval < 0);

template <class T> struct vector {
  T *data;
  int count;
  explicit vector(int n) : data(new T[n]()), count(n) { acc_copyin_async(data, n * sizeof(T), acc_async_noval); }
  ~vector() {
    acc_delete(data, count * sizeof(T));
    delete[] data;
  }
};

int main() {
  acc_init_device(0, acc_device_current);
  vector<double> v(100);
  acc_wait(acc_get_default_async());
  double *data = v.data;
#pragma acc parallel loop present(data[0 : 100])
  for (int i = 0; i < 100; i++) data[i] = acc_on_device(acc_device_host) ? i : 2 * i;
  acc_update_self(v.data, 100 * sizeof(double));
  double factor = acc_get_device_type() == acc_device_host ? 1 : 2;
  if (v.data[99] != 99 * factor) return std::printf("%g\n", v.data[99]), 1;
  int queues[] = {acc_async_sync};
  if (acc_wait_any(1, queues) != -1) return 1;
  std::puts("ok");
}
