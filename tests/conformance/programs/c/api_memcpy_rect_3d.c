// covers: omp_target_memcpy_rect in three dimensions: host to device, device to device, device to host
#include <omp.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  int host = omp_get_initial_device();
  short cube[4][3][5], out[3][4][4];
  for (int i = 0; i < 60; i++) (&cube[0][0][0])[i] = i;
  memset(out, 0, sizeof out);
  short *a = omp_target_alloc(sizeof cube, 0), *b = omp_target_alloc(sizeof out, 1);
  omp_target_memcpy(a, cube, sizeof cube, 0, 0, 0, host);
  omp_target_memcpy(b, out, sizeof out, 0, 0, 1, host);
  size_t volume[3] = {2, 2, 3}, dst_off[3] = {1, 1, 0}, src_off[3] = {2, 0, 2};
  size_t dst_dim[3] = {3, 4, 4}, src_dim[3] = {4, 3, 5};
  printf("%d\n", omp_target_memcpy_rect(b, a, sizeof(short), 3, volume, dst_off, src_off, dst_dim,
                                        src_dim, 1, 0));
  size_t full[3] = {3, 4, 4}, zero[3] = {0, 0, 0};
  printf("%d\n", omp_target_memcpy_rect(out, b, sizeof(short), 3, full, zero, zero, full, full, host, 1));
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 4; j++) {
      for (int k = 0; k < 4; k++) printf("%3d", out[i][j][k]);
      printf(" |");
    }
    printf("\n");
  }
  omp_target_free(a, 0);
  omp_target_free(b, 1);
  return 0;
}
