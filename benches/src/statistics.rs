//! Medians, the only statistics that the report uses.

/// Median of the values; the mean of the middle two for an even count.
///
/// # Panics
/// If there are no values: every case runs at least once.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

/// Median of the ratios of paired values: each pair was measured back to back,
/// so a machine that slows down for a while slows both.
pub fn median_ratio(ours: &[f64], stock: &[f64]) -> f64 {
    let ratios: Vec<f64> = ours.iter().zip(stock).map(|(ours, stock)| ours / stock).collect();
    median(&ratios)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_and_even_counts() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn ratios_are_taken_pair_by_pair() {
        // The machine was ten times slower in the second round.
        assert_eq!(median_ratio(&[1.0, 10.0], &[2.0, 20.0]), 0.5);
    }
}
