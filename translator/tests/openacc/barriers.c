// Iterations of gangs do not depend on each other: their threads wait between them only for what they share.
enum { N = 64, M = 128 };
float a[N][M], b[N][M];

void none(void) {
#pragma acc parallel loop gang num_workers(4) vector_length(32)
  for (int i = 0; i < N; ++i) {
#pragma acc loop worker
    for (int j = 0; j < M; ++j) {
      float sum = 0;
#pragma acc loop vector reduction(+ : sum)
      for (int k = 0; k < M; ++k)
        sum += a[i][k];
      b[i][j] = sum;
    }
  }
}

void one(void) {
#pragma acc parallel loop gang num_workers(4) vector_length(32)
  for (int i = 0; i < N; ++i) {
#pragma acc loop worker vector
    for (int j = 0; j < M; ++j)
      b[i][j] = a[i][j];
#pragma acc loop worker vector
    for (int j = 0; j < M; ++j)
      a[i][j] = b[i][M - 1 - j];
  }
}

void private(void) {
#pragma acc parallel loop gang num_workers(4) vector_length(32)
  for (int i = 0; i < N; ++i) {
    float row[M];
#pragma acc loop worker vector
    for (int j = 0; j < M; ++j)
      row[j] = a[i][j];
#pragma acc loop worker vector
    for (int j = 0; j < M; ++j)
      b[i][j] = row[M - 1 - j];
  }
}

void around(void) {
#pragma acc parallel num_workers(4) vector_length(32)
  {
    float row[M];
#pragma acc loop gang
    for (int i = 0; i < N; ++i) {
#pragma acc loop worker vector
      for (int j = 0; j < M; ++j)
        row[j] = a[i][j];
#pragma acc loop worker vector
      for (int j = 0; j < M; ++j)
        b[i][j] = row[M - 1 - j];
    }
  }
}

void behind(void) {
#pragma acc parallel num_gangs(1) num_workers(4) vector_length(32)
  {
#pragma acc loop gang
    for (int i = 0; i < N; ++i) {
#pragma acc loop worker vector
      for (int j = 0; j < M; ++j)
        b[i][j] = a[i][j];
    }
    b[0][0] = b[N - 1][M - 1];
  }
}

#pragma acc routine worker
void fills(float *row);

void called(void) {
#pragma acc parallel loop gang num_workers(4) vector_length(32)
  for (int i = 0; i < N; ++i)
    fills(b[i]);
}
