//! `gangway member-name` and `element-name`, which the runtime calls for messages about pointers in
//! structures, and about accesses beside a section.

use crate::support::Workshop;

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
int grid[3][40]; double *rows[2][2];
int main() {
  list *p = table; list &r = x; double *d = nullptr;
  return p->tag + r.tag + (d == nullptr);
}
";

fn asked(
    workshop: &Workshop,
    what: &str,
    file: &str,
    variable: &str,
    line: &str,
    offset: &str,
) -> Option<String> {
    let output = workshop.output(&[what, file, variable, line, offset]);
    assert_eq!(output.stderr, "");
    output.status.success().then_some(output.stdout)
}

fn compiled() -> Workshop {
    let workshop = Workshop::new();
    workshop.write("a.cpp", PROGRAM);
    workshop.tool("clang++-22", &["-g", "-O0", "-w", "a.cpp", "-o", "a"]);
    workshop
}

#[test]
fn elements_beside_a_section_have_the_names_that_their_user_writes() {
    let workshop = compiled();
    for (variable, line, offset, name) in [
        ("d[0:100]", "12", "800", Some("d[100]")),
        ("d[0:100]", "12", "807", Some("d[100]")),
        ("d[50:100]", "12", "-8", Some("d[49]")),
        ("d[:n]", "12", "-1", Some("d[-1]")),
        ("d[n-1:m]", "12", "16", Some("d[n-1+2]")),
        ("d[i]", "12", "-8", Some("d[i-1]")),
        ("table", "9", "352", Some("table[4].tag")),
        ("table[1:2]", "9", "184", Some("table[3].values")),
        ("grid", "10", "480", Some("grid[3][0]")),
        ("grid", "10", "-4", Some("grid[-1][39]")),
        ("grid", "10", "164", Some("grid[1][1]")),
        ("x.parts", "8", "48", Some("x.parts[3].tag")),
        ("p->parts[0:n]", "12", "24", Some("p->parts[1].values")),
        // Rows are no elements, and what is no array has none.
        ("grid[0:2]", "10", "400", None),
        ("x", "8", "88", None),
        ("d", "12", "8", None),
        ("d[0", "12", "8", None),
        ("d[9223372036854775807:n]", "12", "8", None),
    ] {
        let asked = asked(&workshop, "element-name", "a", variable, line, offset);
        assert_eq!(asked.as_deref(), name, "{variable}, byte {offset}");
    }
}

#[test]
fn pointers_have_the_names_that_their_user_writes() {
    let workshop = compiled();
    for (variable, line, offset, name) in [
        ("x", "8", "8", Some("x.values")),
        ("x", "8", "16", Some("x.first")),
        ("x", "8", "24", Some("x.last")),
        ("x", "8", "56", Some("x.parts[1].values")),
        ("x", "8", "80", Some("x.next")),
        ("x.parts[1:2]", "8", "24", Some("x.parts[i].values")),
        ("table", "9", "96", Some("table[1].values")),
        ("rows", "10", "24", Some("rows[1][1]")),
        ("p[0:4]", "12", "96", Some("p[i].values")),
        ("p->next", "12", "0", Some("p->next")),
        ("r", "12", "80", Some("r.next")),
        ("d", "12", "0", Some("d")),
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
            asked(&workshop, "member-name", "a", variable, line, offset).as_deref(),
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
        asked(&workshop, "member-name", "damaged", "x", "8", "56");
        asked(&workshop, "element-name", "damaged", "table", "9", "352");
    }
}
