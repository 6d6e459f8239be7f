//! How many gangs there are in each dimension (OpenACC 3.3 section 2.5.10).

/// Gangs of each dimension.
type Gangs = [u32; 3];

/// How many there are of all dimensions together.
pub fn all(gangs: Gangs) -> u32 {
    gangs.iter().fold(1, |all, count| all.saturating_mul(*count))
}

/// Fills in what is open (0), so that there are about so many of all dimensions. Dimensions that are open get
/// about as many each.
pub fn filled(mut gangs: Gangs, wanted: u32) -> Gangs {
    let said =
        gangs.iter().filter(|count| **count != 0).fold(1, |all: u32, count| all.saturating_mul(*count));
    let mut rest = (wanted / said).max(1);
    let mut open: u32 = gangs.iter().map(|count| u32::from(*count == 0)).sum();
    for count in gangs.iter_mut().rev().filter(|count| **count == 0) {
        *count = root(rest, open);
        rest /= *count;
        open -= 1;
    }
    gangs
}

/// The largest number of which so many, multiplied, are not more than another.
fn root(number: u32, degree: u32) -> u32 {
    let fits = |root: &u32| root.checked_pow(degree).is_some_and(|power| power <= number);
    if degree == 1 { number } else { (1..=number).take_while(fits).last().unwrap_or(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_is_filled_in() {
        assert_eq!(filled([0, 1, 1], 132), [132, 1, 1]);
        assert_eq!(filled([0, 0, 1], 132), [12, 11, 1]);
        assert_eq!(filled([1, 0, 1], 132), [1, 132, 1]);
        assert_eq!(filled([0, 0, 0], 1000), [10, 10, 10]);
        assert_eq!(filled([200, 0, 0], 132), [200, 1, 1]);
        assert_eq!(filled([7, 5, 3], 1), [7, 5, 3]);
    }

    #[test]
    fn all_of_them_are_a_number() {
        assert_eq!(all([2, 3, 4]), 24);
        assert_eq!(all([u32::MAX, 2, 1]), u32::MAX);
    }
}
