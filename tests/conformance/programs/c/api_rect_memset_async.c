// covers: omp_target_memcpy_rect_async and omp_target_memset_async ordered by depend objects
#include <omp.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  int host = omp_get_initial_device(), d = 1;
  unsigned char out[6][6], small[2][3] = {{1, 2, 3}, {4, 5, 6}};
  memset(out, 0, sizeof out);
  unsigned char *p = omp_target_alloc(sizeof out, d);
  omp_depend_t dep;
  int key;
#pragma omp depobj(dep) depend(inout : key)
  omp_target_memset_async(p, 9, sizeof out, d, 1, &dep);
  size_t volume[2] = {2, 3}, dst_off[2] = {2, 1}, zero[2] = {0, 0};
  size_t dst_dim[2] = {6, 6}, src_dim[2] = {2, 3};
  printf("%d\n", omp_target_memcpy_rect_async(p, small, 1, 2, volume, dst_off, zero, dst_dim, src_dim,
                                              d, host, 1, &dep));
  printf("%d\n", omp_target_memcpy_rect_async(out, p, 1, 2, dst_dim, zero, zero, dst_dim, dst_dim, host,
                                              d, 1, &dep));
#pragma omp taskwait
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) printf("%d", out[i][j]);
    printf("\n");
  }
  omp_target_memset_async(p, 0, 3, d, 0, NULL);
#pragma omp taskwait
  omp_target_memcpy(out, p, 6, 0, 0, host, d);
  printf("%d%d%d%d\n", out[0][0], out[0][2], out[0][3], out[0][5]);
  printf("dimensions at least three: %d\n",
         omp_target_memcpy_rect_async(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, host, d, 0, NULL) >= 3);
#pragma omp depobj(dep) destroy
  omp_target_free(p, d);
  return 0;
}
