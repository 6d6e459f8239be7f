// References, members, captures and templates.
#include "check.h"
#include <omp.h>
#include <vector>

template <typename T> static T sum(const T *list, int count)
{
  T total = 0;
#pragma omp target teams distribute parallel for reduction(+ : total) map(to : list[0 : count])
  for (int i = 0; i < count; i++)
    total += list[i];
  return total;
}

struct Grid {
  int width;
  double *cells;

  void scale(double factor)
  {
#pragma omp target teams distribute parallel for map(tofrom : cells[0 : width])
    for (int i = 0; i < width; i++)
      cells[i] *= factor;
  }

  void put()
  {
#pragma omp target enter data map(to : this[0 : 1]) map(to : cells[0 : width])
  }

  void bump()
  {
#pragma omp target
    for (int i = 0; i < width; i++)
      cells[i] += 1;
  }

  void get()
  {
#pragma omp target exit data map(from : cells[0 : width]) map(release : this[0 : 1])
  }
};

static void by_reference(int &number, int (&list)[4])
{
#pragma omp target map(tofrom : number, list)
  {
    number++;
    for (int &item : list)
      item += number;
  }
}

int main()
{
  std::vector<double> doubles(500, 1.5);
  CHECK(sum(doubles.data(), 500) == 750);
  int number = 1, list[4] = {1, 2, 3, 4};
  by_reference(number, list);
  CHECK(number == 2 && list[0] == 3 && list[3] == 6);
  CHECK(sum(list, 4) == 18);
  Grid grid{500, doubles.data()};
  grid.scale(2);
  CHECK(doubles[499] == 3);
  grid.put();
  grid.bump();
  grid.bump();
  CHECK(doubles[0] == 3);
  grid.get();
  CHECK(doubles[0] == 5 && doubles[499] == 5 && grid.cells == doubles.data());
  puts("passed");
}
