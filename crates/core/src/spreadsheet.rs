//! Cells of CSV files, which people open in spreadsheets. The studio writes what it saves by the same rule
//! (`web/src/answer/csv.ts`).

use std::borrow::Cow;

/// A text that a spreadsheet would take for a formula, also after white space, gets an apostrophe before it.
pub fn guarded(text: &str) -> Cow<'_, str> {
    if text.starts_with(['\t', '\r']) || text.trim_start().starts_with(['=', '+', '-', '@']) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Guarded, and in quotation marks where the table needs them (RFC 4180).
pub fn cell(text: &str) -> String {
    let text = guarded(text);
    if text.contains([',', '"', '\n', '\r']) { in_quotes(&text) } else { text.into_owned() }
}

/// Guarded, and in quotation marks whatever it is.
pub fn quoted_cell(text: &str) -> String {
    in_quotes(&guarded(text))
}

fn in_quotes(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::{cell, guarded, quoted_cell};

    #[test]
    fn formulas_stay_text() {
        for (text, expect) in [
            ("ada@example.org", "ada@example.org"),
            ("=HYPERLINK(\"http://x\")", "'=HYPERLINK(\"http://x\")"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\tx", "'\tx"),
            ("\rx", "'\rx"),
            ("\n=1", "'\n=1"),
            ("  =1+1", "'  =1+1"),
            ("\u{a0}=1", "'\u{a0}=1"),
            (" a", " a"),
            ("a=b-c", "a=b-c"),
            ("", ""),
        ] {
            assert_eq!(guarded(text), expect);
        }
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        for (text, expect) in [
            ("a b", "a b"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("=1,\"x\"", "\"'=1,\"\"x\"\"\""),
            ("\rx", "\"'\rx\""),
        ] {
            assert_eq!(cell(text), expect);
        }
        assert_eq!(quoted_cell("a b"), "\"a b\"");
        assert_eq!(quoted_cell("\t=\"1\""), "\"'\t=\"\"1\"\"\"");
    }
}
