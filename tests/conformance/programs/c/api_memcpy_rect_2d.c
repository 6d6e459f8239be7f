// covers: omp_target_memcpy_rect in one and two dimensions, offsets on both sides, the dimension query
#include <omp.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  int host = omp_get_initial_device(), d = omp_get_default_device();
  int src[5][6], dst[4][7];
  for (int i = 0; i < 30; i++) (&src[0][0])[i] = i;
  memset(dst, 0xff, sizeof dst);
  int *dev = omp_target_alloc(sizeof src, d);
  size_t all[2] = {5, 6}, zero[2] = {0, 0};
  printf("whole %d\n", omp_target_memcpy_rect(dev, src, sizeof(int), 2, all, zero, zero, all, all, d, host));
  size_t volume[2] = {2, 3}, dst_off[2] = {1, 2}, src_off[2] = {3, 1};
  size_t dst_dim[2] = {4, 7}, src_dim[2] = {5, 6};
  printf("part %d\n", omp_target_memcpy_rect(dst, dev, sizeof(int), 2, volume, dst_off, src_off,
                                             dst_dim, src_dim, host, d));
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 7; j++) printf("%4d", dst[i][j]);
    printf("\n");
  }
  size_t len = 4, off = 2, from = 10, total = 28, source = 30;
  printf("line %d\n", omp_target_memcpy_rect(dst, dev, sizeof(int), 1, &len, &off, &from, &total,
                                             &source, host, d));
  printf("%d %d %d %d\n", dst[0][1], dst[0][2], dst[0][5], dst[0][6]);
  printf("dimensions at least three: %d\n",
         omp_target_memcpy_rect(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, host, d) >= 3);
  printf("bad arguments refused: %d\n",
         omp_target_memcpy_rect(dst, NULL, 4, 2, volume, dst_off, src_off, dst_dim, src_dim, host, d) != 0);
  omp_target_free(dev, d);
  return 0;
}
