//! The host's function in C++, where the region is.
//!
//! It is a member of a local class, so that it may name what the function around it may: private
//! members, local types, parameters of templates. The class stands in a lambda expression:
//! clang instantiates no local classes of templates that stand in a construct itself. The
//! device's compilation has the class without the region.

use std::fmt::Write;

use crate::capture::Action;
use crate::emit::{END_OF_NAMES, LOUD, Outline, QUIET, aligned, room};
use crate::variable::Variable;

impl Outline<'_> {
    /// What stands before the region; `line` is the directive that gives the place of the
    /// construct, and `inside` that of the region.
    #[must_use]
    pub fn before(&self, line: &str, inside: &str) -> String {
        let symbol = &self.symbol;
        let mut text = format!("{QUIET}{{ const unsigned long long __gangway_f = [] {{ ");
        let mut types = format!("{}", self.captures.items.len().max(1));
        for (at, (variable, action)) in self.captures.variables.iter().enumerate() {
            let name = &variable.expression;
            if *action != Action::Direct {
                let _ = write!(text, "typedef __typeof__({name}) {symbol}_t{at}; ");
            }
            if *action == Action::Constant {
                let _ = write!(text, "constexpr {symbol}_t{at} {symbol}_c{at} = {name}; ");
            }
            if *action == Action::Value {
                let _ = write!(types, ", {symbol}_t{at}");
            }
        }
        if self.captures.this.is_some() {
            let _ = write!(text, "typedef __typeof__(*this) {symbol}_this; ");
        }
        let _ = write!(
            text,
            "typedef gangway_reverse_block<{types}> {symbol}_block; \
             struct {symbol} {{ static constexpr const char *gangway_name() {{ return __PRETTY_FUNCTION__; }} \
             static void gangway_run(void *__gangway_v, __SIZE_TYPE__ __gangway_n) noexcept {{\n\
             #ifndef __GANGWAY_DEVICE__\n{line}\n\
             {symbol}_block *__gangway_b = ({symbol}_block *)__gangway_v; \
             gangway_reverse_enter(&__gangway_b->head, __gangway_n); "
        );
        let mut value = 0;
        for (at, (variable, action)) in self.captures.variables.iter().enumerate() {
            text += &self.reference(variable, *action, at, value);
            value += usize::from(*action == Action::Value);
        }
        if let Some(item) = self.captures.this {
            let _ = write!(
                text,
                "{symbol}_this *__gangway_this = ({symbol}_this *)__gangway_b->items[{item}].base; "
            );
        }
        let names = self.names_of_function();
        let _ = write!(text, "GANGWAY_REVERSE_TRY\n{names}{LOUD}\n{inside}\n");
        text
    }

    /// What stands behind the region; `place` is what a message names it by.
    ///
    /// The block is filled outside of the lambda expression: clang's device code gets references
    /// to variables of the construct wrong that such an expression captures.
    #[must_use]
    pub fn after(&self, place: &str) -> String {
        let symbol = &self.symbol;
        let names = format!("gangway_reverse_names<{}>::of()", self.parameters.join(", "));
        let types = self.values().fold(self.captures.items.len().max(1).to_string(), |types, variable| {
            format!("{types}, __typeof__({})", variable.expression)
        });
        let block = format!("gangway_reverse_block<{types}> __gangway_b;");
        format!(
            "\n{QUIET}\n{END_OF_NAMES}GANGWAY_REVERSE_CATCH({place}) \
             gangway_reverse_leave(&__gangway_b->head, __gangway_n); }} \
             static __attribute__((constructor)) void gangway_begin() {{ \
             gangway_reverse_register(gangway_name(), {names}, gangway_run); }} \
             static __attribute__((destructor)) void gangway_end() {{ \
             gangway_reverse_unregister(gangway_name(), {names}, gangway_run);\n\
             #endif\n\
             }} }}; return gangway_reverse_number({symbol}::gangway_name(), {names}); }}(); {}}} {LOUD}",
            self.filling(&block, member, "__gangway_f")
        )
    }

    /// What a variable's name means in the region.
    fn reference(&self, variable: &Variable, action: Action, at: usize, value: usize) -> String {
        let (name, symbol) = (&variable.name, &self.symbol);
        let ty = format!("{symbol}_t{at}");
        match action {
            Action::Direct => String::new(),
            Action::Private => format!("{ty} {name}; "),
            Action::Constant => format!("constexpr {ty} {name} = {symbol}_c{at}; "),
            Action::Pointer(item) => format!("{ty} {name} = ({ty})__gangway_b->items[{item}].base; "),
            Action::Object(item) => {
                format!("{ty} &{name} = *({ty} *)__gangway_b->items[{item}].base; ")
            }
            Action::Value => format!(
                "{}{ty} &{name} = *({ty} *){}; static_assert(__is_trivially_copyable({ty}), \
                 \"`{name}` is copied to the host, but not trivially copyable\"); ",
                room(&ty, value),
                aligned(&ty, value, &member(value))
            ),
        }
    }
}

/// The member of a block that holds a value.
fn member(value: usize) -> String {
    format!("values{}.bytes", ".rest".repeat(value))
}
