// The C library's functions that GPU code carries out by itself: the device computes what the host
// does, for all sizes up to 70 and all places within a word, in every thread's own memory and in global memory.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZES 71
#define CASES (SIZES * 32)
#define ROOM 160

#pragma omp begin declare target
typedef unsigned long word;

static unsigned mixed(unsigned x)
{
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

static word joined(word before, word value)
{
  return (before ^ value) * 1099511628211ul;
}

static word all(word before, const void *memory, int count)
{
  for (int i = 0; i < count; i++)
    before = joined(before, ((const unsigned char *)memory)[i]);
  return before;
}

static word sign(int value)
{
  return value < 0 ? 1 : value > 0 ? 2 : 3;
}

static word place(const void *found, const void *start)
{
  return found ? (const char *)found - (const char *)start : -1;
}

static void fill(char *to, unsigned seed)
{
  // Few letters, so that something is found; no null byte.
  for (int i = 0; i < ROOM; i++)
    to[i] = "abAB\200\377 ,"[mixed(seed + 977 * i) % 8];
}

static word memory_functions(int size, int a, int b, char *x, char *y)
{
  word r = 1;
  fill(x, size);
  fill(y, size + 1000);
  memcpy(x + a, y + b, size);
  r = all(r, x, ROOM);
  memset(y + a, size * 3, size);
  r = all(r, y, ROOM);
  memmove(x + a, x + b, size);
  r = all(r, x, ROOM);
  memmove(x + a + 1, x + a, size);
  memmove(x + a, x + a + 3, size);
  r = all(r, x, ROOM);
  memcpy(x + a, y + b, size);
  r = joined(r, sign(memcmp(x + a, y + b, size)));
  x[a + size / 2] ^= 0x80;
  r = joined(r, sign(memcmp(x + a, y + b, size)));
  fill(x, size * 7 + b);
  r = joined(r, place(memchr(x + a, 'A' + size % 2, size), x));
  return r;
}

static word text_functions(int size, int a, int b, char *x, char *y)
{
  word r = 2;
  fill(x, size + b);
  fill(y, size + a);
  x[a + size] = y[b + 70 - size] = 0;
  char *s = x + a, *t = y + b;
  r = joined(r, strlen(s) * 1000 + strnlen(t, 33));
  r = joined(r, sign(strcmp(s, t)) * 16 + sign(strncmp(s, t, size / 9)) * 4 + sign(strcmp(s, s)));
  r = joined(r, place(strchr(s, 'a'), x) * 300 + place(strrchr(s, 'B'), x));
  r = joined(r, place(strchr(s, 0), x) * 300 + place(strrchr(s, 0377), x));
  r = joined(r, place(strpbrk(s, " ,"), x) * 300 + strspn(s, "abAB"));
  char part[4] = {t[0], t[1], 0, 0};
  r = joined(r, place(strstr(s, part), x) * 300 + strcspn(s, part));
  char copy[ROOM];
  fill(copy, 5);
  strcpy(copy + b, s);
  strncpy(copy + b + 80, t, size);
  r = all(r, copy, ROOM);
  strcpy(copy, s);
  strcat(copy, t);
  strncat(copy, s, size % 8);
  r = all(r, copy, strlen(copy) + 1);
  char *rest = 0;
  for (char *piece = strtok_r(copy, " ,", &rest); piece; piece = strtok_r(0, " ,", &rest))
    r = all(r, piece, strlen(piece));
  for (int i = 0; i < size; i++)
    r = joined(r, !!isalpha((unsigned char)s[i]) * 8 + !!isspace((unsigned char)s[i]) + toupper((unsigned char)s[i]));
  return r;
}

static int less(const void *left, const void *right)
{
  int l = *(const int *)left, r = *(const int *)right;
  return (l > r) - (l < r);
}

static word bits(double value)
{
  word bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static word numbers(int size, int a, int b)
{
  word r = 3;
  char text[80];
  int length = 0;
  if (a % 2)
    text[length++] = "+- "[size % 3];
  if (b == 3)
    text[length++] = '0', text[length++] = 'x';
  for (int i = 0; i < 1 + size % 24; i++)
    text[length++] = "0123456789"[mixed(i + 37 * size + a) % 10];
  text[length++] = '.';
  text[length++] = '0' + b;
  text[length++] = b == 3 ? 'p' : 'e';
  text[length++] = '-';
  text[length++] = '0' + a;
  text[length++] = '0' + size % 10;
  text[length] = 0;
  char *end;
  r = joined(r, strtol(text, &end, b == 5 ? 7 : 0));
  r = joined(r, end - text);
  r = joined(r, strtoull(text, &end, 10));
  r = joined(r, bits(strtod(text, &end)));
  r = joined(r, end - text);
  r = joined(r, bits(strtof(text, 0)));
  r = joined(r, (word)atoi("-12") + atol(" 77x") + bits(atof("2.5")));
  int array[70];
  for (int i = 0; i < size && i < 70; i++)
    array[i] = mixed(i + size * b) % 50;
  int count = size < 70 ? size : 70;
  qsort(array, count, sizeof *array, less);
  r = all(r, array, count * sizeof *array);
  int key = 25;
  r = joined(r, bsearch(&key, array, count, sizeof *array, less) != 0);
  div_t parts = div(-1000 - size, 7 + a);
  ldiv_t large = ldiv(1000000000000l + size, 7 + b);
  r = joined(r, parts.quot * 100 + parts.rem);
  r = joined(r, large.quot * 100 + large.rem);
  return joined(r, abs(a - b) + labs(a - 9) + llabs(size - 40ll));
}

static void test(int number, char *x, char *y, word *results)
{
  int size = number / 32, a = number / 4 % 8, b = number % 4 * 3 % 8;
  results[3 * number] = memory_functions(size, a, b, x, y);
  results[3 * number + 1] = text_functions(size, a, b, x, y);
  results[3 * number + 2] = numbers(size, a, b);
}
#pragma omp end declare target

static word expected[3 * CASES], results[3 * CASES];

static int compare(const char *where)
{
  int wrong = 0;
  for (int i = 0; i < 3 * CASES; i++)
    if (results[i] != expected[i] && wrong++ < 10)
      printf("%s, function %d: case %d: %lx, expected %lx\n", where, i % 3, i / 3, results[i], expected[i]);
  return wrong;
}

int main(void)
{
  char x[ROOM], y[ROOM];
  for (int i = 0; i < CASES; i++)
    test(i, x, y, expected);
#pragma omp target teams distribute parallel for map(from : results)
  for (int i = 0; i < CASES; i++) {
    char x[ROOM], y[ROOM];
    test(i, x, y, results);
  }
  int wrong = compare("local memory");
  static char buffer[CASES * 2 * ROOM];
#pragma omp target teams distribute parallel for map(from : results) map(alloc : buffer)
  for (int i = 0; i < CASES; i++)
    test(i, buffer + i * 2 * ROOM, buffer + i * 2 * ROOM + ROOM, results);
  wrong += compare("global memory");

  int drawn = 0;
#pragma omp target map(from : drawn)
  {
    srand(7);
    int first = rand(), second = rand();
    srand(7);
    drawn = first != second && rand() == first && rand() == second;
  }
  if (!drawn) {
    printf("rand does not repeat\n");
    wrong++;
  }
  if (!wrong)
    printf("passed\n");
  return wrong != 0;
}
