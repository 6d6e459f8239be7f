//! Directives at module level.

use crate::error::{Code, Fault, Result};
use crate::ir::{Alias, Linkage, SourceFile, Symbol, Target};
use crate::lexer::TokenKind;
use crate::types::Version;

use super::Parser;

/// The processors that `.target` may name.
const PROCESSORS: &[u16] = &[
    10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100,
    101, 103, 110, 120, 121,
];

impl<'a> Parser<'a> {
    pub(super) fn module(&mut self) -> Result<()> {
        self.header()?;
        while self.token.kind != TokenKind::End {
            self.module_directive()?;
        }
        Ok(())
    }

    /// `.version`, `.target` and `.address_size`.
    fn header(&mut self) -> Result<()> {
        if !self.eat_word(".version") {
            return Err(self.unexpected(".version"));
        }
        let span = self.token.span;
        let version = self
            .word()
            .split_once('.')
            .and_then(|(major, minor)| Some(Version::new(major.parse().ok()?, minor.parse().ok()?)));
        let version = version.filter(|version| version.major > 0);
        let version = version.ok_or_else(|| self.unexpected("a version such as 8.0"))?;
        self.advance();
        if version > Version::NEWEST {
            let message = format!(
                "PTX {version} is newer than {}, the newest version that is supported",
                Version::NEWEST
            );
            return Err(Fault { code: Code::UnsupportedVersion, span, message });
        }
        self.module.version = version;
        if !self.eat_word(".target") {
            return Err(self.unexpected(".target after .version"));
        }
        self.target()?;
        if self.eat_word(".address_size") {
            let span = self.token.span;
            self.module.address_size = match self.number("32 or 64")? {
                32 => 32,
                64 => 64,
                other => return Err(Fault::invalid(span, format!(".address_size is {other}, not 32 or 64"))),
            };
        }
        Ok(())
    }

    fn target(&mut self) -> Result<()> {
        let mut target = Target::default();
        loop {
            let (name, span) = self.name("a processor such as sm_80")?;
            match name {
                "debug" => target.debug = true,
                "texmode_unified" | "texmode_independent" => target.texture_mode = Some(name.into()),
                "map_f64_to_f32" => {
                    return Err(Fault::unsupported(
                        span,
                        "map_f64_to_f32 is not supported: double stays double",
                    ));
                }
                _ => {
                    let processor = name.strip_prefix("sm_").and_then(|digits| {
                        let number = digits.trim_end_matches(['a', 'f']);
                        let suffix = digits[number.len()..].chars().next();
                        (digits.len() <= number.len() + 1).then_some((number.parse().ok()?, suffix))
                    });
                    match processor.filter(|(number, _)| PROCESSORS.contains(number)) {
                        Some((number, suffix)) => (target.processor, target.suffix) = (number, suffix),
                        None => return Err(Fault::invalid(span, format!("no processor is called '{name}'"))),
                    }
                }
            }
            if !self.eat(b',') {
                break;
            }
        }
        if target.processor == 0 {
            return Err(self.unexpected("a processor in .target"));
        }
        self.module.target = target;
        Ok(())
    }

    fn module_directive(&mut self) -> Result<()> {
        let linkage = match self.word() {
            ".extern" => Linkage::Extern,
            ".visible" => Linkage::Visible,
            ".weak" => Linkage::Weak,
            ".common" => Linkage::Common,
            _ => Linkage::Internal,
        };
        let start = self.token.span;
        if linkage != Linkage::Internal {
            self.advance();
        }
        match self.word() {
            ".func" | ".entry" => self.function(linkage),
            ".global" | ".const" | ".shared" | ".local" => {
                if self.word() == ".local" {
                    return Err(self.unexpected("a variable that may stand outside a function"));
                }
                if linkage == Linkage::Common && self.word() != ".global" {
                    return Err(Fault::invalid(
                        start.to(self.token.span),
                        "only .global variables can be .common",
                    ));
                }
                self.variables(linkage, None)
            }
            _ if linkage != Linkage::Internal => Err(self.unexpected("a function or a variable")),
            ".file" => self.file(),
            ".pragma" => self.pragma(),
            ".alias" => self.alias(),
            ".section" => self.section(),
            ".tex" | ".texref" | ".samplerref" | ".surfref" => {
                let what =
                    format!("{} is not supported: the virtual GPU has no textures and surfaces", self.word());
                Err(Fault::unsupported(self.token.span, what))
            }
            ".version" | ".target" | ".address_size" => {
                Err(Fault::invalid(self.token.span, format!("a second {} in one module", self.word())))
            }
            _ => Err(self.unexpected("a directive")),
        }
    }

    /// `.file 1 "name", 12, 34` and LLVM's form with a directory.
    pub(super) fn file(&mut self) -> Result<()> {
        self.advance();
        let index = self.small_number("a file's number")?;
        let mut name = self.string("the file's name")?.to_owned();
        if self.token.kind == TokenKind::String {
            name = format!("{name}/{}", self.string("the file's name")?);
        }
        while self.eat(b',') {
            self.number("the file's time or size")?;
        }
        match self.module.files.iter_mut().find(|file| file.index == index) {
            Some(file) => file.name = name.into(),
            None => self.module.files.push(SourceFile { index, name: name.into() }),
        }
        Ok(())
    }

    /// The text between the quotes, as it stands.
    pub(super) fn string(&mut self, what: &str) -> Result<&'a str> {
        if self.token.kind != TokenKind::String {
            return Err(self.unexpected(what));
        }
        let text = self.word();
        self.advance();
        Ok(&text[1..text.len() - 1])
    }

    /// Advice to the compiler, like `"nounroll"`; none of it changes what code does.
    pub(super) fn pragma(&mut self) -> Result<()> {
        self.advance();
        self.string("a pragma in quotes")?;
        while self.eat(b',') {
            self.string("a pragma in quotes")?;
        }
        self.expect(b';', "after .pragma")
    }

    fn alias(&mut self) -> Result<()> {
        let start = self.advance().span;
        let mut ids = Vec::new();
        for what in ["the alias", "the function"] {
            let (name, span) = self.name(what)?;
            let Some(Symbol::Function(id)) = self.globals.get(name).copied() else {
                return Err(Fault::invalid(span, format!("'{name}' is no function")));
            };
            ids.push(id);
            if ids.len() == 1 {
                self.expect(b',', "between an alias and its function")?;
            }
        }
        self.expect(b';', "after .alias")?;
        if self.module.version < Version::new(6, 3) {
            return Err(Fault::invalid(start, ".alias needs PTX 6.3"));
        }
        self.module.aliases.push(Alias { alias: ids[0], target: ids[1] });
        Ok(())
    }

    /// Debug information. What an engine uses of it is `.loc` and `.file`; the DWARF
    /// that sections hold is for debuggers of real GPUs and is skipped.
    fn section(&mut self) -> Result<()> {
        self.advance();
        if !matches!(self.token.kind, TokenKind::Dot | TokenKind::Name | TokenKind::String) {
            return Err(self.unexpected("the section's name"));
        }
        self.advance();
        self.expect(b'{', "after .section")?;
        while !self.eat(b'}') {
            if self.token.kind == TokenKind::End || self.at(b'{') {
                return Err(self.unexpected("data or '}' in a section"));
            }
            self.advance();
        }
        Ok(())
    }
}
