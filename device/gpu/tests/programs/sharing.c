// Variables of the main thread that its workers change: few, many, large, and of a called function.
#include "check.h"

#pragma omp begin declare target
static int called(int scale) {
  int local[16] = {0}, sum = 0;
#pragma omp parallel for num_threads(16) shared(local)
  for (int i = 0; i < 16; ++i)
    local[i] = i * scale;
  for (int i = 0; i < 16; ++i)
    sum += local[i];
  return sum;
}
#pragma omp end declare target

int main(void) {
  int many = 0, large = 0, function = 0;
#pragma omp target map(tofrom : many, large, function)
  {
    int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12;
    double m = 13, n = 14, o = 15, p = 16, q = 17, r = 18, s = 19, t = 20;
    long u = 21, v = 22, w = 23, x = 24, y = 25, z = 26, aa = 27, bb = 28, cc = 29, dd = 30, ee = 31;
    long ff = 32, gg = 33, hh = 34, ii = 35;
#pragma omp parallel num_threads(8)
    {
#pragma omp critical
      {
        a++, b++, c++, d++, e++, f++, g++, h++, i++, j++, k++, l++;
        m++, n++, o++, p++, q++, r++, s++, t++;
        u++, v++, w++, x++, y++, z++, aa++, bb++, cc++, dd++, ee++, ff++, gg++, hh++, ii++;
      }
    }
    many = a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + s + t + u + v + w + x +
           y + z + aa + bb + cc + dd + ee + ff + gg + hh + ii;
    int array[2000];
    for (int at = 0; at < 2000; ++at)
      array[at] = at;
#pragma omp parallel num_threads(10)
    array[omp_get_thread_num() * 200] += 1000000;
    for (int at = 0; at < 2000; ++at)
      large += array[at] / 1000000;
    function = called(3) + called(5);
  }
  CHECK(many, 35 * 36 / 2 + 35 * 8);
  CHECK(large, 10);
  CHECK(function, 120 * 8);
  return finish();
}
