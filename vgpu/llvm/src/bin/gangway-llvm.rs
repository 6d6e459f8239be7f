//! The process that LLVM runs in. The virtual GPUs' libraries start it.

fn main() {
    gangway_llvm::serve();
}
