//! What ends a compilation or a program, and with which words.

use gangway_commands::{Folder, Ran, Run, gangway};

fn compiled(folder: &Folder, text: &str) -> Ran {
    folder.write("a.c", text);
    let mut compile = gangway();
    compile.args(["cc", "-fopenacc", "-O2", "--offload-arch=sm_80"]).current_dir(&**folder);
    compile.args(["a.c", "-o", "a"]).run()
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

#[test]
fn what_is_not_present_is_named_in_words_of_openacc() {
    let wrong = |directives: &str, said: &[&str]| {
        let folder = Folder::new();
        let text = format!(
            "#include <stdlib.h>\nint main(void) {{\n  int n = 10, *a = calloc(n, sizeof *a);\n{directives}\n  \
             for (int i = 0; i < n; i++) a[i] = i;\n}}\n"
        );
        compiled(&folder, &text).succeeded();
        gangway().args(["run", "--device", "vgpu"]).arg(folder.path("a")).run().failed().told(said);
    };
    wrong(
        "#pragma acc parallel loop present(a[0:n])",
        &[
            "a.c:4:1: in main",
            "`a[0:n]`",
            "make it present with a data construct, enter data or declare before",
        ],
    );
    wrong(
        "#pragma acc enter data create(a[0:n/2])\n#pragma acc parallel loop copy(a[0:n])",
        &["a.c:5:1: in main", "`a[0:n]`", "`a[0:n/2]`", "must be present as a whole or not at all"],
    );
    wrong(
        "#pragma acc parallel loop",
        &["name what the construct uses of it in a data clause, as in copy(p[0:n])"],
    );
}
