//! Variables of the environment.

/// The text of a variable that is set and not empty.
#[must_use]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// As [`variable`], of one that names files to be loaded or written. A program with more
/// rights than its user has no such variable.
#[must_use]
pub fn file_variable(name: &str) -> Option<String> {
    let value = gangway_settings::file_variable(name)?.into_string().ok()?;
    Some(value).filter(|value| !value.is_empty())
}

/// Whether a value of a variable of the stock library switches it on.
#[must_use]
pub fn is_true(value: &str) -> bool {
    ["1", "true", "yes", "on"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Whether a variable of Gangway's own is set, and not to 0.
#[must_use]
pub fn is_on(name: &str) -> bool {
    variable(name).is_some_and(|value| value != "0")
}
