// covers: a program that knows nothing of offloading runs with the library in LD_PRELOAD, and forks
// preload: yes
// plain: yes
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  printf("hello\n");
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    execl("/bin/echo", "echo", "from echo", (char *)0);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return 0;
}
