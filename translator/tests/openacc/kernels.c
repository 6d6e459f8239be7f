/* Which loops of `kernels` are partitioned, and why others are not. */
enum { SIDE = 100 };
static int matrix[SIDE][SIDE], list[SIDE], index_of[SIDE];
double sqrt(double);
void unknown(int);
struct point { int x, y; };
union either { int x; float y; };
static struct point points[SIDE];
static union either either[SIDE];

void kernels(int n, int *p, int *q, int *restrict r) {
  int sum = 0, last = 0;
  double part = 0;
#pragma acc kernels
  for (int i = 0; i < n; i++) list[i] = i;
#pragma acc kernels
  for (int i = 1; i < n; i++) list[i] = list[i - 1];
#pragma acc kernels
  for (int i = 0; i < n; i++) list[2 * i] = list[2 * i + 1];
#pragma acc kernels
  for (int i = 0; i < n; i++) list[index_of[i]] = i;
#pragma acc kernels
  for (int i = 0; i < n; i++) p[i] = q[i];
#pragma acc kernels
  for (int i = 0; i < n; i++) r[i] = q[i];
#pragma acc kernels
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) r[i * n + j] = 0;
#pragma acc kernels
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= n; j++) r[i * n + j] = 0;
#pragma acc kernels
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) matrix[i][j] = matrix[j][i];
#pragma acc kernels
  for (int i = 0; i < n; i++) sum += list[i];
#pragma acc kernels
  for (int i = 0; i < n; i++) part += list[i];
#pragma acc kernels
  for (int i = 0; i < n; i++) last = i;
#pragma acc kernels
  for (int i = 0; i < n; i++) unknown(i);
#pragma acc kernels
  for (int i = 0; i < n; i++) list[i] = sqrt(i);
#pragma acc kernels
  for (int i = 0; i < n; i++) points[i].x = points[i + 1].y;
#pragma acc kernels
  for (int i = 0; i < n; i++) either[i].x = i;
#pragma acc kernels
  for (int i = 0; i < n; i++) {
    int twice = 2 * i;
    list[twice] = list[twice] + 1;
  }
#pragma acc kernels
  for (int i = 0; i < n; i++) {
#pragma acc atomic
    list[i % 3]++;
  }
#pragma acc kernels
  for (unsigned i = 0; i < 100; i++) list[(unsigned char)i] = 0;
#pragma acc parallel loop auto
  for (int i = 1; i < n; i++) list[i] += list[0];
  last += sum + part;
}
