
void f(int n, double **rows) {
#pragma acc parallel loop reduction(+ : rows[0 : n][0 : n])
  for (int i = 0; i < n; i++) rows[i][0] += i;
}
