//! Tables in text, as spreadsheets and databases write them: with commas, semicolons, tabs or bars between cells, quotation
//! marks around them, a first line `sep=;` that names the separator, and `="007"` for what is to stay text.

use csv::{ByteRecord, ReaderBuilder};

/// Rows examined to find what separates their cells.
const SAMPLE: usize = 50;
/// Of equals the first is taken: where one of the others parts all rows alike, commas are those of numbers and sentences.
const SEPARATORS: [u8; 4] = [b'\t', b';', b'|', b','];

/// The rows of a text.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'t> {
    text: &'t str,
    separator: u8,
}

impl<'t> Rows<'t> {
    /// `name` of the file: those of a `.tsv` are parted by tabs, unless the text names something else.
    pub fn of(text: &'t str, name: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let text = text.strip_suffix('\u{1a}').unwrap_or(text);
        let (named, text) = named_separator(text);
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        let by_name = ending.filter(|ending| ending == "tsv" || ending == "tab").map(|_| b'\t');
        let separator = named.or(by_name).or_else(|| likeliest(text)).unwrap_or(b',');
        Self { text, separator }
    }

    /// All rows; their cells by [`cell`](Self::cell).
    pub fn records(self) -> impl Iterator<Item = csv::Result<ByteRecord>> + use<'t> {
        records(self.text, self.separator)
    }

    /// What a cell says: spreadsheets write `="007"` for a text that isn't to become a number.
    pub fn cell(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
        let inner = bytes.strip_prefix(b"=\"").and_then(|rest| rest.strip_suffix(b"\""));
        String::from_utf8_lossy(inner.filter(|inner| !inner.contains(&b'"')).unwrap_or(bytes))
    }

    /// Whether a quotation mark opens a cell and none closes it, which takes the rest of the text into this cell.
    pub fn has_open_quotation(self) -> bool {
        let odd = self.text.bytes().filter(|byte| *byte == b'"').count() % 2 == 1;
        let last = || self.records().filter_map(Result::ok).last();
        odd && last().is_some_and(|row| row.iter().any(|cell| cell.contains(&b'\n')))
    }
}

/// The separator that the first line names (`sep=;`, also in quotation marks, padded with separators, or `sep=\t`), and
/// what follows that line.
fn named_separator(text: &str) -> (Option<u8>, &str) {
    let end = text.find(['\r', '\n']).unwrap_or(text.len());
    let line = text[..end].trim_matches([' ', '"']);
    let rest = &text[end..];
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix(['\r', '\n'])).unwrap_or(rest);
    let Some(named) = line.get(..4).filter(|start| start.eq_ignore_ascii_case("sep=")).map(|_| &line[4..]) else {
        return (None, text);
    };
    let named = if named == "\\t" { "\t" } else { named };
    let padding = |byte: &u8, one: u8| *byte == one || b"\",;\t".contains(byte);
    match named.as_bytes() {
        // A blank, which was taken off the line's end.
        [] => (text[..end].trim_matches('"').ends_with(' ').then_some(b' '), rest),
        [one, more @ ..] if one.is_ascii() && !one.is_ascii_alphanumeric() && more.iter().all(|b| padding(b, *one)) => {
            (Some(*one), rest)
        }
        _ => (None, text),
    }
}

fn records(text: &str, separator: u8) -> impl Iterator<Item = csv::Result<ByteRecord>> + use<'_> {
    let mut reader = ReaderBuilder::new();
    reader.delimiter(separator).flexible(true).has_headers(false);
    reader.from_reader(text.as_bytes()).into_byte_records()
}

/// The separator that parts the most rows into equally many cells; what stands above a table counts little.
fn likeliest(text: &str) -> Option<u8> {
    let alike = |separator: u8| {
        let rows = records(text, separator).take(SAMPLE).filter_map(Result::ok);
        let lengths: Vec<usize> = rows.filter(|row| !row.iter().all(<[u8]>::is_empty)).map(|row| row.len()).collect();
        let same = |wanted: usize| lengths.iter().filter(|length| **length == wanted).count();
        let most = lengths.iter().filter(|length| **length > 1).map(|length| same(*length)).max()?;
        Some(most * 1000 / lengths.len())
    };
    let mut best = None;
    for separator in SEPARATORS {
        let Some(share) = alike(separator) else { continue };
        if best.is_none_or(|(most, _)| share > most) {
            best = Some((share, separator));
        }
    }
    best.map(|(_, separator)| separator)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::Rows;

    fn read(text: &str, name: &str) -> Vec<Vec<String>> {
        let rows = Rows::of(text, name).records();
        rows.map(|row| row.unwrap().iter().map(|cell| Rows::cell(cell).into_owned()).collect()).collect()
    }

    #[test]
    fn the_first_line_may_name_the_separator() {
        let expect = [["plz", "ort"], ["01067", "Dresden, Altstadt"]];
        for text in [
            "sep=;\nplz;ort\n01067;Dresden, Altstadt\n",
            "\u{feff}sep=;\r\nplz;ort\r\n01067;Dresden, Altstadt\r\n",
            "\"sep=;\"\nplz;ort\n01067;Dresden, Altstadt\n",
            "SEP=;;\nplz;ort\n01067;Dresden, Altstadt\n",
            "sep=\t\nplz\tort\n01067\tDresden, Altstadt\n",
            "sep=\\t\nplz\tort\n01067\tDresden, Altstadt\n",
            "sep=^\nplz^ort\n01067^Dresden, Altstadt\n",
            "sep=,\nplz,ort\n01067,\"Dresden, Altstadt\"\n",
            "sep=|\rplz|ort\r01067|Dresden, Altstadt\r",
        ] {
            assert_eq!(read(text, "a.csv"), expect, "{text:?}");
        }
        assert_eq!(read("sep=x,y\n1,2\n", "a.csv"), [["sep=x", "y"], ["1", "2"]]);
        assert_eq!(read("separator,n\n;,2\n", "a.csv"), [["separator", "n"], [";", "2"]]);
        assert_eq!(read("sep=|\na|b\n", "a.tsv"), [["a", "b"]]);
    }

    #[test]
    fn commas_of_numbers_and_sentences_part_no_cells() {
        assert_eq!(read("1,5;2,5\n3,5;4,5\n", "a.csv"), [["1,5", "2,5"], ["3,5", "4,5"]]);
        assert_eq!(read("a\tb\n1,5\t2,5\n", "a.txt"), [["a", "b"], ["1,5", "2,5"]]);
        assert_eq!(read("a,b\n1,\"x; y\"\n2,z\n", "a.csv"), [["a", "b"], ["1", "x; y"], ["2", "z"]]);
        let account = "Account 12\n\ndate;amount;note\n1.3.;1,50;a\n2.3.;2,50;b\n3.3.;3,50;c\n";
        assert_eq!(read(account, "a.csv").last().unwrap(), &["3.3.", "3,50", "c"]);
        assert_eq!(read("name\nA, B\nC\n", "a.tsv"), [["name"], ["A, B"], ["C"]]);
    }

    #[test]
    fn cells_are_read_as_they_were_meant() {
        let text = "id;note\r\n=\"007\";\"two\r\nlines; \"\"said\"\"\"\r\n\"=\"\"008\"\"\";=A1&\"x\"\r\n\u{1a}";
        let expect = [["id", "note"], ["007", "two\r\nlines; \"said\""], ["008", "=A1&\"x\""]];
        assert_eq!(read(text, "a.csv"), expect);
        assert!(Rows::of("a;b\n1;\"x\n2;y\n", "a.csv").has_open_quotation());
        assert!(!Rows::of("a;b\n1;5\" pipe\n2;y\n", "a.csv").has_open_quotation());
    }
}
