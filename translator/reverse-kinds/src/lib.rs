//! Kinds of mappings of translated reverse offload: sets of bits, which the translator writes into a
//! program and the front end reads when it runs. `gangway/reverse_offload.h` has the same bits for
//! compilers.

#![forbid(unsafe_code)]

/// Copied to the host before the region.
pub const TO: u32 = 1;
/// Copied to the device behind it.
pub const FROM: u32 = 2;
/// Copied also if it is present.
pub const ALWAYS: u32 = 4;
/// It is an error if it is not present.
pub const PRESENT: u32 = 8;
/// The pointer's value, translated if it leads to mapped data.
pub const POINTER: u32 = 16;
/// A pointer that leads to the base of its group.
pub const ATTACH: u32 = 32;

/// All bits.
pub const KNOWN: u32 = TO | FROM | ALWAYS | PRESENT | POINTER | ATTACH;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_header() {
        let header = include_str!("../../include/gangway/reverse_offload.h");
        let bits = [
            ("TO", TO),
            ("FROM", FROM),
            ("ALWAYS", ALWAYS),
            ("PRESENT", PRESENT),
            ("POINTER", POINTER),
            ("ATTACH", ATTACH),
        ];
        let said: Vec<(&str, u32)> = header
            .lines()
            .filter_map(|line| line.trim().strip_prefix("GANGWAY_REVERSE_")?.split_once(" = "))
            .map(|(name, bit)| (name, bit.trim_end_matches(',').parse().unwrap()))
            .collect();
        assert_eq!(said, bits);
        assert_eq!(said.iter().fold(0, |known, (_, bit)| known | bit), KNOWN);
    }
}
