//! What ends a compilation or a program, and with which words.

use gangway_commands::{Folder, Ran, Run, gangway};

fn compiled(folder: &Folder, text: &str) -> Ran {
    compiled_by("cc", "a.c", folder, text)
}

fn compiled_by(compiler: &str, file: &str, folder: &Folder, text: &str) -> Ran {
    folder.write(file, text);
    let mut compile = gangway();
    compile.args([compiler, "-fopenacc", "-O2", "--offload-arch=sm_80"]).current_dir(&**folder);
    compile.args([file, "-o", "a"]).run()
}

#[test]
fn objects_of_types_that_a_template_does_not_know_need_a_clause() {
    let text = "template <class T> void f(T x) {\n#pragma acc parallel\n  x.a += 2;\n}\n\
                struct pair { int a, b; };\nint main() { f(pair()); }\n";
    let said = [
        "a.cpp:2:",
        "`x` is an object here, which the construct changes: name it in a data clause, as in copy(x)",
    ];
    compiled_by("c++", "a.cpp", &Folder::new(), text).failed().told(&said);
}

#[test]
fn arrays_with_rows_of_unknown_length_are_no_whole() {
    let text = "void g(void *);\n#pragma acc routine(g) seq\nvoid f(int n, double a[n][n]) {\n\
                #pragma acc parallel copy(a[0:n][0:n])\n  g(a);\n}\n";
    let said =
        "a.c:5: error: `a` has rows whose length is known when the program runs, and is used as a whole";
    compiled(&Folder::new(), text).failed().told(&[said]);
}

#[test]
fn the_host_has_no_routine_with_nohost() {
    let folder = Folder::new();
    let text = "#include <stdio.h>\n#pragma acc routine nohost\n\
                int lane(void) { int x; __asm__(\"mov.u32 %0, %%tid.x;\" : \"=r\"(x)); return x + 5; }\n\
                int main(int count, char **arguments) {\n  (void)arguments;\n  int x = 0;\n\
                #pragma acc serial copy(x) self(count > 1)\n  x = lane();\n  printf(\"%d\\n\", x);\n}\n";
    compiled(&folder, text).succeeded();
    let run = |argument: Option<&str>| {
        gangway().args(["run", "--device", "vgpu"]).arg(folder.path("a")).args(argument).run()
    };
    run(None).printed("5\n");
    run(Some("x")).failed().told(&["the host has called routine lane, whose directive says nohost"]);
}

/// The program waits for its queues at its end, as libgomp does: what fails there would be lost. A child that has been
/// forked has nothing to do with them.
#[test]
fn a_fault_that_nobody_waits_for_is_told_at_the_end() {
    let folder = Folder::new();
    let text = "#include <stdio.h>\n#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\
                static int list[100];\nstatic void handler(void) { puts(\"handler\"); }\n\
                int main(int count, char **arguments) {\n  long far = atol(arguments[1]);\n  atexit(handler);\n\
                #pragma acc enter data copyin(list)\n\
                #pragma acc parallel loop async(1) present(list)\n  for (int i = 0; i < 100; i++) list[i + far] = i;\n\
                int status = 0;\n  if (count > 2 && fork() == 0) exit(0);\n  if (count > 2) wait(&status);\n  exit(status != 0);\n}\n";
    compiled(&folder, text).succeeded();
    let run = |arguments: &[&str]| {
        gangway().args(["run", "--device", "vgpu"]).arg(folder.path("a")).args(arguments).run()
    };
    for child in [None, Some("fork")] {
        let with = |far: &'static str| [Some(far), child].into_iter().flatten().collect::<Vec<_>>();
        run(&with("0")).printed(if child.is_some() { "handler\nhandler\n" } else { "handler\n" });
        let ran = run(&with("100000000"));
        ran.failed().told(&["in main: device 0: kernel main:", "CUDA_ERROR_ILLEGAL_ADDRESS"]);
    }
}

/// Kernels find members of a structure beside each other, or the construct is refused: never do they find another one's
/// memory.
#[test]
fn members_that_came_apart_are_no_structure() {
    let folder = Folder::new();
    let text = "struct s { int a, b, c; };\nint main(int count, char **arguments) {\n  (void)arguments;\n\
                struct s s = {1, 2, 3};\n\
                if (count > 1) {\n\
                #pragma acc enter data copyin(s.a)\n\
                #pragma acc enter data copyin(s.c)\n  }\n\
                if (count == 2)\n\
                #pragma acc parallel present(s.a, s.c)\n  s.a = s.c;\n\
                if (count == 3)\n\
                #pragma acc parallel\n  s.a = s.c;\n\
                if (count == 4)\n\
                #pragma acc enter data copyin(s.b, s.c)\n  ;\n\
                if (count == 1)\n\
                #pragma acc parallel present(s.a, s.c)\n  s.a = s.c;\n  return 0;\n}\n";
    compiled(&folder, text).succeeded();
    let run = |arguments: &[&str]| {
        gangway().args(["run", "--device", "vgpu"]).arg(folder.path("a")).args(arguments).run().failed()
    };
    let apart = "is a member of a structure of which others were mapped without it";
    let help = "name all members that a construct uses in the clause that maps the first";
    run(&["x"]).told(&["a.c:10:1: in main", "`s.c`", "`s.a`", apart, help]);
    run(&["x", "x"]).told(&["a.c:13:1: in main", "`s.c`", "`s.a`", apart, help]);
    run(&["x", "x", "x"]).told(&["a.c:16:1: in main", "`s.b`", "`s.c`", apart, help]);
    run(&[]).told(&["a.c:19:1: in main", "`s.a`", "must be present on the device and is not"]);
}

/// A construct around has brought other members alone: what stands beside them is another one's memory.
#[test]
fn members_that_no_clause_has_brought_are_named() {
    let folder = Folder::new();
    let text = "struct list { int n, k; double *v; } s;\nint main(int count, char **arguments) {\n  (void)arguments;\n\
                double v[10] = {0};\n  s.n = 10, s.k = 3, s.v = v;\n\
                #pragma acc data copy(s.v[0:10]) copyin(s.n)\n  {\n\
                #pragma acc parallel loop\n  for (int i = 0; i < s.n; i++) s.v[i] = i;\n\
                if (count > 1)\n\
                #pragma acc parallel loop\n  for (int i = 0; i < s.n; i++) s.v[i] = s.k;\n  }\n\
                return v[9] != 9;\n}\n";
    compiled(&folder, text).succeeded();
    let run = |argument: Option<&str>| {
        gangway().args(["run", "--device", "vgpu"]).arg(folder.path("a")).args(argument).run()
    };
    run(None).succeeded();
    run(Some("x")).failed().told(&["a.c:11:1: in main", "`s.k`", "must be present on the device and is not"]);
}

/// A flexible array that is not behind its structure on the device is never another one's memory.
#[test]
fn flexible_arrays_come_with_their_structures() {
    let folder = Folder::new();
    let text = "#include <stdlib.h>\nstruct list { int n; double data[]; };\n\
                int main(int count, char **arguments) {\n  (void)arguments;\n  int n = 7;\n\
                struct list *p = calloc(1, sizeof *p + n * sizeof(double));\n\
                if (count == 1) {\n\
                #pragma acc parallel loop copy(p[0:1])\n  for (int i = 0; i < n; i++) p->data[i] = i;\n  }\n\
                if (count == 2) {\n\
                #pragma acc enter data copyin(p[0:1])\n\
                #pragma acc enter data copyin(p->data[0:n])\n\
                #pragma acc parallel loop present(p)\n  for (int i = 0; i < n; i++) p->data[i] = i;\n  }\n\
                if (count == 3) {\n\
                #pragma acc data copyin(p[0:1])\n\
                #pragma acc parallel loop copy(p->data[0:n])\n  for (int i = 0; i < n; i++) p->data[i] = i;\n  }\n\
                if (count == 4) {\n\
                #pragma acc parallel loop copy(p[0:1])\n  for (int i = 0; i < n; i++) (*p).data[i] = i;\n  }\n\
                return 0;\n}\n";
    compiled(&folder, text).succeeded();
    let run = |arguments: &[&str]| {
        gangway().args(["run", "--device", "vgpu"]).arg(folder.path("a")).args(arguments).run().failed()
    };
    let apart = "is a member of a structure of which others were mapped without it";
    run(&[]).told(&["a.c:8:1: in main", "`p->data`", "must be present on the device and is not"]);
    run(&["x"]).told(&["a.c:14:1: in main", "`p->data[0:n]`", "`p[0:1]`", apart]);
    run(&["x", "x"]).told(&["a.c:19:1: in main", "`p->data[0:n]`", "`p[0:1]`", apart]);
    run(&["x", "x", "x"]).told(&[
        "a.c:23:1: in main",
        "`p->data`",
        "must be present on the device and is not",
    ]);
}

#[test]
fn what_is_not_present_is_named_in_words_of_openacc() {
    let wrong = |directives: &str, index: &str, said: &[&str]| {
        let folder = Folder::new();
        let text = format!(
            "#include <stdlib.h>\nint main(void) {{\n  int n = 10, *a = calloc(n, sizeof *a);\n{directives}\n  \
             for (int i = 0; i < n; i++) a[{index}] = i;\n}}\n"
        );
        compiled(&folder, &text).succeeded();
        gangway().args(["run", "--device", "vgpu"]).arg(folder.path("a")).run().failed().told(said);
    };
    wrong(
        "#pragma acc parallel loop present(a[0:n])",
        "i",
        &[
            "a.c:4:1: in main",
            "`a[0:n]`",
            "make it present with a data construct, enter data or declare before",
        ],
    );
    wrong(
        "#pragma acc enter data create(a[0:n/2])\n#pragma acc parallel loop copy(a[0:n])",
        "i",
        &["a.c:5:1: in main", "`a[0:n]`", "`a[0:n/2]`", "must be present as a whole or not at all"],
    );
    wrong(
        // Which part it uses is not known.
        "#pragma acc parallel loop",
        "i * i % 7",
        &["name what the construct uses of it in a data clause, as in copy(p[0:n])"],
    );
}
