//! Options of clang's that have no part in a translation go along with it: with OpenACC, and with reverse offload.

use gangway_commands::{Folder, Run, gangway};

const OPENACC: &str = "#include <stdio.h>\nint main(void) {\n  int sum = 0;\n\
    #pragma acc parallel loop reduction(+ : sum)\n  for (int i = 0; i < 100; i++) sum += i;\n\
    printf(\"%d\\n\", sum);\n}\n";
const REVERSE: &str = "#include <stdio.h>\n#pragma omp requires reverse_offload\nint sum;\nint main(void) {\n\
    #pragma omp target\n#pragma omp target device(ancestor : 1)\n  sum = 4950;\n  printf(\"%d\\n\", sum);\n}\n";

fn compiles(options: &[&str], links: bool) {
    for (model, text) in [("-fopenacc", OPENACC), ("-fopenmp", REVERSE)] {
        let folder = Folder::new();
        folder.write("a.c", text);
        let mut compile = gangway();
        compile.args(["cc", model, "-Wall", "-Werror"]).args(options).args(["a.c", "-o", "a"]);
        let ran = compile.current_dir(&*folder).run().succeeded();
        if links {
            assert!(ran.said().is_empty(), "{ran}");
            let mut run = gangway();
            run.args(["run", "./a"]).current_dir(&*folder).run().succeeded().printed("4950\n");
        }
    }
}

#[test]
fn intermediate_files_are_kept() {
    for option in ["-save-temps", "--save-temps", "-save-temps=obj", "--save-temps=cwd"] {
        compiles(&[option], true);
    }
}

#[test]
fn what_only_a_link_needs_is_no_warning() {
    compiles(&["-pie", "-fuse-ld=lld", "-Wl,-O1"], true);
}

#[test]
fn nothing_runs_where_commands_are_to_be_shown() {
    compiles(&["-###"], false);
}

#[test]
fn sanitizers_and_coverage_are_for_the_host() {
    let folder = Folder::new();
    folder.write("a.c", OPENACC);
    for option in
        ["-fsanitize=address", "-fsanitize=undefined,thread", "--coverage", "-ftest-coverage -fprofile-arcs"]
    {
        let code = |side: &str| {
            let mut compile = gangway();
            compile.args(["cc", "-fopenacc", "--offload-arch=gfx90a"]).args(option.split(' '));
            compile
                .args([side, "-S", "-emit-llvm", "a.c", "-o", "a.ll"])
                .current_dir(&*folder)
                .run()
                .succeeded();
            let code = folder.text("a.ll");
            ["__asan", "__ubsan", "__tsan", "__llvm_gcov"].iter().any(|name| code.contains(name))
        };
        assert!(code("--offload-host-only"), "{option}");
        assert!(!code("--offload-device-only"), "{option}");
    }
    let mut compile = gangway();
    compile.args(["cc", "-fopenmp", "-fsanitize=address", "--check=map", "a.c"]).current_dir(&*folder);
    compile.run().failed().told(&["--check= and -fsanitize= do not go together"]);
}

#[test]
fn a_link_without_optimisation_is_silent() {
    let folder = Folder::new();
    folder.write("a.c", OPENACC);
    let mut compile = gangway();
    compile
        .args(["cc", "-fopenacc", "-O0", "-g", "--offload-arch=gfx90a", "a.c", "-o", "a"])
        .current_dir(&*folder);
    let ran = compile.run().succeeded();
    assert!(ran.said().is_empty(), "{ran}");
}
