//! `gangway member-name`, which the runtime calls for messages about pointers in structures.

use crate::support::{Workshop, text};
use std::process::Command;

const PROGRAM: &str = "\
struct base { long tag; float *values; };
typedef const struct base *chain;
class list : public base {
  struct { int *first, *last; };
  base parts[3];
  chain next;
};
list x;
list table[4];
int main() {
  list *p = table; list &r = x; double *d = nullptr;
  return p->tag + r.tag + (d == nullptr);
}
";

fn asked(workshop: &Workshop, file: &str, variable: &str, line: &str, offset: &str) -> Option<String> {
    let output = workshop.output(&["member-name", file, variable, line, offset]);
    assert_eq!(text(&output.stderr), "");
    output.status.success().then(|| text(&output.stdout))
}

#[test]
fn pointers_have_the_names_that_their_user_writes() {
    let workshop = Workshop::new();
    workshop.write("a.cpp", PROGRAM);
    let compiled = Command::new("clang++-22")
        .args(["-g", "-O0", "-w", "a.cpp", "-o", "a"])
        .current_dir(workshop.path(""))
        .status();
    assert!(compiled.unwrap().success());
    for (variable, line, offset, name) in [
        ("x", "8", "8", Some("x.values")),
        ("x", "8", "16", Some("x.first")),
        ("x", "8", "24", Some("x.last")),
        ("x", "8", "56", Some("x.parts[1].values")),
        ("x", "8", "80", Some("x.next")),
        ("x.parts[1:2]", "8", "24", Some("x.parts[i].values")),
        ("table", "9", "96", Some("table[1].values")),
        ("p[0:4]", "11", "96", Some("p[i].values")),
        ("p->next", "11", "0", Some("p->next")),
        ("r", "11", "80", Some("r.next")),
        ("d", "11", "0", Some("d")),
        // No pointer begins there, and no variable is there.
        ("x", "8", "0", None),
        ("x", "8", "12", None),
        ("x", "8", "88", None),
        ("x", "9", "8", None),
        ("y", "8", "8", None),
        ("x.nothing", "8", "8", None),
        ("x[", "8", "8", None),
        ("", "8", "8", None),
    ] {
        assert_eq!(
            asked(&workshop, "a", variable, line, offset).as_deref(),
            name,
            "{variable}, byte {offset}"
        );
    }
    let damaged = std::fs::read(workshop.path("a")).unwrap();
    let mut random = 1_u64;
    for turn in 0..60 {
        let mut damaged = damaged.clone();
        for _ in 0..=turn {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (random >> 33) as usize % damaged.len();
            damaged[at] = (random >> 20) as u8;
        }
        workshop.write("damaged", damaged);
        asked(&workshop, "damaged", "x", "8", "56");
    }
}
