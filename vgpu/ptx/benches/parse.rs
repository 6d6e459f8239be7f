//! How long a module takes from text to checked representation.
//!
//! `cargo bench -p gangway-ptx`. Wanted: the image of a GCC OpenMP program, which
//! carries the parts of libgomp and newlib that it needs, in well under 20 ms.

use std::fs;

use divan::Bencher;
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

const PROGRAM: &str = "int main(void) { int s = 0;
#pragma omp target teams distribute parallel for reduction(+ : s) map(tofrom : s)
for (int i = 0; i < 1000; i++) s += i;
return s != 499500; }";

/// The texts of a linked image; none without the compiler.
fn image() -> Vec<String> {
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
    let texts = data.split(|&byte| byte == 0).filter(|text| !text.is_empty());
    texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

#[divan::bench]
fn gcc_openmp_image(bencher: Bencher) {
    let texts = image();
    let bytes: usize = texts.iter().map(String::len).sum();
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        texts.iter().map(|text| gangway_ptx::parse(text).expect("GCC's PTX").functions.len()).sum::<usize>()
    });
}

#[divan::bench]
fn small_kernel(bencher: Bencher) {
    let text = "
.version 7.8
.target sm_80
.address_size 64
.visible .entry add(.param .u64 out, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<5>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	setp.ge.u32 %p1, %r2, %r1;
	@%p1 bra done;
	cvta.to.global.u64 %rd2, %rd1;
	mul.wide.u32 %rd3, %r2, 4;
	add.s64 %rd4, %rd2, %rd3;
	st.global.u32 [%rd4], %r2;
done:
	ret;
}
";
    bencher.counter(BytesCount::new(text.len())).bench(|| gangway_ptx::parse(text).expect("correct PTX"));
}
