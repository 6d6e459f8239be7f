static _Thread_local int mine;

void f(void) {
#pragma acc parallel
  mine = 3;
}
