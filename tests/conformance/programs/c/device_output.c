// covers: functions of stdio.h, getenv, time and clock called in target regions
// env: GANGWAY_TEST_VALUE=a value
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma omp begin declare target
static int list(char *to, size_t size, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(to, size, format, arguments);
  va_end(arguments);
  return length;
}
#pragma omp end declare target

static char large[3000];

int main(void)
{
  char texts[4][64];
  int lengths[4];
  memset(texts, 0, sizeof texts);
  for (size_t i = 0; i < sizeof large; ++i)
    large[i] = i % 60 == 59 ? '\n' : 'a' + i % 26;

  puts("host: before");
  fflush(stdout);
#pragma omp target
  {
    puts("puts");
    printf("printf %d %s\n", 42, "text");
    fputs("fputs\n", stdout);
    putchar('c');
    fputc('d', stdout);
    putc('\n', stdout);
    printf("between %c\n", 'x');
    fprintf(stdout, "[%5d|%-6s|%08.3f|%lld|%zu|%hhd|%x|%*d|%.*s|%%|%e]\n", -7, "ab", 3.25, 1LL << 40,
            sizeof(int), 511, 255u, 6, 12, 2, "xyz", 0.5);
    fwrite("fwrite\n", 1, 7, stdout);
    fflush(stdout);
  }
  puts("host: between");
  fflush(stdout);

#pragma omp target map(tofrom : texts) map(from : lengths)
  {
    const char *value = getenv("GANGWAY_TEST_VALUE");
    lengths[0] = snprintf(texts[0], sizeof texts[0], "<%s>", value ? value : "none");
    lengths[1] = snprintf(texts[1], 8, "%s", "cut after seven");
    lengths[2] = list(texts[2], sizeof texts[2], "%d-%g-%s", 1, 2.5, "three");
    lengths[3] = sprintf(texts[3], "%s", getenv("GANGWAY_TEST_NOT_SET") ? "set" : "not set");
  }
  for (int i = 0; i < 4; ++i)
    printf("%d: %s\n", lengths[i], texts[i]);

  /* A text may have no more room than it needs. */
  char beside[2][16];
  memset(beside, '+', sizeof beside);
#pragma omp target map(tofrom : beside)
  sprintf(beside[0], "%d", 12);
  printf("%s %.3s %.16s\n", beside[0], beside[0] + 3, beside[1]);

  int times = 0;
  time_t now = time(NULL);
#pragma omp target map(tofrom : times)
  {
    time_t stored = 0;
    time_t seen = time(&stored);
    times = (seen >= now) + 2 * (stored == seen) + 4 * (clock() != (clock_t)-1);
  }
  printf("times %d\n", times);
  fflush(stdout);

#pragma omp target map(to : large)
  {
    fwrite(large, 1, sizeof large, stdout);
    printf("\n%s is long\n%.300s\n", "what has no room in a small block", large + 1);
    fprintf(stdout, "%s", "");
  }

  // Each thread's lines come in its order, and a line is whole.
#pragma omp target teams distribute parallel for
  for (int i = 0; i < 4; ++i)
    puts("a line of a thread");
  return 0;
}
