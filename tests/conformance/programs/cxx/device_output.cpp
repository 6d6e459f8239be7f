// covers: functions of <cstdio> and <cstdlib> called in target regions of C++
#include <cstdio>
#include <cstdlib>

template <class T> struct Printer {
  T value;
  void print(const char *format) const { std::fprintf(stdout, format, value); }
};

int main()
{
  Printer<double> printer{1.5};
  Printer<long> other{12345678901L};
#pragma omp target map(to : printer, other)
  {
    std::puts("std::puts");
    std::printf("std::printf %d\n", 3);
    printer.print("a double %g\n");
    other.print("a long %ld\n");
    char text[16];
    std::snprintf(text, sizeof text, "%03d", 5);
    std::fputs(text, stdout);
    std::putchar('\n');
    if (std::getenv("GANGWAY_TEST_NOT_SET") == nullptr)
      std::puts("no such variable");
  }
  return 0;
}
