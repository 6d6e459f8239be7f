//! Source for stock clang: the call where the region was, and in C the host's function behind it.
//!
//! [`crate::emit_cxx`] has the host's function of C++.

use std::fmt::Write;

use crate::capture::{Action, Captures};
use crate::variable::Variable;

/// What both halves of one region need.
#[derive(Debug)]
pub struct Outline<'o> {
    /// The name of the host's function in the source.
    pub symbol: String,
    /// What it is registered as: an identifier.
    pub key: String,
    pub is_cxx: bool,
    pub captures: &'o Captures<'o>,
    pub conditions: &'o [String],
    pub device: &'o str,
    /// The function that holds the region stands in a part that is declared for devices.
    pub is_for_devices: bool,
    /// What `__func__` is in the region.
    pub function: &'o str,
    /// Variables whose names macros lead to their pointers, in C.
    pub by_macro: Vec<String>,
    /// Parameters of templates, in C++.
    pub parameters: &'o [String],
}

/// Nothing that is written here is the user's to be warned of.
pub const QUIET: &str =
    r#"_Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Weverything\"") "#;
pub const LOUD: &str = r#"_Pragma("clang diagnostic pop")"#;

/// What ends [`Outline::names_of_function`].
pub const END_OF_NAMES: &str = "#undef __func__\n#undef __FUNCTION__\n#undef __PRETTY_FUNCTION__\n";

/// A function between `declare target` and its end is the host's nevertheless.
const HOST_BEGIN: &str = r#"_Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wopenmp-target\"") _Pragma("omp begin declare target device_type(host)") "#;
const HOST_END: &str = r#" _Pragma("omp end declare target") _Pragma("clang diagnostic pop")"#;

impl Outline<'_> {
    pub fn values(&self) -> impl Iterator<Item = &Variable> {
        let by_value = |(_, action): &&(&Variable, Action)| *action == Action::Value;
        self.captures.variables.iter().filter(by_value).map(|(variable, _)| *variable)
    }

    /// The members of the block in C; `size` gives what `sizeof` is asked of for a variable.
    pub fn members(&self, size: impl Fn(&Variable) -> String) -> String {
        let items = self.captures.items.len();
        let mut text =
            format!("struct gangway_reverse_head head; struct gangway_reverse_item items[{}];", items.max(1));
        for (at, variable) in self.values().enumerate() {
            let size = size(variable);
            let _ = write!(
                text,
                " __attribute__((aligned(GANGWAY_REVERSE_ALIGN({size})))) unsigned char v{at}[sizeof({size})];"
            );
        }
        text
    }

    /// What stands where the region was: one statement in one line.
    #[must_use]
    pub fn call(&self) -> String {
        let number = format!("{:#x}ull", crate::identity(self.key.as_bytes()));
        let members = self.members(|variable| variable.name.clone());
        let value = |at| format!("v{at}");
        let body = self.filling(&format!("struct {{ {members} }} __gangway_b;"), value, &number);
        format!("{QUIET}{{ {body}}} {LOUD}")
    }

    /// Fills a block and calls with it; `place` gives the member that holds a value.
    pub fn filling(&self, block: &str, place: impl Fn(usize) -> String, number: &str) -> String {
        let mut text = String::new();
        if self.device != "1" {
            let assert = if self.is_cxx { "static_assert" } else { "_Static_assert" };
            let _ = write!(text, "{assert}(({}) == 1, \"the ancestor must be 1\"); ", self.device);
        }
        for condition in self.conditions {
            let _ = write!(text, "(void)({condition}); ");
        }
        let count = self.captures.items.len();
        let _ = write!(text, "{block} __gangway_b.head.count = {count}; ");
        for (at, item) in self.captures.items.iter().enumerate() {
            let _ = write!(
                text,
                "gangway_reverse_set(&__gangway_b.items[{at}], {}, {}, {}, {}, {}); ",
                item.base, item.begin, item.size, item.kind, item.group
            );
        }
        for (at, variable) in self.values().enumerate() {
            let (name, member) = (&variable.expression, place(at));
            let _ = match self.is_cxx {
                true => write!(
                    text,
                    "gangway_reverse_value_of<__typeof__({name})>::put(__gangway_b.{member}, {name}); "
                ),
                false => write!(
                    text,
                    "__builtin_memcpy(__gangway_b.{member}, (const void *)__builtin_addressof({name}), \
                     sizeof({name})); "
                ),
            };
        }
        let _ = write!(text, "gangway_reverse_call({number}, &__gangway_b, sizeof(__gangway_b)); ");
        text
    }

    /// The host's function; `body` is the region with its own lines, `line` the directive that
    /// gives its place.
    #[must_use]
    pub fn function(&self, body: &[u8], line: &str) -> Vec<u8> {
        let symbol = &self.symbol;
        let members = self.members(|variable| format!("__typeof__({})", variable.ty));
        let (begin, end) = if self.is_for_devices { (HOST_BEGIN, HOST_END) } else { ("", "") };
        let mut text = format!(
            "{begin}{QUIET}struct {symbol}_block {{ {members} }}; \
             static void {symbol}(void *__gangway_v, __SIZE_TYPE__ __gangway_n) {{ \
             struct {symbol}_block *__gangway_b = (struct {symbol}_block *)__gangway_v; \
             gangway_reverse_enter(&__gangway_b->head, __gangway_n); "
        );
        let macros = &self.by_macro;
        let mut value = 0;
        for (variable, action) in &self.captures.variables {
            text += &self.declaration(variable, *action, value);
            value += usize::from(*action == Action::Value);
        }
        text.push('\n');
        text += &self.names_of_function();
        text += LOUD;
        text.push('\n');
        for name in macros {
            let _ = writeln!(text, "#define {name} (*{})", pointer_name(name));
        }
        let _ = writeln!(text, "{line}");
        let mut function = text.into_bytes();
        function.extend_from_slice(body);
        let mut text = "\n".to_owned();
        for name in macros {
            let _ = writeln!(text, "#undef {name}");
        }
        let _ = write!(text, "{QUIET}\n{END_OF_NAMES}");
        for (variable, action) in &self.captures.variables {
            if self.is_copied(variable, *action) && !variable.is_const {
                let (name, pointer) = (&variable.name, pointer_name(&variable.name));
                let _ = writeln!(text, "*{pointer} = {name};");
            }
        }
        let _ = write!(
            text,
            "gangway_reverse_leave(&__gangway_b->head, __gangway_n); }} \
             GANGWAY_HOST_FUNCTION_AS({}, {symbol}); {LOUD}{end}",
            self.key
        );
        function.extend_from_slice(text.as_bytes());
        function
    }

    /// Whether uses of the variable have to go through a pointer: C has no references.
    #[must_use]
    pub fn is_indirect(&self, variable: &Variable, action: Action) -> bool {
        match action {
            Action::Object(_) => !self.is_cxx && !self.is_copied(variable, action),
            Action::Value => !self.is_cxx && variable.is_array,
            Action::Direct | Action::Constant | Action::Private | Action::Pointer(_) => false,
        }
    }

    /// Whether the variable is a copy of an object, which is written back: a directive's clause takes
    /// nothing but names.
    fn is_copied(&self, variable: &Variable, action: Action) -> bool {
        !self.is_cxx && matches!(action, Action::Object(_)) && variable.in_directive && !variable.is_array
    }

    /// The names of the function that holds the region, for the region.
    pub fn names_of_function(&self) -> String {
        let name = self.function;
        match name.is_empty() {
            true => String::new(),
            false => format!(
                "#define __func__ \"{name}\"\n#define __FUNCTION__ \"{name}\"\n\
                 #define __PRETTY_FUNCTION__ \"{name}\"\n"
            ),
        }
    }

    fn declaration(&self, variable: &Variable, action: Action, value: usize) -> String {
        let name = &variable.name;
        let ty = format!("__typeof__({})", variable.ty);
        let place = match action {
            Action::Direct | Action::Constant => return String::new(),
            Action::Private => return format!("{ty} {name}; "),
            Action::Pointer(item) => {
                return format!("{ty} {name} = ({ty})__gangway_b->items[{item}].base; ");
            }
            Action::Object(item) => format!("({ty} *)__gangway_b->items[{item}].base"),
            Action::Value => format!("({ty} *){}", aligned(&ty, value, &format!("v{value}"))),
        };
        let room = if action == Action::Value { room(&ty, value) } else { String::new() };
        if self.is_indirect(variable, action) {
            return format!("{room}{ty} *{} = {place}; ", pointer_name(name));
        }
        if self.is_copied(variable, action) {
            return format!("{ty} *{0} = {place}; {ty} {name} = *{0}; ", pointer_name(name));
        }
        format!("{room}{ty} {name} = *{place}; ")
    }
}

/// Room for a value that wants to be more aligned than blocks are.
pub fn room(ty: &str, value: usize) -> String {
    format!("GANGWAY_REVERSE_ROOM({ty}) __gangway_r{value}[GANGWAY_REVERSE_ROOM_SIZE({ty})]; ")
}

/// Where a value is, as aligned as its type wants it: `member` is its place in the block.
pub fn aligned(ty: &str, value: usize, member: &str) -> String {
    format!(
        "gangway_reverse_aligned(__gangway_b->{member}, __gangway_r{value}, sizeof({ty}), __alignof__({ty}))"
    )
}

/// The pointer that stands for a variable in C.
#[must_use]
pub fn pointer_name(name: &str) -> String {
    format!("__gangway_p_{name}")
}
