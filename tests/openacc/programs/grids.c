// Gangs of several dimensions (OpenACC 3.3 sections 2.5.10, 2.9.2, 2.15.1).
#include <stdio.h>
#include <string.h>

enum { X = 13, Y = 7, Z = 5 };
static int cells[Z][Y][X];

// How often each cell has been visited.
static int all_are(int wanted) {
  for (int z = 0; z < Z; z++)
    for (int y = 0; y < Y; y++)
      for (int x = 0; x < X; x++)
        if (cells[z][y][x] != wanted) {
          printf("%d %d %d: %d, not %d\n", z, y, x, cells[z][y][x], wanted);
          return 0;
        }
  memset(cells, 0, sizeof cells);
  return 1;
}

// Each dimension has a part of each loop, whatever the number of its gangs.
static int nested(int first, int second, int third) {
#pragma acc parallel num_gangs(first, second, third) copy(cells)
#pragma acc loop gang(dim:3)
  for (int z = 0; z < Z; z++)
#pragma acc loop gang(dim:2)
    for (int y = 0; y < Y; y++)
#pragma acc loop gang(dim:1)
      for (int x = 0; x < X; x++)
#pragma acc atomic update
        cells[z][y][x] += 1;
  return all_are(1);
}

// Where no clause says how many gangs there are.
static int open_nest(void) {
#pragma acc parallel copy(cells)
#pragma acc loop gang(dim:3)
  for (int z = 0; z < Z; z++)
#pragma acc loop gang(dim:2)
    for (int y = 0; y < Y; y++)
#pragma acc loop gang worker vector
      for (int x = 0; x < X; x++)
#pragma acc atomic update
        cells[z][y][x] += 1;
  return all_are(1);
}

static int one_dimension(void) {
#pragma acc parallel loop gang(dim:2) copy(cells) num_gangs(1, 6)
  for (int z = 0; z < Z; z++)
    for (int y = 0; y < Y; y++)
#pragma acc loop vector
      for (int x = 0; x < X; x++)
#pragma acc atomic update
        cells[z][y][x] += 1;
#pragma acc parallel loop gang(dim:3, static:2) copy(cells) num_gangs(1, 1, 4) collapse(2)
  for (int z = 0; z < Z; z++)
    for (int y = 0; y < Y; y++)
#pragma acc loop vector
      for (int x = 0; x < X; x++)
#pragma acc atomic update
        cells[z][y][x] += 1;
  return all_are(2);
}

// What is in no loop of a dimension is done by each of its gangs: as many as have gone into the loop.
static int redundant(int first, int second) {
  int rows[Y] = {0}, columns[X] = {0}, all = 0, in_first[64] = {0}, in_second[64] = {0};
#pragma acc parallel num_gangs(first, second) copy(rows, columns, all, in_first, in_second)
  {
#pragma acc atomic update
    all += 1;
#pragma acc loop gang(dim:2)
    for (int y = 0; y < Y; y++) {
#pragma acc atomic update
      rows[y] += 1;
    }
#pragma acc loop gang(dim:1)
    for (int x = 0; x < X; x++) {
#pragma acc atomic update
      columns[x] += 1;
    }
  }
  // Processors have as many gangs as there are, so the numbers follow from the sum.
  int of_second = columns[0], of_first = rows[0];
  if (of_first * of_second != all || of_first > first || of_second > second) return 0;
  for (int y = 0; y < Y; y++)
    if (rows[y] != of_first) return 0;
  for (int x = 0; x < X; x++)
    if (columns[x] != of_second) return 0;
  return 1;
}

// Variables of gangs, with addresses that others see.
static int privates(void) {
  int sums[Z][Y];
  memset(sums, 0, sizeof sums);
#pragma acc parallel num_gangs(2, 3, 2) copy(sums)
#pragma acc loop gang(dim:3)
  for (int z = 0; z < Z; z++) {
    int outer[4] = {z, z, z, z};
#pragma acc loop gang(dim:2)
    for (int y = 0; y < Y; y++) {
      int inner[4] = {0};
#pragma acc loop vector
      for (int x = 0; x < 100; x++)
#pragma acc atomic update
        inner[x & 3] += outer[x & 3] + y;
      // Gangs of the first dimension do the same.
#pragma acc atomic write
      sums[z][y] = inner[0] + inner[1] + inner[2] + inner[3];
    }
  }
  for (int z = 0; z < Z; z++)
    for (int y = 0; y < Y; y++)
      if (sums[z][y] != 100 * (z + y)) return 0;
  return 1;
}

// Reductions of what is a gang's own.
static int reductions(void) {
  long sums[Y] = {0};
#pragma acc parallel num_gangs(3, 4) copy(sums)
#pragma acc loop gang(dim:2)
  for (int y = 0; y < Y; y++) {
    long sum = 0;
#pragma acc loop vector worker reduction(+ : sum)
    for (int x = 0; x < 1000; x++) sum += x * y;
#pragma acc atomic write
    sums[y] = sum;
  }
  for (int y = 0; y < Y; y++)
    if (sums[y] != 499500L * y) return 0;
  // Where nobody says how many gangs there are, gangs may reduce.
  long all = 0;
#pragma acc parallel copy(all)
#pragma acc loop gang(dim:2)
  for (int y = 0; y < Y; y++)
#pragma acc loop gang vector reduction(+ : all)
    for (int x = 0; x < 1000; x++) all += x * y;
#pragma acc parallel copy(all)
  {
#pragma acc loop gang(dim:2)
    for (int y = 0; y < Y; y++) sums[y] = y;
#pragma acc loop gang vector reduction(+ : all)
    for (int x = 0; x < 1000; x++) all += x;
  }
  return all == 499500L * 22;
}

#pragma acc routine gang(dim:1)
static void row(int *cells, int by) {
#pragma acc loop gang vector
  for (int x = 0; x < X; x++)
#pragma acc atomic update
    cells[x] += by;
}

#pragma acc routine gang(dim:2)
static void plane(int (*cells)[X], int by) {
#pragma acc loop gang(dim:2)
  for (int y = 0; y < Y; y++) row(cells[y], by);
}

static int planes[Z][Y][X];
#pragma acc declare create(planes)

#pragma acc routine gang(dim:3)
static void all_planes(int by) {
#pragma acc loop gang(dim:3)
  for (int z = 0; z < Z; z++) plane(planes[z], by);
}

static int routines(void) {
#pragma acc parallel num_gangs(2, 3, 2) copy(cells)
#pragma acc loop gang(dim:3)
  for (int z = 0; z < Z; z++) plane(cells[z], 1);
#pragma acc parallel copy(cells)
#pragma acc loop gang(dim:2) collapse(2)
  for (int z = 0; z < Z; z++)
    for (int y = 0; y < Y; y++) row(cells[z][y], 1);
  // A construct of one dimension after those.
#pragma acc parallel num_gangs(5) copy(cells)
  for (int z = 0; z < Z; z++)
    for (int y = 0; y < Y; y++) row(cells[z][y], 1);
  if (!all_are(3)) return 0;
  memset(planes, 0, sizeof planes);
#pragma acc update device(planes)
#pragma acc parallel num_gangs(3, 2, 2)
  all_planes(5);
#pragma acc update self(planes)
  memcpy(cells, planes, sizeof cells);
  return all_are(5);
}

// Each gang has a number of its own.
static int numbers(void) {
  int seen[60] = {0}, gangs = 0;
#pragma acc parallel num_gangs(3, 4, 5) copy(seen, gangs)
  {
#pragma acc atomic write
    gangs = __builtin_goacc_parlevel_size(0);
#pragma acc atomic update
    seen[__builtin_goacc_parlevel_id(0)] += 1;
  }
  for (int i = 0; i < 60; i++)
    if (seen[i] != (i < gangs)) return 0;
  return gangs > 0;
}

int main(void) {
  if (!nested(2, 3, 4) || !nested(1, 1, 1) || !nested(20, 20, 20) || !nested(3, 1, 2) || !nested(1, 2, 1)) return 1;
  if (!open_nest()) return 2;
  if (!one_dimension()) return 3;
  if (!redundant(3, 5) || !redundant(1, 8)) return 4;
  if (!privates()) return 5;
  if (!reductions()) return 6;
  if (!routines()) return 7;
  if (!numbers()) return 8;
  puts("ok");
  return 0;
}
