// covers: use_device_addr for scalars, arrays, sections; has_device_addr of the result
#include <omp.h>
#include <stdio.h>

int main(void) {
  int x = 3, arr[6] = {0, 1, 2, 3, 4, 5};
  int device = omp_get_default_device();
#pragma omp target data map(tofrom : x, arr)
  {
    void *host_x = &x, *host_arr = arr;
#pragma omp target data use_device_addr(x, arr)
    {
      printf("device addresses: %d %d\n", (void *)&x != host_x, (void *)arr != host_arr);
      printf("as the API says: %d %d\n", (void *)&x == omp_get_mapped_ptr(host_x, device),
             (void *)arr == omp_get_mapped_ptr(host_arr, device));
#pragma omp target has_device_addr(x, arr)
      {
        x += arr[5];
        arr[0] = x;
      }
    }
#pragma omp target data use_device_addr(arr[2 : 3])
#pragma omp target has_device_addr(arr)
    arr[2] = 22;
  }
  printf("%d %d %d\n", x, arr[0], arr[2]);
  return 0;
}
