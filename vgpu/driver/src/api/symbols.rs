//! Which symbol a name of the driver API means, by the version of CUDA that a program was
//! built for: `cuGetProcAddress`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::exports;

/// Name, version since, symbol, and perhaps the symbol for per-thread default streams.
const VERSIONS: &str = include_str!("../../symbols/versions.txt");

/// One symbol of a name.
#[derive(Clone, Copy, Debug)]
struct Version {
    since: i32,
    symbol: &'static str,
    per_thread: Option<&'static str>,
}

struct Symbols {
    /// The versions of each name, in ascending order.
    names: HashMap<&'static str, Vec<Version>>,
    addresses: HashMap<&'static str, usize>,
}

/// Why there is no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    Name,
    /// The name is of a later version than the program asks for.
    Version,
}

fn symbols() -> &'static Symbols {
    // No lock: a forked child, which may ask as well, would wait for a thread that it does not
    // have.
    static SYMBOLS: AtomicPtr<Symbols> = AtomicPtr::new(std::ptr::null_mut());
    let known = SYMBOLS.load(Ordering::Acquire);
    // SAFETY: what has been published stays for ever.
    if let Some(known) = unsafe { known.as_ref() } {
        return known;
    }
    let made: &'static Symbols = Box::leak(Box::new(Symbols::read()));
    // Several threads may get here; whichever of their tables is kept, all are alike.
    SYMBOLS.store(std::ptr::from_ref(made).cast_mut(), Ordering::Release);
    made
}

impl Symbols {
    fn read() -> Self {
        let mut names: HashMap<_, Vec<Version>> = HashMap::new();
        for line in lines(VERSIONS) {
            let mut fields = line.split(' ');
            let (Some(name), Some(since), Some(symbol)) = (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            let Ok(since) = since.parse() else { continue };
            names.entry(name).or_default().push(Version { since, symbol, per_thread: fields.next() });
        }
        let addresses = exports::all().map(|export| (export.entry.name(), export.address as usize));
        Self { names, addresses: addresses.collect() }
    }
}

/// The lines of a list that are no comments.
pub fn lines(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The address of the newest symbol of a name that a program of this version may use. A driver of
/// version `driver` does not have later ones.
pub fn find(name: &str, version: i32, driver: i32, per_thread: bool) -> Result<*const (), Missing> {
    let symbols = symbols();
    let versions = symbols.names.get(name).ok_or(Missing::Name)?;
    let known = versions.iter().take_while(|known| known.since <= driver).count();
    let versions = versions.get(..known).filter(|versions| !versions.is_empty()).ok_or(Missing::Name)?;
    let version = versions.iter().rev().find(|known| known.since <= version).ok_or(Missing::Version)?;
    let symbol = version.per_thread.filter(|_| per_thread).unwrap_or(version.symbol);
    symbols.addresses.get(symbol).map(|&address| address as *const ()).ok_or(Missing::Name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Every symbol of the real library.
    fn all() -> BTreeSet<&'static str> {
        lines(VERSIONS).flat_map(|line| line.split(' ').skip(2)).collect()
    }

    fn exported() -> BTreeSet<&'static str> {
        exports::all().map(|export| export.entry.name()).collect()
    }

    #[test]
    fn every_symbol_is_exported_and_no_other() {
        let missing: Vec<_> = all().difference(&exported()).copied().collect();
        let unknown: Vec<_> = exported().difference(&all()).copied().collect();
        assert!(missing.is_empty(), "add these to symbols/unsupported.txt or implement them: {missing:#?}");
        assert!(unknown.is_empty(), "not in symbols/versions.txt: {unknown:#?}");
    }

    /// A client looks names up with dlsym, so each must be there; most must do something.
    #[test]
    fn clients_find_what_they_look_up() {
        let supported: BTreeSet<_> = exports::SUPPORTED.iter().map(|export| export.entry.name()).collect();
        let clients = [
            ("libgomp", include_str!("../../symbols/clients/libgomp.txt"), true),
            ("llvm", include_str!("../../symbols/clients/llvm.txt"), true),
            ("numba", include_str!("../../symbols/clients/numba.txt"), true),
            ("cudarc", include_str!("../../symbols/clients/cudarc.txt"), false),
        ];
        for (client, list, works) in clients {
            let names: Vec<_> = lines(list).collect();
            assert!(names.len() > 40, "{client}");
            for name in names {
                // A name marked with ? is looked up and only called on a kind of device that this
                // is not.
                let (name, called) = match name.strip_suffix(" ?") {
                    Some(name) => (name, false),
                    None => (name, works),
                };
                assert!(exported().contains(name), "{client} looks up {name}");
                assert!(!called || supported.contains(name), "{client} calls {name}, which does nothing");
            }
        }
    }

    #[test]
    fn versions_choose_symbols() {
        let address = |name: &str| {
            let export = exports::all().find(|export| export.entry.name() == name);
            Ok(export.unwrap_or_else(|| panic!("no {name}")).address)
        };
        assert_eq!(find("cuMemAlloc", 12_000, 13_050, false), address("cuMemAlloc_v2"));
        assert_eq!(find("cuMemAlloc", 3_010, 13_050, false), address("cuMemAlloc"));
        assert_eq!(find("cuMemcpyHtoD", 12_000, 13_050, true), address("cuMemcpyHtoD_v2_ptds"));
        assert_eq!(find("cuMemcpyHtoD", 12_000, 13_050, false), address("cuMemcpyHtoD_v2"));
        assert_eq!(find("cuInit", 12_000, 13_050, true), address("cuInit"));
        assert_eq!(find("cuLaunchKernelEx", 11_000, 13_050, false), Err(Missing::Version));
        assert_eq!(find("cuMemAlloc_v2", 12_000, 13_050, false), Err(Missing::Name));
        assert_eq!(find("cuNothing", 12_000, 13_050, false), Err(Missing::Name));
        assert_eq!(find("cuCtxSynchronize", 13_000, 13_050, false), address("cuCtxSynchronize_v2"));
    }

    /// What an older driver does not have is not there, whatever a program asks for.
    #[test]
    fn an_older_driver_has_older_symbols() {
        let address = |name: &str| {
            let export = exports::all().find(|export| export.entry.name() == name);
            Ok(export.unwrap_or_else(|| panic!("no {name}")).address)
        };
        assert_eq!(find("cuCtxSynchronize", 13_000, 12_080, false), address("cuCtxSynchronize"));
        assert_eq!(find("cuMemGetMemPool", 13_000, 12_080, false), Err(Missing::Name));
        assert_eq!(find("cuMemGetMemPool", 12_080, 13_050, false), Err(Missing::Version));
    }
}
