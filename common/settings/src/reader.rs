//! Values of variables, and warnings about those that make no sense.

use std::ffi::OsString;

/// Reads settings from what `lookup` says of a variable.
#[derive(Debug)]
pub struct Reader<L> {
    pub lookup: L,
    /// One line per value that was not understood.
    pub warnings: Vec<String>,
}

impl<L: Fn(&str) -> Option<OsString>> Reader<L> {
    /// The text of a variable, without the spaces around it. An empty value is the shell's way to
    /// unset one.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        let value = (self.lookup)(name)?;
        let text = value.to_string_lossy();
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// What `parse` makes of a variable. A value that it does not understand is as good as none.
    pub fn setting<T>(&mut self, name: &str, expected: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let text = self.text(name)?;
        let parsed = parse(&text);
        if parsed.is_none() {
            self.warn(name, expected, "it is ignored");
        }
        parsed
    }

    /// As [`setting`](Self::setting), with a value to use instead of one that is not understood, and
    /// how users write that. A variable that is not set has none either way.
    pub fn setting_or<T>(
        &mut self,
        name: &str,
        expected: &str,
        (spelled, instead): (&str, T),
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text(name)?;
        let parsed = parse(&text);
        if parsed.is_none() {
            self.warn(name, expected, &format!("using {spelled}"));
        }
        parsed.or(Some(instead))
    }

    /// Notes that the value of a variable was not taken, and what comes of it.
    pub fn warn(&mut self, name: &str, expected: &str, outcome: &str) {
        let text = self.text(name).unwrap_or_default();
        self.warnings.push(format!("{name}={text}: expected {expected}; {outcome}"));
    }
}

#[cfg(test)]
mod tests {
    use super::Reader;
    use std::ffi::OsString;

    fn reader(value: &str) -> Reader<impl Fn(&str) -> Option<OsString>> {
        Reader { lookup: move |name: &str| (name == "NAME").then(|| value.into()), warnings: Vec::new() }
    }

    fn number(text: &str) -> Option<u32> {
        text.parse().ok()
    }

    #[test]
    fn values_are_read_without_the_spaces_around_them() {
        let mut reader = reader(" 7 ");
        assert_eq!(reader.setting("NAME", "a number", number), Some(7));
        assert_eq!(reader.setting_or("NAME", "a number", ("1", 1), number), Some(7));
        assert_eq!(reader.setting_or("OTHER", "a number", ("1", 1), number), None);
        assert!(reader.warnings.is_empty());
    }

    #[test]
    fn an_empty_value_is_none() {
        let mut reader = reader("  ");
        assert_eq!(reader.setting("NAME", "a number", number), None);
        assert_eq!(reader.setting_or("NAME", "a number", ("1", 1), number), None);
        assert!(reader.warnings.is_empty());
    }

    #[test]
    fn nonsense_is_told() {
        let mut reader = reader("x");
        assert_eq!(reader.setting("NAME", "a number", number), None);
        assert_eq!(reader.setting_or("NAME", "a number", ("1", 1), number), Some(1));
        assert_eq!(
            reader.warnings,
            ["NAME=x: expected a number; it is ignored", "NAME=x: expected a number; using 1"]
        );
    }
}
