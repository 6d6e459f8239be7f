// The system reads and writes arrays that the device has newer, by lists of them, and by functions that check sizes.
// with: openmp
// options: -O2 -g -D_FORTIFY_SOURCE=2 -D_GNU_SOURCE
// device: cpu
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SIZE = 1 << 16 };

static void work(char *a)
{
#pragma omp target teams distribute parallel for
  for (int i = 0; i < SIZE; ++i)
    a[i] = 'a' + i % 23;
}

int main(void)
{
  char *a = malloc(SIZE), room[4096];
  int ends[2];
  FILE *file = tmpfile();
  memset(a, 0, SIZE);
#pragma omp target enter data map(to : a[0:SIZE])
  work(a);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
    return 1;
  memset(room, 'r', sizeof room);
  struct iovec parts[] = {{a + 8192, 2048}, {a + 16384, 2048}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  if (write(ends[0], room, 4096) != 4096 || readv(ends[1], parts, 2) != 4096)
    return 2;
  work(a);
  if (write(ends[0], room, 4096) != 4096 || recvmsg(ends[1], &message, MSG_WAITALL) != 4096)
    return 3;
  work(a);
  volatile size_t some = 1000;
  if (pwrite(fileno(file), room, 4096, 0) != 4096 || pread(fileno(file), a + 20480, some, 0) != 1000)
    return 4;
  if (preadv(fileno(file), parts, 2, 0) != 4096 || getrandom(a + 30000, some, 0) != 1000)
    return 5;
  work(a);
  rewind(file);
  if (fread(a + 40000, 1, some * 4, file) != 4000)
    return 6;
  work(a);
#ifndef WRONG
#pragma omp target update from(a[0:SIZE])
#endif
  a[30000] = 0;
  rewind(file);
  setvbuf(file, 0, _IONBF, 0);
  if (fputs(a + 8192, file) == EOF || ftell(file) < 1) // finds: the host reads
    return 7;
  if (writev(fileno(file), parts, 2) != 4096)
    return 8;
#pragma omp target exit data map(delete : a[0:SIZE])
  return 0;
}
