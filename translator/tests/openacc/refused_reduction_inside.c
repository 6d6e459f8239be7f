void f(int n, double *list) {
#pragma acc parallel loop gang
  for (int i = 0; i < n; i++) {
    double *row = list + i * 8;
#pragma acc loop vector reduction(+ : row[0 : 8])
    for (int j = 0; j < n; j++) row[j % 8] += j;
  }
}
