//! flang's names of procedures.

/// What they begin with.
pub(super) const MARK: &str = "_Q";

/// `_QQmain` is the main program, `_QPsolve` a procedure, `_QMgridFstepPinner`
/// a procedure in a procedure of a module.
pub(super) fn read(mangled: &str) -> Option<String> {
    if let Some(special) = mangled.strip_prefix('Q') {
        return Some(special.to_owned());
    }
    let mut parts = Vec::new();
    let mut rest = mangled;
    while !rest.is_empty() {
        // Names are lower case; a capital starts the next part and says what it is.
        let (tag, tail) = rest.split_at_checked(1)?;
        if !matches!(tag, "M" | "S" | "F" | "P") {
            return None;
        }
        let end = tail.bytes().position(|byte| byte.is_ascii_uppercase()).unwrap_or(tail.len());
        parts.push(&tail[..end]);
        rest = &tail[end..];
    }
    parts.iter().all(|part| !part.is_empty()).then(|| parts.join("::"))
}
