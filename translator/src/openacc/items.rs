//! The list items of data clauses, and the items that the runtime gets for them.

use std::ops::Range;

use super::directive::{Clause, Directive, bytes};
use super::index::{Class, Index, Key, Variable};
use super::sections::{Section, Sections};
use crate::error::Complaint;
use crate::lexer::{Kind, Token};
use crate::pragma::{closing, split};

/// What a clause does with an item, by the runtime's names, and whether the item may be a mere address.
const KINDS: [(&str, &str); 24] = [
    ("copy", "COPY"),
    ("pcopy", "COPY"),
    ("present_or_copy", "COPY"),
    ("copyin", "COPYIN"),
    ("pcopyin", "COPYIN"),
    ("present_or_copyin", "COPYIN"),
    ("copyout", "COPYOUT"),
    ("pcopyout", "COPYOUT"),
    ("present_or_copyout", "COPYOUT"),
    ("create", "CREATE"),
    ("pcreate", "CREATE"),
    ("present_or_create", "CREATE"),
    ("no_create", "NO_CREATE"),
    ("present", "PRESENT"),
    ("deviceptr", "DEVICEPTR"),
    ("attach", "ATTACH"),
    ("detach", "DETACH"),
    ("delete", "DELETE"),
    ("use_device", "USE_DEVICE"),
    ("self", "UPDATE_SELF"),
    ("host", "UPDATE_SELF"),
    ("device", "UPDATE_DEVICE"),
    ("device_resident", "CREATE"),
    ("link", "LINK"),
];

/// One list item.
#[derive(Clone, Debug)]
pub struct Item {
    pub kind: &'static str,
    pub flags: Vec<&'static str>,
    /// The variable that it begins with.
    pub key: Option<Key>,
    pub at: usize,
    /// What is subscripted, or the whole of it, as source.
    pub object: Range<usize>,
    /// It is the variable and no part of it.
    pub is_variable: bool,
    /// First elements and numbers of elements.
    pub sections: Vec<Section>,
    /// As the user wrote it.
    pub whole: Range<usize>,
    /// What is written for it where no clause names it.
    pub spelled: Option<String>,
    /// So many bytes are meant behind the address that is spelt, and this pointer leads to it.
    pub room: Option<[String; 2]>,
    /// The number of the object that it is a member of, which is on the device in one piece; 0: it is none's.
    pub group: u32,
    /// That object is the variable, or what the variable leads to.
    pub is_of_base: bool,
}

/// What is written for an item.
pub struct Fields {
    /// Declarations before the list.
    pub declared: String,
    /// The item in the list.
    pub own: String,
    /// Those of the dimensions of its [`Sections`], behind all others.
    pub rows: Vec<String>,
}

impl Fields {
    const fn of(own: String) -> Self {
        Self { declared: String::new(), own, rows: Vec::new() }
    }
}

/// What a clause does, as the runtime calls it; nothing for clauses of other things.
pub fn kind(clause: &Clause, directive: &Directive) -> Option<&'static str> {
    let (_, kind) = KINDS.iter().find(|(name, _)| *name == clause.name)?;
    // `self` of compute constructs is a condition.
    (!(clause.name == "self" && directive.is_compute())).then_some(*kind)
}

/// The items of all data clauses of a directive.
pub fn read(directive: &Directive, index: &Index<'_>, text: &str) -> Result<Vec<Item>, Complaint> {
    let mut items = Vec::new();
    for clause in directive.for_gpus() {
        let Some(kind) = kind(clause, directive) else { continue };
        let (words, list) = clause.modified();
        let mut flags = Vec::new();
        for word in words {
            match word {
                "readonly" => flags.push("READONLY"),
                "zero" => flags.push("ZERO"),
                "always" => flags.extend(["ALWAYS_IN", "ALWAYS_OUT"]),
                "alwaysin" => flags.push("ALWAYS_IN"),
                "alwaysout" => flags.push("ALWAYS_OUT"),
                _ => {}
            }
        }
        if directive.clause("finalize").is_some() {
            flags.push("FINALIZE");
        }
        if directive.clause("if_present").is_some() {
            flags.push("IF_PRESENT");
        }
        for tokens in list {
            let mut item = Item::read(kind, flags.clone(), tokens, index, clause.at)?;
            item.means_array(index);
            items.push(item);
        }
    }
    group(&mut items, index, text);
    Ok(items)
}

/// Numbers the objects of which there are members and not the whole: `v.a` and `v.b[0:n]`.
fn group(items: &mut [Item], index: &Index<'_>, text: &str) {
    let whole: Vec<Key> = items.iter().filter(|item| item.is_variable).filter_map(|item| item.key).collect();
    let mut objects: Vec<String> = Vec::new();
    for item in items.iter_mut() {
        let mut tokens = crate::lexer::tokens(text[item.object.clone()].as_bytes());
        for token in &mut tokens {
            token.range = token.range.start + item.object.start..token.range.end + item.object.start;
        }
        let tokens = with_whole_names(&tokens, index);
        let variable = item.key.and_then(|key| index.variable(key));
        if item.is_variable && !item.is_before_flexible(variable) {
            continue;
        }
        let is_of_this =
            index.this.contains(&item.object.start) || index.implicit_this.contains(&item.object.start);
        let Some(object) = object_of(&tokens, variable, is_of_this) else { continue };
        if object.is_variable && item.key.is_some_and(|key| whole.contains(&key)) {
            continue;
        }
        let known = objects.iter().position(|known| *known == object.name).unwrap_or_else(|| {
            objects.push(object.name);
            objects.len() - 1
        });
        item.group = u32::try_from(known).unwrap_or(0) + 1;
        item.is_of_base = object.is_of_base;
    }
}

/// What has members that clauses name.
struct Object {
    /// The same for all of its members.
    name: String,
    /// It is a variable, and not what a pointer leads to.
    is_variable: bool,
    /// It is the variable at the beginning, or what that leads to.
    is_of_base: bool,
}

/// The object of which a list item names a member, as in `v.a`, `v.in.a`, `v[i].a`, `p->a`, `p[i].a` and, of `this`, `a`
/// and `this->a`. What stands behind the last `->` is one piece.
fn object_of(tokens: &[Token], variable: Option<&Variable>, is_of_this: bool) -> Option<Object> {
    const THIS: &str = "this->";
    let arrow = tokens.iter().rposition(|token| token.is("->"));
    let rest = &tokens[arrow.map_or(1, |arrow| arrow + 2).min(tokens.len())..];
    if rest.iter().any(|token| token.is("(") || token.is(",")) {
        return None;
    }
    let led_to = |name: String, is_of_base| Object { name, is_variable: false, is_of_base };
    if let Some(arrow) = arrow {
        let path = tokens[..=arrow].iter().map(|token| &*token.text).collect();
        return Some(led_to(path, arrow == 1));
    }
    let base = tokens.first()?;
    // `this[0:1]` is the object itself.
    if is_of_this && !base.is("this") {
        return Some(led_to(THIS.to_owned(), true));
    }
    let variable = variable?;
    let is_member = rest.iter().any(|token| token.is("."));
    match variable.class {
        // A structure before its flexible array, as in `p[0:1]`.
        Class::Pointer if rest.is_empty() => Some(led_to(format!("{}->", base.text), true)),
        Class::Record | Class::Array if is_member => {
            Some(Object { name: base.text.clone(), is_variable: true, is_of_base: true })
        }
        // An element is a part of what the pointer leads to.
        Class::Pointer if is_member && rest.first().is_some_and(|token| token.is("[")) => {
            Some(led_to(format!("{}->", base.text), true))
        }
        _ => None,
    }
}

/// Tokens of which those that name a variable at the beginning, with its namespaces and classes, are one.
pub fn with_whole_names(tokens: &[Token], index: &Index<'_>) -> Vec<Token> {
    let name = tokens.first().and_then(|first| index.uses.get(&first.range.start)).map(|found| &found.range);
    let length = name.map_or(0, |name| tokens.iter().take_while(|token| token.range.end <= name.end).count());
    match tokens.split_at(length) {
        ([first, .., last], rest) => {
            let text = tokens[..length].iter().map(|token| &*token.text).collect();
            let whole = Token { kind: Kind::Identifier, range: first.range.start..last.range.end, text };
            [&[whole], rest].concat()
        }
        _ => tokens.to_vec(),
    }
}

impl Item {
    pub fn read(
        kind: &'static str,
        flags: Vec<&'static str>,
        tokens: &[Token],
        index: &Index<'_>,
        at: usize,
    ) -> Result<Self, Complaint> {
        let tokens = &with_whole_names(tokens, index)[..];
        let whole = bytes(tokens).unwrap_or(at..at);
        // Sections stand at the end.
        let mut end = tokens.len();
        let mut sections = Vec::new();
        while end > 1 && tokens[end - 1].is("]") {
            let Some(open) = (0..end)
                .rev()
                .find(|open| tokens[*open].is("[") && closing(&tokens[*open..end]) == Some(end - 1 - open))
            else {
                break;
            };
            let inner = &tokens[open + 1..end - 1];
            let parts = split(inner, ":");
            // `a[i].p[0:n]`: subscripts before a member belong to the object; `a[0:n][3]` is a section.
            sections.push(match parts[..] {
                [first, count] => Section { first: bytes(first), count: bytes(count) },
                _ => Section { first: bytes(inner), count: Some(Section::ONE) },
            });
            end = open;
        }
        // Without a colon they are an element of an array, which is one object.
        let has_section = sections.iter().any(|section| section.count != Some(Section::ONE));
        if !has_section {
            end = tokens.len();
            sections.clear();
        }
        sections.reverse();
        // The object, as with GCC and NVIDIA's compilers: `this` is no variable that could be present.
        if end == 1 && tokens[0].is("this") && sections.is_empty() {
            sections.push(Section { first: None, count: Some(Section::ONE) });
        }
        let object = bytes(&tokens[..end]).unwrap_or(at..at);
        let key = index.uses_in(&object).next().map(|found| found.key);
        let first = tokens.first().filter(|token| token.kind == Kind::Identifier);
        // A member of the object at `this` has no key.
        let is_variable = end == 1 && first.is_some() && key.is_some();
        Ok(Self {
            kind,
            flags,
            key,
            at: whole.start,
            object,
            is_variable,
            sections,
            whole,
            spelled: None,
            room: None,
            group: 0,
            is_of_base: false,
        })
    }

    /// A parameter that is declared as an array means that, as with NVIDIA's compilers, and not the pointer that it is.
    /// Where an address is asked for it is one.
    fn means_array(&mut self, index: &Index<'_>) {
        let bound = self.key.and_then(|key| index.variable(key)?.bound.clone());
        let is_address =
            matches!(self.kind, "DEVICEPTR" | "USE_DEVICE" | "PRESENT" | "NO_CREATE" | "ATTACH" | "DETACH");
        if self.is_variable && self.sections.is_empty() && !is_address && bound.is_some() {
            self.sections.push(Section { first: None, count: bound });
        }
    }

    /// Whether it is a structure without the flexible array at its end: both have to be beside each other.
    fn is_before_flexible(&self, variable: Option<&Variable>) -> bool {
        let is_structure =
            |variable: &Variable| variable.class == Class::Pointer && variable.flexible.is_some();
        self.sections.len() == 1 && variable.is_some_and(is_structure)
    }

    /// What the user wrote, or would have.
    pub fn written(&self, text: &str) -> String {
        let written = self.spelled.as_deref().unwrap_or(&text[self.whole.clone()]);
        written.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The source of its fields: begin, bytes, pointer, kind, flags, name; and of those of its [`Sections`].
    /// `read` gives expressions as the place of the construct sees them. The item is `place` in the list.
    /// `is_on_devices`: devices have the variable themselves.
    pub fn fields(
        &self,
        variable: Option<&Variable>,
        text: &str,
        label: &str,
        place: usize,
        is_on_devices: bool,
        read: &dyn Fn(&Range<usize>) -> String,
    ) -> Result<Fields, Complaint> {
        let object = self.spelled.clone().unwrap_or_else(|| read(&self.object));
        let flags =
            self.flags.iter().fold("0".to_owned(), |all, flag| format!("{all} | __GANGWAY_ACC_{flag}"));
        let flags =
            if self.group > 0 { format!("{flags} | __GANGWAY_ACC_MEMBER_OF({})", self.group) } else { flags };
        let kind = format!("__GANGWAY_ACC_{}", self.kind);
        if let Some([bytes, pointer]) = &self.room {
            let fields = format!("{{ (void *)({object}), {bytes}, {pointer}, {kind}, {flags}, {label}, 0 }}");
            return Ok(Fields::of(fields));
        }
        let is_pointer =
            self.is_variable && variable.is_some_and(|variable| variable.class == Class::Pointer);
        let is_address =
            matches!(self.kind, "DEVICEPTR" | "USE_DEVICE" | "PRESENT" | "NO_CREATE") && is_pointer;
        if self.sections.is_empty() && (is_address || matches!(self.kind, "ATTACH" | "DETACH")) {
            let pointer = if matches!(self.kind, "ATTACH" | "DETACH") {
                format!("(void **)&({object})")
            } else {
                "0".to_owned()
            };
            let fields = format!("{{ (void *)({object}), 0, {pointer}, {kind}, {flags}, {label}, 0 }}");
            return Ok(Fields::of(fields));
        }
        if self.sections.is_empty() {
            let flags = match is_pointer && matches!(self.kind, "COPYOUT" | "DELETE") {
                true => format!("{flags} | __GANGWAY_ACC_POINTER"),
                false => flags,
            };
            let fields =
                format!("{{ (void *)&({object}), sizeof({object}), 0, {kind}, {flags}, {label}, 0 }}");
            return Ok(Fields::of(fields));
        }
        if is_pointer && self.sections[0].count.is_none() {
            let message = format!("`{}` is a pointer: the section needs a length", &text[self.whole.clone()]);
            return Err(Complaint::new(self.at, message));
        }
        let sections = Sections::of(&object, &self.sections, read);
        // A pointer in an object that is on the device has to point to there.
        let pointer = match self.is_variable {
            // So has one that devices have themselves.
            true if is_pointer && is_on_devices => format!("(void **)&({object})"),
            true => "0".to_owned(),
            false => format!("__gangway_acc_pointer({object})"),
        };
        let known = variable.filter(|variable| self.is_variable && variable.class != Class::Dependent);
        let may_have_rows = self.sections.len() > 1
            && known.is_none_or(|variable| variable.pointers > usize::from(variable.class == Class::Pointer));
        let (declared, flags, device) = match self.kind {
            "UPDATE_SELF" | "UPDATE_DEVICE" if self.sections.len() > 1 => {
                let (declared, dimensions) = sections.dimensions(place);
                (declared, format!("{flags} | __GANGWAY_ACC_PIECES"), dimensions)
            }
            _ => (String::new(), flags, "0".to_owned()),
        };
        if may_have_rows {
            let (begin, bytes) = (sections.begin(), sections.bytes(0));
            let flags = format!("(unsigned)({flags} | {})", sections.rows_flag());
            let own = format!("{{ {begin}, {bytes}, {pointer}, {kind}, {flags}, {label}, {device} }}");
            return Ok(Fields { declared, own, rows: sections.rows(place) });
        }
        let (first, last) = sections.ends();
        let bytes = format!("(unsigned long)((char *)(&{last} + 1) - (char *)&{first})");
        let own = format!("{{ (void *)&{first}, {bytes}, {pointer}, {kind}, {flags}, {label}, {device} }}");
        Ok(Fields { declared, own, rows: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_an_object_are_known_by_its_name() {
        let object = |text: &str, is_of_this| {
            object_of(&crate::lexer::tokens(text.as_bytes()), None, is_of_this).map(|object| object.name)
        };
        assert_eq!(object("p->a", false).as_deref(), Some("p->"));
        assert_eq!(object("p->in.a[3]", false).as_deref(), Some("p->"));
        assert_eq!(object("v.p->q->a", false).as_deref(), Some("v.p->q->"));
        assert_eq!(object("a", true).as_deref(), Some("this->"));
        assert_eq!(object("this->a", true).as_deref(), Some("this->"));
        assert_eq!(object("in.a", true).as_deref(), Some("this->"));
        assert_eq!(object("this", true), None);
        assert_eq!(object("f(p)->a.b(1)", false), None);
        assert_eq!(object("(*p).a", false), None);
    }
}
