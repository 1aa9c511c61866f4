use super::make::{pdf, pdf_of, stream};
use super::{check, data, read, shown};
use steward_core::extracted::BlockKind;

#[test]
fn columns_are_read_one_after_the_other() {
    let found = read(&data("two-columns.pdf"), "two.pdf").unwrap();
    assert_eq!(found.title.as_deref(), Some("Register of the bay"));
    let text = shown(&found);
    let mut at = 0;
    for part in 1..=7 {
        for mark in
            [format!("# {part}. Part {part}\n"), format!("Mark L{part}."), format!("Second mark of part {part}.")]
        {
            let place =
                text[at..].find(&mark).unwrap_or_else(|| panic!("{mark} is not after what is before it:\n{text}"));
            at += place;
        }
    }
    // Lines become paragraphs, and running heads and page numbers are no text.
    assert!(text.contains(
        "Mark L1. The harbour office keeps a register of every vessel that enters the bay. Each entry names"
    ));
    assert!(found.pages.len() >= 3 && !text.contains("Harbour rules"), "{text}");
    let first = &found.pages[0].blocks[0];
    assert_eq!((first.kind, first.text.as_str()), (BlockKind::Heading { level: 1 }, "Register of the bay"));
    let area = first.area.unwrap();
    assert!(area.y > 0.05 && area.y < 0.15 && area.x > 0.2 && area.x + area.width < 0.8, "{area:?}");
    for block in found.pages.iter().flat_map(|page| &page.blocks) {
        let area = block.area.unwrap();
        assert!(area.width > 0.0 && area.height > 0.0 && area.x + area.width <= 1.001 && area.y + area.height <= 1.001);
    }
}

#[test]
fn tables_lists_and_code() {
    let rows = "| Ship | Cargo | Tons |\n| --- | --- | --- |\n| Aurora | grain | 120 |\n| Bellona | coal, in sacks | 90 |\n\
                | Castor | timber | 75 |\n| Diana | salt | 60 |\n";
    let text = shown(&read(&data("table.pdf"), "table.pdf").unwrap());
    assert!(text.starts_with("# Cargo of the week\nThe harbour office keeps"), "{text}");
    assert_eq!(text.matches(rows).count(), 2, "{text}");
    let end = "- Weigh the cargo.\n- Seal the hatches.\n` def weigh(ship):\n    return ship.tons * 2\nAfter the code the warden signs.\n";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn pictures_without_text_are_scans() {
    let found = read(&data("scan.pdf"), "scan.pdf").unwrap();
    assert_eq!(found.pages.iter().map(|page| page.is_scan).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn letters_stand_where_they_are_put() {
    // Words set by kerning, letters apart, a line by its parts, a word over two lines.
    let page = "BT /F1 12 Tf 50 700 Td [(Ker) 20 (ning) -400 (and) -300 (gaps)] TJ 0 -14 Td 3 Tc (spread) Tj 0 Tc ( out) Tj \
                0 -14 Td (an unu-) Tj 0 -14 Td (sual word) Tj ET BT /F2 20 Tf 50 750 Td (Title) Tj ET";
    check(&pdf(&[page]), "a.pdf", "pdf", "# Title\nKerning and gaps spread out an unusual word\n");
    // What is drawn first need not come first, and turned text is read as well.
    let page = "BT /F1 12 Tf 50 100 Td (Second part of the page.) Tj ET BT /F1 12 Tf 50 700 Td (First part of the page.) Tj ET \
                BT /F1 12 Tf 0 1 -1 0 580 300 Tm (Sideways) Tj ET";
    check(&pdf(&[page]), "a.pdf", "pdf", "First part of the page.\nSecond part of the page.\nSideways\n");
    let page = "q 1 0 0 1 0 0 cm /Span << /ActualText (Hello) >> BDC BT /F1 12 Tf 50 700 Td (Hxxxx) Tj ET EMC Q";
    check(&pdf(&[page]), "a.pdf", "pdf", "Hello\n");
}

#[test]
fn raised_and_lowered_digits_are_told_apart() {
    let page = "BT /F1 12 Tf 50 700 Td (Area 25 km) Tj /F1 7 Tf 5 Ts (2) Tj /F1 12 Tf 0 Ts ( and 10) Tj /F1 7 Tf 5 Ts (-6) Tj \
                /F1 12 Tf 0 Ts ( cells, CO) Tj /F1 7 Tf -3 Ts (2) Tj /F1 12 Tf 0 Ts ( on the 1) Tj /F1 7 Tf 5 Ts (st) Tj ET \
                BT /F1 7 Tf 50 654 Td (1) Tj /F1 12 Tf 4 -4 Td (See the annex) Tj ET \
                BT /F1 12 Tf 50 600 Td (Small ) Tj /F1 9 Tf (12 beside) Tj ET";
    check(
        &pdf(&[page]),
        "a.pdf",
        "pdf",
        "Area 25 km² and 10⁻⁶ cells, CO₂ on the 1st\n¹See the annex\nSmall 12 beside\n",
    );
}

#[test]
fn fonts_say_what_their_codes_are() {
    let table = stream(
        "",
        b"1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfrange <0001> <0003> <0416> endbfrange",
    );
    let objects = |font: &str| {
        let page = b"BT /F1 12 Tf 50 700 Td <000100020003> Tj ET";
        vec![
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_vec(),
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>".to_vec(),
            stream("", page),
            font.as_bytes().to_vec(),
            table.clone(),
        ]
    };
    let below = "/DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /W [1 [500 600] 3 9 700] >>]";
    let font = format!("<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /ToUnicode 6 0 R {below} >>");
    check(&pdf_of(&objects(&font)), "a.pdf", "pdf", "ЖЗИ\n");
    // Without that table nobody can know, and the page is one for recognition.
    let font = format!("<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H {below} >>");
    assert!(read(&pdf_of(&objects(&font)), "a.pdf").unwrap().pages[0].is_scan);
    let font = format!("<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /UniJIS-UTF16-H {below} >>");
    let found = read(&pdf_of(&objects(&font)), "a.pdf").unwrap();
    assert!(!found.pages[0].is_scan);
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /X /FirstChar 0 /Widths [500 500 500 500] \
                /Encoding << /Differences [0 /Aacute /fi /uni0416 /a_b.alt] >> >>";
    check(&pdf_of(&objects(font)), "a.pdf", "pdf", "ÁfiÁЖÁa b\n".replace("a b", "ab").as_str());
}

#[test]
fn files_with_a_broken_table_of_contents_are_searched() {
    let whole = pdf(&["BT /F1 12 Tf 50 700 Td (Still here) Tj ET"]);
    let text = String::from_utf8(whole).unwrap();
    check(text.replace("startxref\n", "startxref\n9").as_bytes(), "a.pdf", "pdf", "Still here\n");
    check(format!("junk before\n{text}").as_bytes(), "a.pdf", "pdf", "Still here\n");
}
