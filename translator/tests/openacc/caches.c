/* Which sections are copied, and why others are not. */
float table[64], plane[32][32], other[64];
void caches(int n, float *a, const float *restrict b) {
#pragma acc parallel loop gang
  for (int i = 0; i < n; i++) {
#pragma acc cache(readonly: table[0:64], b[0:8])
#pragma acc cache(plane[i:1][0:32])
#pragma acc loop vector
    for (int j = 0; j < 32; j++) a[j] = table[j] * b[j & 7] + plane[i][j];
  }
#pragma acc parallel loop gang
  for (int i = 0; i < n; i++) {
    float own[4] = {0};
#pragma acc loop vector
    for (int j = 0; j < 32; j++) {
#pragma acc cache(table[j:2])
      other[j] = table[j] + own[j & 3];
    }
  }
#pragma acc parallel loop gang
  for (int i = 0; i < 64; i++) {
#pragma acc cache(other[0:n], table[i:1], plane[i])
#pragma acc loop vector
    for (int j = 0; j < 32; j++) {
      table[i] = 1;
      plane[i][j] = other[j];
    }
  }
#pragma acc parallel loop gang
  for (int i = 0; i < 64; i++) {
#pragma acc cache(plane[i:1][0:32])
#pragma acc loop vector
    for (int j = 0; j < 32; j++) other[i] = plane[i][j] + plane[i][31 - j];
  }
}
