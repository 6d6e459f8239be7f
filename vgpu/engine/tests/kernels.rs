//! Kernels by chance, compiled and interpreted: both have to leave the same memory.
//!
//! `GANGWAY_KERNELS` says from which seed on and how many, `FIRST` or `FIRST,COUNT`.

#[path = "kernels/compare.rs"]
mod compare;
#[path = "kernels/generate.rs"]
mod generate;

use compare::Engines;

/// Seeds that are always run.
const COUNT: u64 = 150;

fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
    };
    let length = 60 + seed as usize % 7 * 60;
    (0..length).map(|_| next()).collect()
}

#[test]
fn compiled_kernels_do_what_interpreted_ones_do() {
    let asked = std::env::var("GANGWAY_KERNELS").ok();
    let numbers = |text: &str| -> Vec<u64> { text.split(',').filter_map(|part| part.parse().ok()).collect() };
    let (first, count) = match asked.as_deref().map(numbers).as_deref() {
        Some(&[first]) => (first, 1),
        Some(&[first, count]) => (first, count),
        _ => (0, COUNT),
    };
    let engines = Engines::new();
    let mut failures = Vec::new();
    for seed in first..first + count {
        let kernel = generate::kernel(&bytes(seed));
        if let Err(difference) = engines.compare(&kernel) {
            if count == 1 {
                println!("{}", kernel.text);
            }
            failures.push(format!("seed {seed}: {difference}"));
        }
    }
    assert!(failures.is_empty(), "{} of {count} kernels differ:\n{}", failures.len(), failures.join("\n"));
}
