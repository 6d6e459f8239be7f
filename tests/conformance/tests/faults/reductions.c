// flags: -O2
// Structures of six bytes and a byte array, reduced within and across teams.
typedef struct { short words[3]; } Six;
static void most(Six *out, const Six *in) {
  if (in->words[1] > out->words[1])
    *out = *in;
}
#pragma omp declare reduction(most : Six : most(&omp_out, &omp_in)) initializer(omp_priv = (Six){{0, -1, 0}})

int main(void) {
  Six found = {{0, -1, 0}};
  unsigned char sums[5] = {0};
#pragma omp target teams distribute parallel for map(tofrom : found, sums) reduction(most : found) reduction(+ : sums)
  for (int i = 0; i < 3000; ++i) {
    short value = (short)(i * 7919 % 3001);
    Six own = {{(short)i, value, (short)-i}};
    most(&found, &own);
    for (int k = 0; k < 5; ++k)
      sums[k] += (unsigned char)(i + k);
  }
  Six expected = {{0, -1, 0}};
  unsigned char expected_sums[5] = {0};
  for (int i = 0; i < 3000; ++i) {
    Six own = {{(short)i, (short)(i * 7919 % 3001), (short)-i}};
    most(&expected, &own);
    for (int k = 0; k < 5; ++k)
      expected_sums[k] += (unsigned char)(i + k);
  }
  for (int k = 0; k < 5; ++k)
    if (sums[k] != expected_sums[k])
      return 1;
  return __builtin_memcmp(&found, &expected, sizeof found) != 0;
}
