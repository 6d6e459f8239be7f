//! Directives that move data, wait, or set something up: calls of the runtime.

use std::ops::Range;

use clang_sys::{CXCursor_DeclRefExpr, CXCursor_VarDecl};

use super::directive::{Clause, Directive, Name};
use super::index::{Class, Key, range_of};
use super::items::{self, Item};
use super::quoted;
use super::region::compares_to_host;
use super::writer::{Names, Writer, Written};
use crate::ast::Node;
use crate::error::Complaint;
use crate::lexer::Token;
use crate::pragma::closing;

impl Writer<'_> {
    /// The site of a directive, and what it asks of the launch: two declarations.
    pub fn site(&self, directive: &Directive, names: &Names, launch: [&str; 4]) -> Written {
        let kind = match directive.name {
            Name::Parallel => "PARALLEL",
            Name::Kernels => "KERNELS",
            Name::Serial => "SERIAL",
            Name::Data => "DATA",
            Name::EnterData => "ENTER_DATA",
            Name::ExitData => "EXIT_DATA",
            Name::HostData => "HOST_DATA",
            Name::Update => "UPDATE",
            Name::Wait => "WAIT",
            _ => "DECLARE",
        };
        let asynchronous = match directive.clause("async") {
            None => "-2".to_owned(),
            Some(clause) => clause
                .value()
                .map_or("-1".to_owned(), |range| format!("(int)({})", self.expression(&range, names))),
        };
        let on_host = compares_to_host(directive, &|range| self.expression(range, names));
        let [gangs, workers, vector, open] = launch;
        let function = self.index.function_at(directive.range.start);
        let function = function.map_or(String::new(), |function| function.node.name());
        let source = self.described(&function, directive.range.start);
        Ok(format!(
            "const struct __gangway_acc_site __acc_site = {{ {source}, __GANGWAY_ACC_{kind} }}; (void)__acc_site; \
             struct __gangway_acc_launch __acc_launch = {{ {asynchronous}, {on_host}, 0, {{ {gangs} }}, \
             (unsigned)({workers}), (unsigned)({vector}), {open}, {{ 1, 1, 1 }} }}; (void)__acc_launch; "
        ))
    }

    /// What clang writes of a variable or a construct: `;name;file;line;column;;`, of a construct
    /// `;file;function;line;column;;`.
    fn described(&self, name: &str, at: usize) -> String {
        let (file, line) = self.source.presumed(at);
        quoted(&format!(";{file};{name};{line};1;;"))
    }

    /// The `wait` clause: a call before the construct.
    pub fn waits(&self, directive: &Directive, names: &Names) -> String {
        let clauses = directive.for_gpus().into_iter().filter(|clause| clause.name == "wait");
        clauses.map(|clause| self.wait_call(clause.tokens.as_deref().unwrap_or_default(), names)).collect()
    }

    /// The call for a wait-argument (section 2.16).
    fn wait_call(&self, argument: &[Token], names: &Names) -> String {
        let (device, queues) = wait_argument(argument);
        let number = |tokens: &[Token]| {
            let range = super::directive::bytes(tokens)?;
            Some(format!("(int)({})", self.expression(&range, names)))
        };
        let device = number(device).unwrap_or("__GANGWAY_ACC_OWN_DEVICE".to_owned());
        let queues: Vec<String> = crate::pragma::split(queues, ",").into_iter().filter_map(number).collect();
        let call = |count, queues| {
            format!("__gangway_acc_wait(&__acc_site, __acc_launch.async, {device}, {count}, {queues}); ")
        };
        match queues.len() {
            0 => call(0, "0"),
            count => {
                let list = queues.join(", ");
                format!("{{ int __acc_queues[] = {{ {list} }}; {}}} ", call(count, "__acc_queues"))
            }
        }
    }

    /// The declaration of an array of items, and how many they are.
    pub fn items(&self, items: &[Item], names: &Names) -> Result<(String, usize), Complaint> {
        let mut fields = Vec::new();
        let mut rows = Vec::new();
        let mut before = String::new();
        for (place, item) in items.iter().enumerate() {
            let variable = item.key.and_then(|key| self.index.variable(key));
            let (file, line) = self.source.presumed(item.at);
            let label = quoted(&format!(";{};{file};{line};1;;", item.written(self.text)));
            let is_on_devices = variable.is_some_and(|variable| self.is_on_devices(variable));
            let read = |range: &_| self.expression(range, names);
            let written = item.fields(variable, self.text, &label, place, is_on_devices, &read)?;
            before += &written.declared;
            fields.push(written.own);
            rows.extend(written.rows);
        }
        fields.extend(rows);
        let count = fields.len();
        // An array of C has an element.
        if fields.is_empty() {
            fields.push("{ 0, 0, 0, 0, 0, 0, 0 }".to_owned());
        }
        let fields = fields.join(", ");
        Ok((format!("{before}struct __gangway_acc_item __acc_items[] = {{ {fields} }}; "), count))
    }

    /// `data` and `host_data`.
    pub fn data_region(
        &mut self,
        directive: &Directive,
        names: &Names,
    ) -> Result<(usize, String), Complaint> {
        let statement = self.statement(directive)?;
        let body = self.whole(statement);
        let items = items::read(directive, &self.index, self.text)?;
        let site = self.site(directive, names, ["0"; 4])?;
        let (declared, count) = self.items(&items, names)?;
        let waits = self.waits(directive, names);
        let mut inner = names.clone();
        let mut before = format!("{{ {site}{declared}{waits}");
        let mut after = String::new();
        if directive.name == Name::HostData {
            before += &format!("__gangway_acc_host_data(&__acc_site, __acc_items, {count}, &__acc_launch); ");
            for (at, item) in items.iter().enumerate() {
                let Some(variable) = item.key.and_then(|key| self.index.variable(key)).cloned() else {
                    continue;
                };
                let name = self.fresh("u", &variable.name);
                let object = self.expression(&item.object, names);
                let is_pointer = variable.class == Class::Pointer;
                let address = if is_pointer { object } else { format!("&({object})") };
                before += &format!(
                    "__auto_type {name} = __gangway_acc_moved({address}, __acc_items[{at}]); (void){name}; "
                );
                inner.insert(variable.key, if is_pointer { name } else { format!("{name}[0]") });
            }
        } else {
            before +=
                &format!("__gangway_acc_data_begin(&__acc_site, __acc_items, {count}, &__acc_launch); ");
            after += "__gangway_acc_data_end(); ";
        }
        let visible = (self.visible.len(), self.visible_pointers.len());
        if directive.name == Name::Data {
            let is_whole = |item: &&Item| {
                item.is_variable
                    && item.sections.is_empty()
                    && matches!(item.kind, "COPY" | "COPYIN" | "COPYOUT" | "CREATE")
            };
            self.visible_pointers.extend(items.iter().filter(is_whole).filter_map(|item| item.key));
            self.visible.extend(items.iter().filter(|item| item.is_variable).filter_map(|item| item.key));
        }
        let text = self.host(body.clone(), &inner);
        self.visible.truncate(visible.0);
        self.visible_pointers.truncate(visible.1);
        let text = text?;
        let marker = self.source.marker(body.start);
        Ok((body.end, format!("{before}{marker}{text} {after}}}")))
    }

    /// `enter data`, `exit data`, `update`.
    pub fn unstructured(&mut self, directive: &Directive, names: &Names) -> Written {
        let items = items::read(directive, &self.index, self.text)?;
        let site = self.site(directive, names, ["0"; 4])?;
        let (declared, count) = self.items(&items, names)?;
        let waits = self.waits(directive, names);
        let function = match directive.name {
            Name::EnterData => "enter_data",
            Name::ExitData => "exit_data",
            _ => "update",
        };
        Ok(format!(
            "{{ {site}{declared}{waits}__gangway_acc_{function}(&__acc_site, __acc_items, {count}, &__acc_launch); }}"
        ))
    }

    pub fn wait(&mut self, directive: &Directive, names: &Names) -> Written {
        let site = self.site(directive, names, ["0"; 4])?;
        let call = self.wait_call(directive.argument.as_deref().unwrap_or_default(), names);
        Ok(format!("{{ {site}if (!__acc_launch.on_host) {{ {call}}} }}"))
    }

    /// `init`, `shutdown`, `set` (sections 2.14.1 to 2.14.3): calls of routines.
    pub fn settings(&mut self, directive: &Directive, names: &Names) -> Written {
        let value = |name: &str| directive.value(name).map(|range| self.expression(&range, names));
        let named = directive.settings_type();
        let kind = match (directive.type_variable(), named) {
            (Some(variable), _) => format!("(int)({})", self.expression(&variable.range, names)),
            (None, Some(name)) => device_type(&name.text).to_owned(),
            (None, None) => CURRENT_TYPE.to_owned(),
        };
        let mut text = match (directive.name, value("device_num")) {
            (Name::Init, None) => format!("__gangway_acc_init({kind}); "),
            (Name::Init, Some(number)) => format!("__gangway_acc_init_device({number}, {kind}); "),
            (Name::Shutdown, None) => format!("__gangway_acc_shutdown({kind}); "),
            (Name::Shutdown, Some(number)) => format!("__gangway_acc_shutdown_device({number}, {kind}); "),
            (_, Some(number)) => format!("__gangway_acc_set_device_num({number}, {kind}); "),
            (_, None) if named.is_some() => format!("__gangway_acc_set_device_type({kind}); "),
            _ => String::new(),
        };
        if let Some(queue) = value("default_async") {
            text += &format!("__gangway_acc_set_default_async({queue}); ");
        }
        Ok(match value("if") {
            Some(condition) => format!("{{ if ({condition}) {{ {text}}} }}"),
            None => format!("{{ {text}}}"),
        })
    }

    /// `declare` (section 2.13): of variables that live as long as the program, devices have their own.
    pub fn declare(&mut self, directive: &Directive, names: &Names) -> Written {
        let items = items::read(directive, &self.index, self.text)?;
        let is_in_function = self.index.function_at(directive.range.start).is_some();
        let mut statics = Vec::new();
        let mut locals = Vec::new();
        let mut pointers = String::new();
        for mut item in items {
            if item.kind == "LINK" {
                item.kind = "CREATE";
                if !self.is_used_in_routines(&self.text[item.object.clone()]) {
                    continue;
                }
            }
            let variable = item.key.and_then(|key| self.index.variable(key));
            match variable.filter(|variable| variable.is_static) {
                Some(variable) if item.kind != "DEVICEPTR" => statics.push(variable.path.clone()),
                _ if !is_in_function => {
                    // Before the tree knows a use of it: its name is enough.
                    let name = self.text[item.object.clone()].to_owned();
                    if item.kind == "DEVICEPTR" {
                        pointers += &self.declared_pointer(&name);
                    }
                    statics.push(name);
                }
                _ => {
                    if item.kind == "DEVICEPTR" {
                        continue;
                    }
                    item.flags.retain(|flag| *flag != "FINALIZE");
                    if item.key.is_none() {
                        // The tree has no use of it here.
                        let name = &self.text[item.object.clone()];
                        let function = self.index.function_at(directive.range.start);
                        let code = function.and_then(|function| range_of(function.body)).unwrap_or_default();
                        item.key = self.variable_named(name, &code);
                        item.is_variable = item.key.is_some();
                    }
                    locals.push(item);
                }
            }
        }
        let mut text = String::new();
        if !statics.is_empty() {
            let marker = self.source.marker(directive.range.end);
            text += &format!("\n#pragma omp declare target({})\n{pointers}{marker}", statics.join(", "));
        }
        if !locals.is_empty() {
            let site = self.site(directive, names, ["0"; 4])?;
            let (declared, count) = self.items(&locals, names)?;
            let name = self.fresh("d", "declared");
            text += &format!(
                "__attribute__((cleanup(__gangway_acc_declare_end))) int {name} = ({{ {site}{declared}\
                 __gangway_acc_data_begin(&__acc_site, __acc_items, {count}, &__acc_launch); 0; }}); (void){name};"
            );
        }
        Ok(text)
    }

    /// Whether functions that devices call use a variable of a name: then devices have one of their own, also of
    /// `link`. Constructs alone have what data clauses bring of it (section 2.13.3).
    pub fn is_used_in_routines(&self, name: &str) -> bool {
        fn refers(node: Node<'_>, name: &str) -> bool {
            let is_it = || node.referenced().is_some_and(|declared| declared.kind() == CXCursor_VarDecl);
            node.kind() == CXCursor_DeclRefExpr && node.name() == name && is_it()
                || node.children().into_iter().any(|child| refers(child, name))
        }
        let constructs = self.source.directives.iter().filter(|one| one.is_compute());
        let bodies: Vec<Range<usize>> =
            constructs.filter_map(|one| Some(self.whole(self.statement(one).ok()?))).collect();
        let is_called = |key: Key| {
            let mut calls = self.index.calls.iter().filter(|call| call.function == key);
            calls.any(|call| bodies.iter().any(|body| body.contains(&call.range.start)))
        };
        let functions = self.index.functions.iter();
        let mut routines =
            functions.filter(|function| self.routines.contains_key(&function.key) || is_called(function.key));
        routines.any(|function| refers(function.body, name))
    }

    /// A pointer of `declare deviceptr`: devices have one of their own, which constructs whose routines may use it set to
    /// the host's. Where another variable of its name is in scope they find it by this one.
    fn declared_pointer(&mut self, name: &str) -> String {
        let address = format!("__gangway_acc_declared_{name}");
        let text = format!("static __typeof__({name}) *const {address} __attribute__((unused)) = &{name};\n");
        self.pointers.push(address);
        text
    }

    /// clang leaves nothing of a variable in a device's image that only its unit sees, so that the host cannot
    /// find it. Such variables of `declare` get names that others see, and that tell their units apart. Nor does it
    /// define there what is `extern` and has a value; that is a definition without the word as well.
    pub fn exposed(&self, identity: u64) -> Vec<(Range<usize>, String)> {
        let declares = self.source.directives.iter().filter(|directive| directive.name == Name::Declare);
        let mut edits = Vec::new();
        for name in declares.flat_map(|directive| directive.clauses.iter().flat_map(Clause::items)) {
            let Some(name) = name.first() else { continue };
            let variable = self.index.variables.values().find(|variable| {
                let has_value = variable.initialiser.is_some() && !variable.is_const;
                variable.name == name.text
                    && variable.is_static
                    && (variable.is_of_its_unit && !variable.is_constant
                        || !variable.is_of_its_unit && has_value)
            });
            let Some(variable) = variable else { continue };
            let tokens = crate::lexer::tokens(self.text[variable.range.clone()].as_bytes());
            let at = |token: &Token| token.range.start + variable.range.start;
            let word = if variable.is_of_its_unit { "static" } else { "extern" };
            let mut before = tokens.iter().take_while(|token| token.text != variable.name);
            let Some(storage) = before.find(|token| token.is(word)) else { continue };
            let removed = (at(storage)..at(storage) + word.len(), String::new());
            if !variable.is_of_its_unit {
                edits.push(removed);
                continue;
            }
            let Some(name) = tokens.iter().position(|token| at(token) == variable.key) else { continue };
            let index = end_of_declarator(&tokens, name);
            let end = tokens[index].range.end + variable.range.start;
            edits.push(removed);
            edits.push((end..end, format!(" __asm__(\"__gangway_acc_{}_{identity:016x}\")", variable.name)));
        }
        edits.sort_by_key(|(range, _)| (range.start, range.end));
        edits.dedup_by(|one, other| one.0 == other.0);
        edits
    }
}

/// The last token of the declarator of a name, behind which a label stands: `a[2]`, `(*p)[3]`, `(*f)(int)`.
fn end_of_declarator(tokens: &[Token], name: usize) -> usize {
    let mut index = name;
    while let Some(next) = tokens.get(index + 1) {
        index += match closing(&tokens[index + 1..]) {
            Some(end) if next.is("[") || next.is("(") => 1 + end,
            _ if next.is(")") => 1,
            _ => break,
        };
    }
    index
}

/// `acc_device_current` of `acc_device_t`, whose values a program without `openacc.h` has no names for.
const CURRENT_TYPE: &str = "-1";

/// The value of `acc_device_t` for a name in a `device_type` clause.
fn device_type(name: &str) -> &'static str {
    match name.strip_prefix("acc_device_").unwrap_or(name) {
        "host" | "multicore" => "2",
        "nvidia" => "5",
        "radeon" => "8",
        "*" | "default" => "1",
        _ => "4",
    }
}

/// The parts of a wait-argument, `devnum: d : queues: a, b`: the device, which may be missing, and the queues.
fn wait_argument(tokens: &[Token]) -> (&[Token], &[Token]) {
    let begins =
        |tokens: &[Token], word| matches!(tokens, [first, second, ..] if first.is(word) && second.is(":"));
    let mut device: &[Token] = &[];
    let mut queues = tokens;
    if begins(queues, "devnum") {
        // A colon of a conditional expression is not the one behind the device.
        let mut open = 0;
        let end = queues[2..].iter().position(|token| {
            open += usize::from(token.is("?"));
            let is_end = token.is(":") && open == 0;
            open -= usize::from(token.is(":") && open > 0);
            is_end
        });
        let end = end.map_or(queues.len(), |end| end + 2);
        (device, queues) = (&queues[2..end], queues.get(end + 1..).unwrap_or_default());
    }
    if begins(queues, "queues") {
        queues = &queues[2..];
    }
    (device, queues)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declarator_ends_behind_its_parentheses() {
        let rest = |text: &str| {
            let tokens = crate::lexer::tokens(text.as_bytes());
            let name = tokens.iter().position(|token| token.is("p")).unwrap();
            text[tokens[end_of_declarator(&tokens, name)].range.end..].to_owned()
        };
        assert_eq!(rest("double p = 1"), " = 1");
        assert_eq!(rest("double p[2][N] = {0}"), " = {0}");
        assert_eq!(rest("double (*p), q"), ", q");
        assert_eq!(rest("double (*p)[3] = 0"), " = 0");
        assert_eq!(rest("int (*(*p)[2])(int, int)"), "");
    }

    #[test]
    fn a_wait_argument_has_a_device_and_queues() {
        let parts = |text: &str| {
            let tokens = crate::lexer::tokens(text.as_bytes());
            let (device, queues) = wait_argument(&tokens);
            [device, queues]
                .map(|tokens| tokens.iter().map(|token| &*token.text).collect::<Vec<_>>().concat())
        };
        assert_eq!(parts(""), ["", ""]);
        assert_eq!(parts("1, f(2, 3)"), ["", "1,f(2,3)"]);
        assert_eq!(parts("queues: 1, 2"), ["", "1,2"]);
        assert_eq!(parts("devnum: 1 : queues : 2, 3"), ["1", "2,3"]);
        assert_eq!(parts("devnum: d + 1 : 2"), ["d+1", "2"]);
        assert_eq!(parts("devnum: a ? b : c : queues: d ? e : f"), ["a?b:c", "d?e:f"]);
        assert_eq!(parts("a ? b : c"), ["", "a?b:c"]);
    }
}
