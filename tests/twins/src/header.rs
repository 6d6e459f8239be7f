//! What the first lines of a program say, and the lines on which something is to be found.

use crate::build::Way;

/// What a program says of itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Header {
    pub ways: Vec<Way>,
    pub options: Vec<String>,
    pub device: String,
    pub environment: Vec<(String, String)>,
    /// Lines from 1 on, and a text that the finding's message has to have.
    pub finds: Vec<(u32, Option<String>)>,
}

impl Header {
    /// Reads a program.
    ///
    /// # Errors
    /// A line at its top that no reader knows, or no way.
    pub fn read(text: &str) -> Result<Self, String> {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let mut header = Self { options: words("-O1 -g"), device: "vgpu".to_owned(), ..Self::default() };
        let comment = |line: &str| line.strip_prefix("//").or(line.strip_prefix('!')).map(str::to_owned);
        for line in text.lines().map_while(comment) {
            let Some((key, value)) = line.trim().split_once(": ") else { continue };
            match key {
                "with" => {
                    header.ways = words(value).iter().map(|way| way.parse()).collect::<Result<_, _>>()?
                }
                "options" => header.options = words(value),
                "device" => header.device = value.to_owned(),
                "environment" => {
                    let (name, value) = value.split_once('=').ok_or("a variable without a value")?;
                    header.environment.push((name.to_owned(), value.to_owned()));
                }
                // Prose with a colon.
                prose if prose.contains(' ') => {}
                other => return Err(format!("`{other}` is no word for a first line")),
            }
        }
        if header.ways.is_empty() {
            return Err("no line `with: WAY`".to_owned());
        }
        for (number, line) in (1..).zip(text.lines()) {
            let marked = line.rsplit_once("// finds").or_else(|| line.rsplit_once("! finds"));
            if let Some((_, rest)) = marked {
                header.finds.push((number, rest.strip_prefix(':').map(|text| text.trim().to_owned())));
            }
        }
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_and_the_marked_lines_are_read() {
        let text = "// A program: with prose\n// with: openmp gcc\n// environment: A=b=c\n\nint x;\n\
                    x = 1; // finds\nx = 2; // finds: two threads\n";
        let header = Header::read(text).unwrap();
        assert_eq!(header.ways, [Way::OpenMp, Way::Gcc]);
        assert_eq!((&*header.device, header.options.len()), ("vgpu", 2));
        assert_eq!(header.environment, [("A".to_owned(), "b=c".to_owned())]);
        assert_eq!(header.finds, [(6, None), (7, Some("two threads".to_owned()))]);
        let fortran = Header::read("! with: openacc\n! device: cpu\nx = 1 ! finds\n").unwrap();
        assert_eq!((&*fortran.device, fortran.finds), ("cpu", vec![(3, None)]));
        Header::read("int x;\n").expect_err("no way");
        Header::read("// with: openmp\n// devise: cpu\n").expect_err("no such line");
        Header::read("// with: icc\n").expect_err("no such compiler");
    }
}
