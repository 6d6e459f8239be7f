//! How long it takes from the texts in a GCC program to a module that can run.
//!
//! `cargo bench -p gangway-linker`. From `exec` to its first kernel, such a program is to take at
//! most 40 ms when the engine's code is cached. Linking is wanted in a few of them.

use std::fs;

use divan::Bencher;
use gangway_linker::{Input, container, link, load, read};

fn main() {
    divan::main();
}

const PROGRAM: &str = "int main(void) { int s = 0;
#pragma omp target teams distribute parallel for reduction(+ : s) map(tofrom : s)
for (int i = 0; i < 1000; i++) s += i;
return s != 499500; }";

/// The texts of a linked image, as libgomp gives them to the driver one by one; none
/// without the compiler.
fn texts() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.c"), PROGRAM).expect("a source");
    let arguments =
        ["-fopenmp", "-O2", "-foffload=nvptx-none", "-save-temps", "-foffload=-save-temps", "a.c", "-o", "a"];
    let built = gangway_compilers::gcc().args(arguments).current_dir(folder.path()).output();
    if !built.is_ok_and(|output| output.status.success()) {
        eprintln!("GCC with its compiler for NVIDIA's GPUs is not installed: nothing to measure");
        return Vec::new();
    }
    let files = fs::read_dir(folder.path()).expect("the folder").flatten().map(|entry| entry.path());
    let linked = files.into_iter().find(|path| path.extension().is_some_and(|found| found == "mkoffload"));
    let data = fs::read(linked.expect("the linked image")).expect("the linked image");
    data.split(|&byte| byte == 0).filter(|text| !text.is_empty()).map(<[u8]>::to_vec).collect()
}

fn inputs(texts: &[Vec<u8>]) -> Vec<Input> {
    texts.iter().flat_map(|text| read("input", text, 90).expect("GCC's PTX")).collect()
}

/// `cuLinkAddData` for each text.
#[divan::bench]
fn add(bencher: Bencher) {
    let texts = texts();
    bencher.bench(|| inputs(&texts));
}

/// The linking itself.
#[divan::bench]
fn join(bencher: Bencher) {
    let texts = texts();
    bencher.with_inputs(|| inputs(&texts)).bench_values(|inputs| link(inputs).expect("they fit"));
}

/// Making the image, `cuLinkComplete`'s other half.
#[divan::bench]
fn pack(bencher: Bencher) {
    let module = link(inputs(&texts())).expect("they fit");
    bencher.with_inputs(|| module.clone()).bench_values(container::pack);
}

/// `cuModuleLoadData` of an image that was kept in a file.
#[divan::bench]
fn load_image(bencher: Bencher) {
    let image = container::pack(link(inputs(&texts())).expect("they fit"));
    println!("the image has {} bytes", image.len());
    // As long as it is the latest, nothing is parsed.
    let _ = load("image", &image, 90);
    bencher.bench(|| load("image", &image, 90).expect("what was packed"));
}
