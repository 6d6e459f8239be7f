//! Builds the files that the tests read, with the stock compilers.

use std::ops::Deref;

use gangway_commands::Folder;

/// A directory of sources and what compilers make of them.
pub struct Workshop(Folder);

pub const OFFLOAD: &[&str] = &["-O1", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"];

/// Two regions, a variable of each kind, and an indirect function.
pub const SOURCE: &str = r#"
#pragma omp declare target
int total = 5;
double table[100];
#pragma omp end declare target
int far_away;
#pragma omp declare target link(far_away)
void callback(void);
#pragma omp declare target to(callback) indirect
void callback(void) { total++; }
int main(void) {
  int x = 1;
#pragma omp target map(tofrom : x)
  x += total;
#pragma omp target teams distribute parallel for map(tofrom : table)
  for (int i = 0; i < 100; ++i) table[i] += far_away;
  return x;
}
"#;

impl Workshop {
    pub fn new() -> Self {
        let workshop = Workshop(Folder::new());
        workshop.write("program.c", SOURCE);
        workshop
    }

    /// clang-22 with offloading to this machine; gives the file's content.
    pub fn clang(&self, output: &str, arguments: &[&str]) -> Vec<u8> {
        self.tool("clang-22", &[OFFLOAD, arguments, &["-o", output]].concat());
        self.read(output)
    }

    /// clang-22 for a GPU, without any of the vendor's libraries.
    pub fn clang_for(&self, target: &str, processor: &str, output: &str, arguments: &[&str]) -> Vec<u8> {
        let (target, processor) = (format!("--target={target}"), format!("-mcpu={processor}"));
        self.tool("clang-22", &[&[&*target, &*processor, "-nogpulib", "-o", output], arguments].concat());
        self.read(output)
    }
}

impl Deref for Workshop {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.0
    }
}
