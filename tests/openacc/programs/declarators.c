// Static variables of `declare` with parentheses in their declarators, and local arrays in loops of `kernels`, which no
// pointer from outside leads to.
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 40, SIDES = 3 };
static double(*mass), scale = 2;
static double (*position)[SIDES];
static double (*velocity)[SIDES];
static int(around[COUNT])[2];
#pragma acc declare create(mass, scale, position, velocity, around)

static void move(double time) {
#pragma acc kernels present(velocity[0:COUNT], position[0:COUNT])
  {
    for (int i = 0; i < COUNT; i++) {
      double force[SIDES] = {0};
      for (int k = 0; k < 2; k++)
        for (int side = 0; side < SIDES; side++) force[side] += position[around[i][k]][side] * mass[i];
      for (int side = 0; side < SIDES; side++) velocity[i][side] += force[side] * scale;
    }
    for (int i = 0; i < COUNT; i++)
      for (int side = 0; side < SIDES; side++) position[i][side] += velocity[i][side] * time;
  }
}

int main(void) {
  double expected[COUNT][SIDES];
  mass = malloc(COUNT * sizeof *mass);
  position = malloc(COUNT * sizeof *position);
  velocity = malloc(COUNT * sizeof *velocity);
  for (int i = 0; i < COUNT; i++) {
    mass[i] = 1 + i % 3;
    around[i][0] = (i + 1) % COUNT, around[i][1] = (i + 5) % COUNT;
    for (int side = 0; side < SIDES; side++) position[i][side] = i * SIDES + side, velocity[i][side] = i;
  }
  for (int i = 0; i < COUNT; i++)
    for (int side = 0; side < SIDES; side++) {
      double force = (position[around[i][0]][side] + position[around[i][1]][side]) * mass[i];
      expected[i][side] = position[i][side] + (velocity[i][side] + force * scale) * 0.5;
    }
#pragma acc enter data copyin(mass[0:COUNT], position[0:COUNT], velocity[0:COUNT])
#pragma acc update device(scale, around)
  move(0.5);
#pragma acc exit data copyout(position[0:COUNT]) delete(mass[0:COUNT], velocity[0:COUNT])
  for (int i = 0; i < COUNT; i++)
    for (int side = 0; side < SIDES; side++)
      if (position[i][side] != expected[i][side])
        return printf("%d %d: %g, %g\n", i, side, position[i][side], expected[i][side]), 1;
  puts("ok");
}
