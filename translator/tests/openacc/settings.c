/* A variable in the place of a type, which clang is not shown. */
int settings(int device_type, int t) {
#pragma acc init device_type(device_type)
#pragma acc set device_type(t) device_num(0)
#pragma acc shutdown device_type(device_type) if(t)
#pragma acc set device_type(host)
  int only_here = t, nobodys;
#pragma acc init device_type(only_here)
  return t;
}
