// What formats give in device code and on the host: with an argument, the host writes.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#pragma omp begin declare target
static char global[] = "a global";

static const char letters[2][9] = {"diuoxX", "aAeEfFgG"};
static const char prefixes[5][8] = {"%", "%-+25", "%#030.0", "% .5", "%'30.20"};

/// A prefix of a conversion, a size and a letter.
static const char *format(char *to, const char *prefix, const char *size, char letter)
{
  char *end = to;
  while (*prefix)
    *end++ = *prefix++;
  while (*size)
    *end++ = *size++;
  *end++ = letter;
  *end = 0;
  return to;
}

// Formats to a text, and writes the same in between.
#define T(...) (puts("|"), sum = sum * 31 + fprintf(stdout, __VA_ARGS__), sum = sum * 31 + snprintf(to, sizeof to, __VA_ARGS__), puts("|"), puts(to))

static unsigned integers(const char *size, int wide, long long value)
{
  char to[100], text[20];
  unsigned sum = 0;
  for (int letter = 0; letters[0][letter]; ++letter) {
    for (int prefix = 0; prefix < 5; ++prefix) {
      format(text, prefixes[prefix], size, letters[0][letter]);
      wide ? T(text, value) : T(text, (int)value);
    }
    format(text, "%*.*", size, letters[0][letter]);
    wide ? T(text, -15, 3, value) : T(text, -15, 3, (int)value);
  }
  return sum;
}

static unsigned reals(const char *size, double value)
{
  char to[600], text[20];
  unsigned sum = 0;
  for (int letter = 0; letters[1][letter]; ++letter) {
    for (int prefix = 0; prefix < 5; ++prefix)
      T(format(text, prefixes[prefix], size, letters[1][letter]), value);
    T(format(text, "%.*", size, letters[1][letter]), -1, value);
  }
  return sum;
}

static unsigned write_all(const char *large, const char *nothing, double zero)
{
  char to[400], local[] = "a local";
  unsigned sum = 0;
  sum += integers("", 0, INT_MIN) + integers("hh", 0, 511) + integers("h", 0, -40000) + integers("l", 1, LONG_MAX);
  sum += integers("ll", 1, 0) + integers("z", 1, -1) + integers("j", 1, -5) + integers("t", 1, 77);
  sum += reals("", 3.14159265358979) + reals("l", -1e300) + reals("", 4.9e-324) + reals("", -0.0);
  sum += reals("", 1 / zero) + reals("", __builtin_nan("")) + reals("", 9.9999995);
  const char *texts[] = {"a literal", "", large, nothing, global, local};
  const char *const cut[] = {"%s", "%20.4s", "%-20.6s", "%.0s"};
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 4; ++j)
      T(cut[j], texts[i]);
    T("%*.*s", -9, 2, texts[i]);
  }
  T("%c%5c%-5c", 'a', 66, 300);
  T("%p %20p %-20p", nothing, (void *)16, (void *)0xdeadbeef);
  T("100%% %d%%", 5);
  T("\xc3\xa9 %s", "\xe2\x82\xac");
  T("%2000d", 5);
  T("%.1000f", 1 / 3.0);
  T("%d %f %d %lld %d %s %d %c %hhd %g", 1, 2.0, 3, 4LL, 5, "six", 7, '8', 9, 10.5);
  T("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %g %s %g %s %g %s %g %s %g %s %g %s %g %s %g %s %g %s %g %s",
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 1.5, "a", 2.5, "b", 3.5, "c", 4.5, "d", 5.5, "e",
    6.5, "f", 7.5, "g", 8.5, "h", 9.5, "i", 10.5, "j");
  return sum;
}

/// What device code cannot write is refused, and leaves nothing in the text.
static int refused(const char *format)
{
  char to[40] = "before";
  return fprintf(stdout, format, 1, 2) == -1 && snprintf(to, sizeof to, format, 1, 2) == -1 && to[0] == 0;
}
#pragma omp end declare target

int main(int count, char **words)
{
  (void)words;
  static char large[3000];
  static const char wrong[8][12] = {"%n", "%ls", "%2$d %1$d", "%lc", "%m", "%3000000d", "%", "text %y"};
  unsigned sum = 0;
  int refusals = 8;
  memset(large, 'L', sizeof large - 1);
  if (count > 1)
    sum = write_all(large, NULL, 0);
  else {
#pragma omp target map(to : large) map(from : sum)
    sum = write_all(large, NULL, 0);
#pragma omp target map(to : wrong) map(from : refusals)
    {
      refusals = 0;
      for (int i = 0; i < 8; ++i)
        refusals += refused(wrong[i]);
    }
  }
  printf("sum %u, %d refused\n", sum, refusals);
  return 0;
}
