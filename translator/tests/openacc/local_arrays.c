double (*velocity)[3];

void loops(int n, double (*position)[3], double *out) {
#pragma acc kernels
  {
    for (int i = 0; i < n; i++) {
      double force[3];
      for (int side = 0; side < 3; side++) force[side] = position[i][side];
      for (int side = 0; side < 3; side++) velocity[i][side] += force[side];
    }
    double all[3];
    for (int i = 0; i < 3; i++) all[i] = out[i];
    double *last = all;
    for (int i = 0; i < 3; i++) all[i] = last[i];
  }
}
