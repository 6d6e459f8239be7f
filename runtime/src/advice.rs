//! Words that several messages have: what to do about a pointer, or about a structure.

use gangway_present::Label;

/// A pointer, whose name may be known.
pub(crate) fn pointer(member: Option<&str>) -> String {
    member.map_or("the pointer".to_owned(), |name| format!("`{name}`, the pointer"))
}

/// What to do about a pointer, whose name may be known.
pub(crate) fn map_pointee(label: Label, member: Option<&str>) -> String {
    let member = match member.or(label.name()) {
        Some(name) if member.is_some() => name.to_owned(),
        Some(name) if name.starts_with("this[") => "this->member".to_owned(),
        Some(name) => match name.split_once('[') {
            Some((array, _)) => format!("{array}[i].member"),
            None => format!("{name}.member"),
        },
        None => "s.member".to_owned(),
    };
    format!(
        "map what it points to as well, as in map(tofrom: {member}[0:n]), which attaches the pointer, too"
    )
}

/// What to do about a structure that is mapped in part.
pub(crate) fn map_all_of(label: Label) -> String {
    let name = label.name().unwrap_or("s");
    format!("map all that the region uses of it, or all of it, before: map(tofrom: {name})")
}
