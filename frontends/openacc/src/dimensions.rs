//! How many gangs, workers and lanes there are, where a construct leaves it open: `GOMP_OPENACC_DIM`;
//! and what no device can launch.

use std::sync::OnceLock;

/// Gangs, workers, and the length of vectors; 0 where that is open.
pub type Dimensions = [u32; 3];

/// The places of [`Dimensions`].
pub const GANGS: usize = 0;
/// As above.
pub const WORKERS: usize = 1;
/// As above.
pub const VECTOR: usize = 2;

/// Workers of a gang whose vectors are longer than a warp: each needs a barrier of its own.
pub const WORKERS_WITH_BARRIERS: u32 = 15;

/// `GOMP_OPENACC_DIM`: numbers between colons, each of which may be left out.
#[must_use]
pub fn in_environment() -> Dimensions {
    static KNOWN: OnceLock<Dimensions> = OnceLock::new();
    *KNOWN.get_or_init(|| std::env::var("GOMP_OPENACC_DIM").map_or([0; 3], |text| parse(&text)))
}

/// Numbers up to the first that is none.
fn parse(text: &str) -> Dimensions {
    let mut dimensions = [0; 3];
    for (dimension, number) in dimensions.iter_mut().zip(text.split(':')) {
        match number.trim().parse() {
            Ok(value) => *dimension = value,
            Err(_) if number.is_empty() => {}
            Err(_) => break,
        }
    }
    dimensions
}

/// Whether a gang can have so many threads, of which there may be `most`.
///
/// # Errors
/// Why not, and what to do.
pub fn check(kernel: &str, [_, workers, vector]: Dimensions, most: u32) -> Result<(), String> {
    if workers.saturating_mul(vector) > most {
        return Err(format!(
            "The Nvidia accelerator has insufficient resources to launch '{kernel}' with num_workers = \
             {workers} and vector_length = {vector}\n  help: compile the region with 'num_workers = x and \
             vector_length = y', or the program with '-fopenacc-dim=:x:y', where x * y <= {most}"
        ));
    }
    if workers > WORKERS_WITH_BARRIERS && vector > 32 {
        return Err(format!(
            "The Nvidia accelerator has insufficient barrier resources to launch '{kernel}' with num_workers = \
             {workers} and vector_length = {vector}\n  help: compile the region with 'num_workers = x' where \
             x <= {WORKERS_WITH_BARRIERS}, or with 'vector_length = 32'"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_has_numbers_between_colons() {
        assert_eq!(parse("32:8:64"), [32, 8, 64]);
        assert_eq!(parse(":8"), [0, 8, 0]);
        assert_eq!(parse("16::32"), [16, 0, 32]);
        assert_eq!(parse("16:x:32"), [16, 0, 0]);
        assert_eq!(parse(""), [0; 3]);
        assert_eq!(parse("1:2:3:4"), [1, 2, 3]);
    }

    #[test]
    fn what_cannot_be_launched_is_refused() {
        assert!(check("k", [1, 32, 32], 1024).is_ok());
        assert!(check("k", [1, 33, 32], 1024).unwrap_err().contains("x * y <= 1024"));
        assert!(check("k", [1, 16, 64], 1024).unwrap_err().contains("barrier"));
        assert!(check("k", [1, u32::MAX, u32::MAX], 1024).is_err());
    }
}
