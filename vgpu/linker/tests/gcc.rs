//! The images of GCC's programs are some twenty texts each. They are linked into modules that hold
//! all their kernels and variables and read back as the same.
//!
//! Without the compiler the tests are reported as ignored, and a line says so.

use std::fs;

use gangway_compilers::{accelerator, gcc};
use gangway_linker::{Input, container, link, load, read};
use gangway_ptx::Linkage;
use libtest_mimic::{Arguments, Failed, Trial};

const OPENMP: &str = "
#include <stdio.h>
#include <stdlib.h>
#pragma omp declare target
int calls;
static int table[3] = {1, 2, 3};
static int twice(int n) { return 2 * n; }
static int thrice(int n) { return 3 * n; }
int (*const functions[])(int) = {twice, thrice};
#pragma omp end declare target
int main(void) {
  double sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) { sum += functions[i % 2](i) + table[i % 3]; calls++; }
#pragma omp target parallel map(tofrom : sum)
  {
#pragma omp critical
    sum += 1;
#pragma omp single
    { char *text = malloc(20); snprintf(text, 20, \"%f\", sum); puts(text); free(text); }
#pragma omp task
    sum += 1;
  }
  return sum == 3;
}
";

const OPENACC: &str = "
static float total(float *a, int n);
#pragma acc routine(total) vector
static float total(float *a, int n) {
  float sum = 0;
#pragma acc loop vector reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += a[i];
  return sum;
}
int main(void) {
  float a[100];
#pragma acc parallel loop gang copy(a)
  for (int i = 0; i < 100; i++) a[i] = total(a, i);
  return a[0] == 3;
}
";

fn main() {
    let accelerator = accelerator();
    let there = accelerator.is_ok();
    if let Err(why) = accelerator {
        eprintln!("skipping the tests of GCC's output: {why}");
    }
    let mut trials = Vec::new();
    for (option, source) in [("-fopenmp", OPENMP), ("-fopenacc", OPENACC)] {
        for level in ["-O0", "-O2"] {
            let run = move || image(option, level, source);
            trials.push(Trial::test(format!("{option}{level}"), run).with_ignored_flag(!there));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn image(option: &str, level: &str, source: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("a.c"), source)?;
    // Formatted output on the device needs 16-byte atomics.
    let mut arguments = vec![option, level, "-foffload=nvptx-none", "-foffload=-latomic"];
    arguments.extend(["-save-temps", "-foffload=-save-temps", "a.c", "-o", "a"]);
    let output = gcc().args(&arguments).current_dir(folder.path()).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let mut found = fs::read_dir(folder.path())?.flatten().map(|entry| entry.path());
    let linked = found.find(|path| path.extension().is_some_and(|extension| extension == "mkoffload"));
    let data = fs::read(linked.ok_or("no linked image")?)?;
    let mut inputs: Vec<Input> = Vec::new();
    for (index, text) in data.split(|&byte| byte == 0).filter(|text| !text.is_empty()).enumerate() {
        inputs.extend(read(&format!("text {index}"), text, 90)?);
    }
    check(inputs)
}

fn check(inputs: Vec<Input>) -> Result<(), Failed> {
    let kernels: Vec<String> = inputs
        .iter()
        .flat_map(|input| input.declarations().kernels().map(|kernel| kernel.name.to_string()))
        .collect();
    let variables = inputs.iter().flat_map(|input| &input.declarations().variables);
    let visible = variables.filter(|variable| variable.linkage == Linkage::Visible);
    let visible: Vec<String> = visible.map(|variable| variable.name.to_string()).collect();
    let functions = inputs.iter().flat_map(|input| &input.declarations().functions);
    let bodies = functions.filter(|function| function.body.is_some()).count();
    if kernels.is_empty() {
        return Err("no kernel in the whole image".into());
    }
    let module = link(inputs)?;
    if !kernels.iter().all(|name| module.function(name).is_some_and(|kernel| kernel.entry)) {
        return Err("a kernel is gone".into());
    }
    if let Some(name) = visible.iter().find(|name| module.variable(name).is_none()) {
        return Err(format!("the variable '{name}' is gone").into());
    }
    let kept = module.functions.iter().filter(|function| function.body.is_some()).count();
    // An OpenMP program brings all of libgomp along, most of which nothing calls.
    if kept > bodies || (bodies > 100 && kept > bodies * 2 / 3) {
        return Err(format!("{kept} of {bodies} functions are left").into());
    }
    let image = container::pack(module.clone());
    for _ in 0..2 {
        if load("image", &image, 90)? != module {
            return Err("reads back as another module".into());
        }
    }
    Ok(())
}
