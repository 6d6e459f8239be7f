//! Which rows of the decoder's table the interpreter does not run. `GANGWAY_BLESS=1` accepts a new list.

use std::collections::BTreeSet;
use std::path::Path;

use gangway_commands::golden;
use gangway_gcn::table;
use gangway_gcn_interpreter::runs;

#[test]
fn rows_that_do_not_run() {
    let all = table::rows().count();
    let missing: Vec<_> = table::rows().filter(|row| !runs(row)).collect();
    let names: BTreeSet<_> =
        missing.iter().map(|row| format!("{:?} {}", row.encoding, row.name).to_lowercase()).collect();
    let mut text = format!("{} of {all} rows run; these do not:\n", all - missing.len());
    for name in names {
        text += &name;
        text.push('\n');
    }
    golden(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/missing.txt"), &text);
}
