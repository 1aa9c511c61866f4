//! What a file is, told from its first bytes.

/// Bytes that are looked at.
pub(super) const HEAD: usize = 8192;

/// Beginnings of common binary formats, what they are, and what to do instead.
const MAGIC: &[(&[u8], &str, &str)] = &[
    (b"SQLite format 3\0", "a SQLite database", "ask it with the tool `sql`"),
    (b"%PDF-", "a PDF document", "it can't be read as text"),
    (b"PK\x03\x04", "a ZIP archive or office document", "it can't be read as text"),
    (b"\x1f\x8b", "a gzip archive", "it can't be read as text"),
    (b"\x89PNG", "a PNG image", "it can't be read as text"),
    (b"\xff\xd8\xff", "a JPEG image", "it can't be read as text"),
    (b"GIF8", "a GIF image", "it can't be read as text"),
    (b"\x7fELF", "a program", "it can't be read as text"),
    (b"\xff\xfe", "text in UTF-16", "convert it to UTF-8 first"),
    (b"\xfe\xff", "text in UTF-16", "convert it to UTF-8 first"),
];

/// Why `head` is no text: what it is, and a hint. `None` for text.
pub(super) fn binary(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let known = MAGIC.iter().find(|(magic, _, _)| head.starts_with(magic));
    if let Some((_, what, hint)) = known {
        return Some((what, hint));
    }
    head.contains(&0)
        .then_some(("a binary file", "it can't be read as text; `terminal` with `file` or `stat` tells more"))
}

/// `1.5 MB`, for people.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: &[&str] = &["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut tenths = bytes / 100;
    let mut unit = 0;
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1000;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::{binary, size};

    #[test]
    fn text_is_text_and_formats_are_named() {
        assert!(binary("Grüße\n".as_bytes()).is_none());
        assert!(binary(b"").is_none());
        assert!(binary(b"SQLite format 3\0...").is_some_and(|(_, hint)| hint.contains("sql")));
        assert!(binary(b"ab\0c").is_some());
    }

    #[test]
    fn sizes() {
        assert_eq!(size(999), "999 B");
        assert_eq!(size(1000), "1.0 kB");
        assert_eq!(size(598_016), "598.0 kB");
        assert_eq!(size(1_550_000), "1.5 MB");
        assert_eq!(size(3_000_000_000), "3.0 GB");
    }
}
