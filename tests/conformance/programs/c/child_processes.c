// covers: system(3) and popen(3) after the device was used; the children see no trace of it
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int x = 1;
#pragma omp target map(tofrom : x)
  x += 1;
  fflush(stdout);
  int status = system("echo from the shell");
  char line[64] = "";
  FILE *pipe = popen("echo piped; ls /proc/self/fd | wc -l", "r");
  while (fgets(line, sizeof line, pipe)) fputs(line, stdout);
  pclose(pipe);
#pragma omp target map(tofrom : x)
  x *= 7;
  printf("%d %d\n", status, x);
  return 0;
}
