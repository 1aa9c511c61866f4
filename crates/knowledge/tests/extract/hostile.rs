use super::make::{compound, odd_zip, pdf, pdf_of, stream, zip};
use super::{data, read};
use steward_knowledge::extract::{ExtractError, ExtractLimits, extract};

/// What kind of error it is, and a part of its text.
#[track_caller]
fn fails(bytes: &[u8], name: &str, kind: &str, part: &str) {
    fails_with(bytes, name, &ExtractLimits::default(), kind, part);
}

#[track_caller]
fn fails_with(bytes: &[u8], name: &str, limits: &ExtractLimits, kind: &str, part: &str) {
    let error = extract(bytes, name, limits).expect_err(name);
    let found = match &error {
        ExtractError::PasswordProtected => "password",
        ExtractError::Empty => "empty",
        ExtractError::Broken(_) => "broken",
        ExtractError::TooLarge(_) => "large",
        ExtractError::TooDeep(_) => "deep",
        ExtractError::UnknownFormat(_) => "unknown",
    };
    assert_eq!(found, kind, "{name}: {error}");
    assert!(error.to_string().contains(part), "{name}: {error}");
    assert!(!error.hint().is_empty() && !error.to_string().ends_with('.'));
}

fn word(document: &[u8]) -> Vec<u8> {
    zip(&[("[Content_Types].xml", b"<Types/>"), ("word/document.xml", document)])
}

#[test]
fn files_of_nothing_and_of_unknown_kinds() {
    fails(b"", "a.pdf", "empty", "empty");
    fails(b"  \n \n", "a.txt", "empty", "empty");
    fails(&[0, 1, 2, 3, 4, 5, 6, 7], "a.bin", "unknown", "neither text");
    fails(&zip(&[]), "a.zip", "empty", "empty");
    fails(&zip(&[("a.txt", b"x")]), "a.docx", "unknown", "ZIP archive");
    fails(b"\x1f\x8b\x08\0\0\0\0\0", "a.txt.gz", "unknown", "gzip");
    fails(b"\x7fELF\x02\x01\x01\0\0\0\0\0", "a", "unknown", "program");
    fails(&compound(&[("WordDocument", &[1; 100])]), "a.doc", "unknown", "DOCX");
    fails(&compound(&[("Else", &[1; 100])]), "a.db", "unknown", "compound file");
}

#[test]
fn passwords() {
    fails(&data("password.pdf"), "a.pdf", "password", "password");
    fails(&compound(&[("EncryptedPackage", &[1; 100])]), "a.docx", "password", "password");
    fails(&odd_zip(&[("word/document.xml", (1, 8), b"xxxx", 4, 0)]), "a.docx", "password", "password");
    let manifest = b"<manifest:manifest xmlns:manifest=\"m\"><manifest:encryption-data/></manifest:manifest>";
    let open = zip(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("META-INF/manifest.xml", manifest),
        ("content.xml", b"\x01\x02"),
    ]);
    fails(&open, "a.odt", "password", "password");
    // The record of a password, after that of the beginning.
    let book = [&b"\x09\x08\x08\0\x00\x06\x05\0\0\0\0\0\x2f\0\x02\0\0\0"[..], &[0; 20]].concat();
    fails(&compound(&[("Workbook", &book)]), "a.xls", "password", "password");
}

#[test]
fn bombs_are_counted_while_they_are_unpacked() {
    let limits = ExtractLimits { unpacked_bytes: 4 << 20, ..ExtractLimits::default() };
    let much = vec![b' '; 8 << 20];
    fails_with(&word(&much), "a.docx", &limits, "large", "unpacks to more than 4 MB");
    // Ten parts of one megabyte each are as much as one.
    let names: Vec<String> = (0..10).map(|at| format!("xl/worksheets/sheet{at}.xml")).collect();
    let sheet = format!("<worksheet>{}</worksheet>", " ".repeat(1 << 20));
    let list: String = (0..10).map(|at| format!("<sheet name='{at}' r:id='r{at}'/>")).collect();
    let related: String =
        (0..10).map(|at| format!("<Relationship Id='r{at}' Target='worksheets/sheet{at}.xml'/>")).collect();
    let book = format!(
        "<workbook xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'>{list}</workbook>"
    );
    let related = format!("<Relationships>{related}</Relationships>");
    let mut entries = vec![("xl/workbook.xml", book.as_bytes()), ("xl/_rels/workbook.xml.rels", related.as_bytes())];
    entries.extend(names.iter().map(|name| (name.as_str(), sheet.as_bytes())));
    fails_with(&zip(&entries), "a.xlsx", &limits, "large", "4 MB");
    assert!(read(&zip(&entries), "a.xlsx").is_ok());
    // Sizes that it declares count for nothing.
    let packed =
        miniz_oxide::deflate::compress_to_vec(b"<w:document xmlns:w='w'><w:p><w:t>small</w:t></w:p></w:document>", 6);
    let crc = crc32fast::hash(b"<w:document xmlns:w='w'><w:p><w:t>small</w:t></w:p></w:document>");
    let lies = odd_zip(&[("word/document.xml", (0, 8), &packed, u32::MAX - 1, crc)]);
    assert_eq!(read(&lies, "a.docx").unwrap().pages[0].blocks[0].text, "small");
    let packed = miniz_oxide::deflate::compress_to_vec(&much, 6);
    let lies = odd_zip(&[("word/document.xml", (0, 8), &packed, 10, crc32fast::hash(&much))]);
    fails_with(&lies, "a.docx", &limits, "large", "4 MB");
    // A page of a PDF that is a bomb.
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&much, 6);
    let file = pdf_of(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R >>".to_vec(),
        stream("/Filter /FlateDecode", &packed),
    ]);
    fails_with(&file, "a.pdf", &limits, "large", "4 MB");
}

#[test]
fn what_is_nested_too_deeply() {
    let deep = |open: &str, close: &str| open.repeat(5000) + &close.repeat(5000);
    fails(&word(deep("<w:p>", "</w:p>").as_bytes()), "a.docx", "deep", "400 parts");
    fails(deep("[", "]").as_bytes(), "a.json", "deep", "nested");
    // Pages of the web are not trees here.
    assert!(read(format!("<html>{}x</html>", "<div>".repeat(200_000)).as_bytes(), "a.html").is_ok());
    assert!(read(format!("<html>{}x", "<table><tr><td>".repeat(50_000)).as_bytes(), "a.html").is_ok());
    // Mails within mails.
    let mut mail = "From: a@b.c\r\nSubject: inner\r\n\r\nx\r\n".to_owned();
    for at in 0..8 {
        mail = format!(
            "From: a@b.c\r\nSubject: {at}\r\nContent-Type: multipart/mixed; boundary=B{at}\r\n\r\n--B{at}\r\n\
             Content-Type: message/rfc822\r\n\r\n{mail}\r\n--B{at}--\r\n"
        );
    }
    fails(mail.as_bytes(), "a.eml", "deep", "attached");
    // Entities that a file declares are not resolved.
    let laughs = b"<!DOCTYPE w [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'>]><w:document xmlns:w='w'><w:p><w:t>x&b;</w:t></w:p></w:document>";
    assert_eq!(read(&word(laughs), "a.docx").unwrap().pages[0].blocks[0].text, "x");
    // Forms that draw each other, twice each.
    let form = |below: usize| {
        let dict = "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources";
        stream(&format!("{dict} << /XObject << /X {below} 0 R >> >>"), b"/X Do /X Do")
    };
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>"
            .to_vec(),
        stream("", b"/X Do"),
    ];
    objects.extend((6..20).map(form));
    objects.push(form(5));
    let file = pdf_of(&objects);
    assert!(read(&file, "a.pdf").is_ok());
    let limits = ExtractLimits { operations: 1000, ..ExtractLimits::default() };
    fails_with(&file, "a.pdf", &limits, "large", "1000 steps");
}

#[test]
fn every_limit_has_its_error() {
    let text = "words and words\n\n".repeat(1000);
    let small = |change: fn(&mut ExtractLimits)| {
        let mut limits = ExtractLimits::default();
        change(&mut limits);
        limits
    };
    fails_with(text.as_bytes(), "a.txt", &small(|limits| limits.input_bytes = 1000), "large", "it has 0 MB");
    fails_with(text.as_bytes(), "a.txt", &small(|limits| limits.output_chars = 1000), "large", "1000 characters");
    let pages = "page\x0c".repeat(20);
    fails_with(pages.as_bytes(), "a.txt", &small(|limits| limits.pages = 10), "large", "10 pages");
    fails_with(&pdf(&[""; 20]), "a.pdf", &small(|limits| limits.pages = 10), "large", "10 pages");
    let names: Vec<String> = (0..50).map(|at| format!("word/{at}")).collect();
    let entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    fails_with(&zip(&entries), "a.docx", &small(|limits| limits.members = 10), "large", "50 parts");
}

#[test]
fn files_that_are_cut_off() {
    for name in ["orders.docx", "book.xlsx", "plan.pptx", "rules.odt", "book.ods", "lighthouse.epub", "book.xls"] {
        let whole = data(name);
        fails(&whole[..whole.len() / 2], name, "broken", "cut off");
        // The end of a compound file is not used.
        if name != "book.xls" {
            fails(&whole[..whole.len() - 30], name, "broken", "");
        }
    }
    fails(&word(b"<w:document xmlns:w='w'><w:p>"), "a.docx", "broken", "cut off");
    fails(&word(b"<w:document></w:p>"), "a.docx", "broken", "no XML");
    fails(&zip(&[("mimetype", b"application/epub+zip")]), "a.epub", "broken", "container.xml");
    fails(b"%PDF-1.7\nnothing else", "a.pdf", "broken", "table of contents");
    fails(&b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n"[..], "a.pdf", "broken", "");
    let mut damaged = data("rules.odt");
    let middle = damaged.len() / 3;
    damaged[middle..middle + 40].fill(0x55);
    assert!(read(&damaged, "rules.odt").is_err());
}

/// A generator of numbers (xorshift), so that every run tries the same files.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most.max(1) as u64).unwrap()
    }
}

fn mutate(whole: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..=numbers.below(8) {
        let at = numbers.below(bytes.len());
        let length = numbers.below(64).min(bytes.len() - at);
        match numbers.below(6) {
            0 => bytes.truncate(at.max(1)),
            1 => bytes[at] ^= 1 << numbers.below(8),
            2 => drop(bytes.drain(at..at + length)),
            3 => {
                let copy = bytes[at..at + length].to_vec();
                let to = numbers.below(bytes.len());
                bytes.splice(to..to, copy);
            }
            4 => {
                let word: &[u8] =
                    [&b"4294967295"[..], b"-1", b"<<", b"[", b"0 0 R", b"3 0 R", b"/Kids"][numbers.below(7)];
                bytes.splice(at..at, word.iter().copied());
            }
            _ => bytes[at..at + length].fill(u8::try_from(numbers.below(256)).unwrap()),
        }
    }
    bytes
}

/// What a damaged file says doesn't matter; that it ends, and without a panic, does.
#[test]
fn damaged_files_do_no_harm() {
    let limits =
        ExtractLimits { unpacked_bytes: 32 << 20, operations: 200_000, pages: 200, ..ExtractLimits::default() };
    let mut numbers = Numbers(0x5eed_1234_abcd_0001);
    for (name, times) in [
        ("two-columns.pdf", 150),
        ("table.pdf", 150),
        ("scan.pdf", 50),
        ("password.pdf", 30),
        ("orders.docx", 40),
        ("book.xlsx", 40),
        ("book.xls", 120),
        ("rules.odt", 40),
        ("lighthouse.epub", 40),
    ] {
        let whole = data(name);
        for _ in 0..times {
            let bytes = mutate(&whole, &mut numbers);
            if let Err(error) = extract(&bytes, name, &limits) {
                assert!(!error.to_string().is_empty());
            }
        }
    }
}
