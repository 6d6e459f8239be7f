//! Where constructs leave open how many gangs and workers there are: what the command line says then, and the
//! environment. Launches are looked at through the profiling interface.

use gangway_commands::{Folder, Ran, Run, gangway};

const PROGRAM: &str = r#"
#include <acc_prof.h>
#include <stdio.h>

static void launched(acc_prof_info *info, acc_event_info *event, acc_api_info *api) {
  (void)info, (void)api;
  acc_launch_event_info launch = event->launch_event;
  printf("%zu:%zu:%zu\n", launch.num_gangs, launch.num_workers, launch.vector_length);
}

void acc_register_library(acc_prof_reg reg, acc_prof_reg unregister, acc_prof_lookup_func lookup) {
  (void)unregister, (void)lookup;
  reg(acc_ev_enqueue_launch_start, launched, acc_reg);
}

enum { N = 1000 };
static int a[N][40];

int main(void) {
  acc_register_library(acc_prof_register, acc_prof_unregister, acc_prof_lookup);
#pragma acc parallel copyout(a)
#pragma acc loop gang
  for (int i = 0; i < N; ++i) {
    int w = i;
#pragma acc loop worker
    for (int j = 0; j < 8; ++j) {
      int own = w + j;
#pragma acc loop vector
      for (int k = 0; k < 5; ++k) a[i][5 * j + k] = own + 100 * k;
    }
  }
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < 40; ++j)
      if (a[i][j] != i + j / 5 + 100 * (j % 5)) return 1;
  puts("ok");
}
"#;

fn run(option: Option<&str>, variable: &str) -> Ran {
    let folder = Folder::new();
    folder.write("a.c", PROGRAM);
    let program = folder.path("a");
    let mut compile = gangway();
    compile.args(["cc", "-fopenacc", "-Wall", "-Werror", "-O2", "--offload-arch=sm_80"]).args(option);
    compile.arg(folder.path("a.c")).arg("-o").arg(&program).run().succeeded();
    gangway().args(["run", "--device", "vgpu"]).arg(&program).env("GOMP_OPENACC_DIM", variable).run()
}

#[test]
fn the_environment_says_how_many() {
    run(None, "7:2").printed("7:2:32\nok\n");
    run(None, "9").printed("9:4:32\nok\n");
    // The kernel has room for the variables of so many workers.
    run(None, "5:20").printed("5:4:32\nok\n");
}

#[test]
fn more_workers_than_a_gang_can_have_are_an_error() {
    run(None, ":33").failed().told(&["insufficient resources to launch"]);
}

#[test]
fn the_command_line_says_how_many() {
    run(Some("-fopenacc-dim=6:8:64"), "").printed("6:8:64\nok\n");
    // What the program has been compiled for stays.
    run(Some("-fopenacc-dim=6:8"), "3:2").printed("6:8:32\nok\n");
}
