//! Names of C++, as compilers mangle them by Itanium's ABI.

/// What they begin with.
pub(super) const MARK: &str = "_Z";

/// The qualified name at the start of a mangled one.
pub(super) struct Name {
    /// At least one.
    pub(super) parts: Vec<String>,
    /// ABI tags, of whichever parts.
    pub(super) tags: Vec<String>,
}

/// Reads the name of a function; `None` for anything rarer than namespaces, classes, templates,
/// constructors and lambdas.
pub(super) fn read(mangled: &str) -> Option<Name> {
    let mut parser = Itanium { rest: mangled };
    let mut parts: Vec<String> = Vec::new();
    let mut tags: Vec<String> = Vec::new();
    if !parser.eat("N") {
        parts.extend(parser.eat("St").then(|| "std".to_owned()));
        parts.push(parser.component()?);
        return Some(Name { parts, tags });
    }
    // cv- and ref-qualifiers of the member function.
    while parser.eat("r") || parser.eat("V") || parser.eat("K") || parser.eat("R") || parser.eat("O") {}
    while !parser.eat("E") {
        if parser.eat("St") {
            parts.push("std".to_owned());
        } else if parser.eat("I") {
            parser.skip_until_end()?;
        } else if parser.eat("B") {
            tags.push(parser.identifier()?.to_owned());
        } else if parser.eat("C1") || parser.eat("C2") {
            parts.push(parts.last()?.clone());
        } else if parser.eat("D1") || parser.eat("D2") || parser.eat("D0") {
            parts.push(format!("~{}", parts.last()?));
        } else {
            parts.push(parser.component()?);
        }
    }
    (!parts.is_empty()).then_some(Name { parts, tags })
}

struct Itanium<'a> {
    rest: &'a str,
}

impl Itanium<'_> {
    fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// A `<length><identifier>`, or a lambda's `Ul...E_`.
    fn component(&mut self) -> Option<String> {
        self.eat("L"); // internal linkage
        if self.eat("Ul") {
            self.skip_until_end()?;
            let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            self.rest = self.rest[digits..].strip_prefix('_')?;
            return Some("lambda".to_owned());
        }
        if self.eat("cl") {
            return Some("operator()".to_owned());
        }
        let name = self.identifier()?;
        Some(if name.starts_with("_GLOBAL__N") { "(anonymous)".to_owned() } else { name.to_owned() })
    }

    fn identifier(&mut self) -> Option<&str> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let length: usize = self.rest[..digits].parse().ok()?;
        let (name, rest) = self.rest[digits..].split_at_checked(length)?;
        self.rest = rest;
        Some(name)
    }

    /// Skips encoded types up to the `E` that closes what was opened before.
    fn skip_until_end(&mut self) -> Option<()> {
        let mut depth = 1;
        while depth > 0 {
            let first = self.rest.bytes().next()?;
            match first {
                b'0'..=b'9' => {
                    self.identifier()?;
                    continue;
                }
                // Literals: a type and digits, or an external name; the digits would be
                // taken for a length.
                b'L' => {
                    let end = self.rest.find('E')?;
                    if self.rest[..end].contains("_Z") {
                        return None;
                    }
                    self.rest = &self.rest[end + 1..];
                    continue;
                }
                b'S' | b'T' => {
                    // S_, S1_, T_, T0_; or the two-letter St, Sa, Ss...
                    let digits = self.rest[1..].bytes().take_while(u8::is_ascii_alphanumeric).count();
                    let letter = self.rest.as_bytes().get(1).is_some_and(u8::is_ascii_lowercase);
                    let length = if letter { 2 } else { digits + 2 };
                    self.rest = self.rest.get(length..)?;
                    continue;
                }
                b'N' | b'I' | b'J' | b'F' | b'X' => depth += 1,
                b'E' => depth -= 1,
                _ => {}
            }
            self.rest = self.rest.get(1..)?;
        }
        Some(())
    }
}
