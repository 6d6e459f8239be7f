use std::time::Instant;
fn main() {
    let (mut ok, mut bad, mut bytes) = (0, 0, 0);
    let mut time = std::time::Duration::ZERO;
    for path in std::env::args().skip(1) {
        let text = std::fs::read(&path).unwrap();
        let t = Instant::now();
        let r = gangway_ptx::parse_bytes(&text);
        time += t.elapsed();
        bytes += text.len();
        match r {
            Ok(m) => {
                let printed = m.to_string();
                match gangway_ptx::parse(&printed) {
                    Ok(again) if again == m => ok += 1,
                    Ok(again) => {
                        bad += 1;
                        println!("{path}: differs");
                        if bad < 3 {
                            let p2 = again.to_string();
                            for (a, b) in printed.lines().zip(p2.lines()) {
                                if a != b {
                                    println!("{a}\n{b}");
                                    break;
                                }
                            }
                        }
                    }
                    Err(e) => {
                        bad += 1;
                        if bad < 8 {
                            println!("{path}: reparse {}", e.0[0]);
                        }
                    }
                }
            }
            Err(e) => {
                bad += 1;
                if bad < 12 {
                    println!("{path}: {}", e.0[0]);
                }
            }
        }
    }
    println!("{ok} ok {bad} bad {bytes} bytes {time:?}");
}
