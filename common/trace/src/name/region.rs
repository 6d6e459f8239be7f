//! Target regions: clang names them `__omp_offloading_<device>_<file>_<function>_l<line>`, with an
//! optional `_<count>`; flang does the same with its own mangling of the function.

/// The function and the line (with `_<count>` for a second region on it).
pub(super) fn split(symbol: &str) -> Option<(&str, &str)> {
    let rest = symbol.strip_prefix("__omp_offloading_")?;
    let (device, rest) = rest.split_once('_')?;
    let (file, rest) = rest.split_once('_')?;
    let hex = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (function, line) = rest.rsplit_once("_l")?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbered = match line.split_once('_') {
        Some((line, count)) => digits(line) && digits(count),
        None => digits(line),
    };
    (hex(device) && hex(file) && !function.is_empty() && numbered).then_some((function, line))
}
