//! The sources that both processes are built of: a library talks with no program of another build.

/// What decides on code, and on how the processes talk.
const SOURCES: [&[u8]; 4] = [
    include_bytes!("library.rs"),
    include_bytes!("machine.rs"),
    include_bytes!("message.rs"),
    include_bytes!("serve.rs"),
];

/// A number of those sources (FNV-1a).
pub(crate) const BUILD: u64 = {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut source = 0;
    while source < SOURCES.len() {
        let mut at = 0;
        while at < SOURCES[source].len() {
            hash = (hash ^ SOURCES[source][at] as u64).wrapping_mul(0x0100_0000_01b3);
            at += 1;
        }
        source += 1;
    }
    hash
};
