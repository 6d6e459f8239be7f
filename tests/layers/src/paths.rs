//! The paths that a source names.

use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A path in the crate, from its root: `objects`, `stream`, `Stream`. One in another crate of this
/// project begins with that crate's name.
pub type ItemPath = Vec<String>;

/// A path that a source names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// The module that it stands in, which may be one inside of the file.
    pub within: ItemPath,
    pub path: ItemPath,
    /// What it is called there, if it is named in a `use`.
    pub name: Option<String>,
}

/// A path of the parts that stand between `::`.
#[must_use]
pub fn item_path(text: &str) -> ItemPath {
    text.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// The module of a file, whose path is one from the folder with `lib.rs`.
#[must_use]
pub fn module(file: &Path) -> ItemPath {
    let file = file.with_extension("");
    let parts = file.iter().map(|part| part.to_str().unwrap().to_owned());
    parts.filter(|part| !["mod", "lib", "main"].contains(&part.as_str())).collect()
}

/// The paths in the text of a module that begin with `crate`, `self`, `super`, a module that is
/// declared there, or a crate of this project.
///
/// # Panics
///
/// If the text is no Rust source.
#[must_use]
pub fn uses(module: &[String], text: &str) -> Vec<Use> {
    let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{module:?}: {error}"));
    let mut found = Vec::new();
    collect(tokens, module, &mut found);
    found
}

fn word(token: Option<&TokenTree>) -> Option<String> {
    let Some(TokenTree::Ident(ident)) = token else { return None };
    Some(ident.to_string())
}

fn collect(tokens: TokenStream, module: &[String], found: &mut Vec<Use>) {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let declares = |at: usize| word(tokens.get(at)).is_some_and(|word| word == "mod");
    let declared: Vec<_> =
        (1..tokens.len()).filter(|&at| declares(at - 1)).filter_map(|at| word(tokens.get(at))).collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => {
                let mut inner = module.to_vec();
                if group.delimiter() == Delimiter::Brace
                    && at >= 2
                    && declares(at - 2)
                    && let Some(name) = word(tokens.get(at - 1))
                {
                    inner.push(name);
                }
                collect(group.stream(), &inner, found);
                at += 1;
            }
            TokenTree::Ident(ident) => {
                let import = at > 0 && word(tokens.get(at - 1)).is_some_and(|word| word == "use");
                let start = match ident.to_string().as_str() {
                    "crate" => Some(Vec::new()),
                    "self" => Some(module.to_vec()),
                    "super" => Some(module[..module.len().saturating_sub(1)].to_vec()),
                    name if name.starts_with("gangway_") => Some(vec![name.to_owned()]),
                    name if import && declared.iter().any(|declared| declared == name) => {
                        Some([module, &[name.to_owned()]].concat())
                    }
                    _ => None,
                };
                at += 1;
                if let Some(start) = start {
                    let mut tree = Tree { within: module, import, found };
                    at = tree.follow(&tokens, at, start);
                }
            }
            _ => at += 1,
        }
    }
}

/// The paths that have their beginning in common.
struct Tree<'a> {
    within: &'a [String],
    import: bool,
    found: &'a mut Vec<Use>,
}

impl Tree<'_> {
    /// Follows a path from behind its first name; the place behind it.
    fn follow(&mut self, tokens: &[TokenTree], mut at: usize, mut path: ItemPath) -> usize {
        let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
        while colon(at) && colon(at + 1) {
            match tokens.get(at + 2) {
                Some(TokenTree::Ident(ident)) if ident == "super" => drop(path.pop()),
                Some(TokenTree::Ident(ident)) if ident == "self" => {}
                Some(TokenTree::Ident(ident)) => path.push(ident.to_string()),
                Some(TokenTree::Group(group)) => {
                    let inner: Vec<_> = group.stream().into_iter().collect();
                    let comma =
                        |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ',');
                    for part in inner.split(comma) {
                        let Some(first) = word(part.first()) else { continue };
                        let mut path = path.clone();
                        path.extend((first != "self").then_some(first));
                        self.follow(part, 1, path);
                    }
                    return at + 3;
                }
                _ => break,
            }
            at += 3;
        }
        let renamed = word(tokens.get(at)).is_some_and(|word| word == "as");
        let name = if renamed { word(tokens.get(at + 1)) } else { path.last().cloned() };
        self.found.push(Use { within: self.within.to_vec(), path, name: name.filter(|_| self.import) });
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(module: &str, text: &str, expected: &[&str]) {
        let found: Vec<_> =
            uses(&item_path(module), text).into_iter().map(|used| used.path.join("::")).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn uses_are_found_however_they_are_written() {
        check(
            "a",
            "use crate::one; use crate::{two::{b, c}, three, four::d};",
            &["one", "two::b", "two::c", "three", "four::d"],
        );
        check("a", "fn f() { crate::five::f($crate::six) }", &["five::f", "six"]);
        check(
            "a::b",
            "use super::one; use super::super::two; use super::{three::c, four};",
            &["a::one", "two", "a::three::c", "a::four"],
        );
        check("a", "mod one; use one::{self, Thing as Other}; use two::Thing;", &["a::one", "a::one::Thing"]);
        check(
            "a",
            "mod tests { use super::*; use super::super::b; } gangway_c::d();",
            &["a", "b", "gangway_c::d"],
        );
        check("a", "/// See [`crate::b`].\nfn f() { let _ = \"crate::b\"; }", &[]);
    }

    #[test]
    fn an_import_says_what_the_name_is_in_the_module() {
        let names = |text| uses(&item_path("a"), text).into_iter().map(|used| used.name).collect::<Vec<_>>();
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(names("use crate::b::{C, D as E}; fn f(_: crate::F) {}"), [named("C"), named("E"), None]);
    }

    #[test]
    fn files_are_modules() {
        for (file, expected) in [("lib.rs", ""), ("main.rs", ""), ("a/mod.rs", "a"), ("a/b.rs", "a::b")] {
            assert_eq!(module(Path::new(file)), item_path(expected));
        }
    }
}
