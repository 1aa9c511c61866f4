use super::make::{compound, zip};
use super::{check, data, read, shown};

#[test]
fn plain_text_of_any_encoding() {
    let text = "Grüße aus Köln\n\nZweiter Absatz\nmit zwei Zeilen\n";
    let expected = "Grüße aus Köln\nZweiter Absatz\nmit zwei Zeilen\n";
    check(text.as_bytes(), "a.txt", "text", expected);
    check(&[b"\xef\xbb\xbf", text.as_bytes()].concat(), "a.txt", "text", expected);
    let units = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let little = units(u16::to_le_bytes);
    check(&[b"\xff\xfe", little.as_slice()].concat(), "a.txt", "text", expected);
    check(&[b"\xfe\xff", units(u16::to_be_bytes).as_slice()].concat(), "a.txt", "text", expected);
    let found = check(&little, "a.txt", "text", expected);
    assert_eq!(found.warnings.len(), 1);
    let western: Vec<u8> = text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
    let found = check(&western, "a.txt", "text", expected);
    assert!(found.warnings[0].contains("Western European"), "{:?}", found.warnings);
}

#[test]
fn plain_text_has_pages_and_headings() {
    let text = "Harbour\n=======\n\nOne.\n\nLights\n------\nTwo.\n\x0cThree.\n";
    let found = check(text.as_bytes(), "notes", "text", "# Harbour\nOne.\n## Lights\nTwo.\n== \nThree.\n");
    assert_eq!(found.title.as_deref(), Some("Harbour"));
    assert_eq!(found.pages[1].number, 2);
}

#[test]
fn plain_text_has_headings_without_a_mark() {
    let text = "CHAPTER 1 Begin\nText.\n\nTERMS OF PAYMENT\n\nThirty days.\nVAT\n\nCHAPTER 2 Methods\nWe looked.\n";
    let expected =
        "# CHAPTER 1 Begin\nText.\n## TERMS OF PAYMENT\nThirty days.\nVAT\n# CHAPTER 2 Methods\nWe looked.\n";
    check(text.as_bytes(), "report.txt", "text", expected);
    let notice = "ALL OF THIS NOTICE\nIS WRITTEN IN CAPITALS\n\nPart of it\nis not.\n";
    check(notice.as_bytes(), "notice.txt", "text", notice.replace("\n\n", "\n").as_str());
}

#[test]
fn markdown() {
    let text = "---\ntitle: \"The bay\"\n---\n# Bay #\n\nText with *stars*\nand more.\n\nUnder\n-----\n\n* one\n* two\n  goes on\n1. first\n\n\
                ```rust\nfn a() {}\n\n# no heading\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n    indented\n\n> quoted\n***\nend\n";
    let expected = "# Bay\nText with *stars*\nand more.\n## Under\n- one\n- two\ngoes on\n- 1. first\n` fn a() {}\n\n# no heading\n\
                    | a | b |\n| - | - |\n| 1 | 2 |\n` indented\nquoted\nend\n";
    let found = check(text.as_bytes(), "bay.md", "markdown", expected);
    assert_eq!(found.title.as_deref(), Some("The bay"));
}

#[test]
fn html_without_navigation() {
    let page = "<!DOCTYPE html><html><head><title>The  bay</title><style>p{}</style></head><body>\
        <nav><ul><li><a href=/>Home</a></ul></nav><div class='sidebar left'><p>Links</p><div>more</div></div>\
        <h1>Bay<a class=headerlink>#</a></h1><p>One <b>two</b>,\n three &amp; four.</p><script>no('</p>')</script>\
        <ul><li>a</li><li><p>b</p><ul><li>c</ul></li></ul><dl><dt>term</dt><dd>meaning</dd></dl>\
        <table><tr><th>k<th>v<tr><td> 1 <td>2 | <table><tr><td>in</table></table><pre>x\n  y</pre>after<br>break\
        <footer>imprint</footer></body></html>";
    let expected = "# Bay\nOne two, three & four.\n- a\n- b\n- c\n- term: meaning\n| k | v |\n| --- | --- |\n| 1 | 2 \\| in |\n\
                    ` x\n  y\nafter\nbreak\n";
    let found = check(page.as_bytes(), "bay.html", "html", expected);
    assert_eq!(found.title.as_deref(), Some("The bay"));
    // It may say how it is encoded.
    let page = b"<html><head><meta charset=\"windows-1251\"></head><body><p>\xc6\xc7</p></body></html>";
    check(page, "x.html", "html", "\u{416}\u{417}\n");
    // A page of nothing but navigation is read all the same, and a main part is all there is to read.
    check(b"<html><nav><p>Only this</p></nav></html>", "x.html", "html", "Only this\n");
    let main =
        format!("<html><p>Advert</p><div role=main><div><p>{}</p></div></div><p>Foot</p></html>", "word ".repeat(60));
    assert_eq!(shown(&read(main.as_bytes(), "x.html").unwrap()), format!("{}\n", "word ".repeat(60).trim()));
}

#[test]
fn tables_of_text() {
    let expected = "| name | tons |\n| --- | --- |\n| Aurora | 1,5 |\n| \"B\" | 2 |\n";
    check(b"name;tons\nAurora;1,5\n\"\"\"B\"\"\";2\n", "a.csv", "csv", expected);
    check(b"name\ttons\nAurora\t1,5\n\"\"\"B\"\"\"\t2\n", "a.tsv", "csv", expected);
    check(br#"[{"name": "Aurora", "tons": "1,5"}, {"name": "\"B\"", "tons": 2}]"#, "a.json", "json", expected);
    check(
        b"{\"name\": \"Aurora\", \"tons\": \"1,5\"}\n{\"name\": \"\\\"B\\\"\", \"tons\": 2}\n",
        "a.jsonl",
        "json",
        expected,
    );
    check(br#"{"deep": [1]}"#, "unnamed", "json", "` {\"deep\": [1]}\n");
    check(b"fn main() {\n    run();\n}\n", "main.rs", "code", "` fn main() {\n    run();\n}\n");
    let found = check(b"{\"cut\": ", "a.json", "json", "` {\"cut\":\n");
    assert!(found.warnings[0].contains("no JSON"), "{:?}", found.warnings);
}

#[test]
fn documents_of_office_programs() {
    let expected = "# Orders\n# Night watch\nThe watch begins at eight.\n- Check the ropes.\n- 1. Light the lamp.\n\
                    | Post | Man |\n| --- | --- |\n| Bow | Olaf |\nEnd of the orders.\n";
    let found = check(&data("orders.docx"), "orders.docx", "docx", expected);
    assert_eq!(found.title.as_deref(), Some("Orders"));
    assert_eq!(found.warnings, Vec::<String>::new());
    let expected = "# Rules\nShips keep to the east.\n## Lights\n- Red to port.\n- Green to starboard.\n\
                    | Light | Range |\n| --- | --- |\n| Red | 3 miles |\n";
    let found = check(&data("rules.odt"), "rules.odt", "odt", expected);
    assert_eq!(found.title.as_deref(), Some("Rules of the bay"));
}

#[test]
fn word_leaves_out_what_is_not_text() {
    let document = br#"<?xml version="1.0"?><w:document xmlns:w="w" xmlns:mc="mc"><w:body>
        <w:p><w:r><w:t>A &lt;b&gt; </w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:t xml:space="preserve">&#65;z</w:t></w:r></w:p>
        <w:p><w:r><w:instrText>PAGEREF</w:instrText></w:r><mc:AlternateContent><mc:Choice><w:t>box</w:t></mc:Choice><mc:Fallback><w:t>box</w:t></mc:Fallback></mc:AlternateContent></w:p>
        <w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr><w:r><w:t>Second level</w:t></w:r></w:p>
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>in</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
        </w:body></w:document>"#;
    let file = zip(&[("[Content_Types].xml", b"<Types/>"), ("word/document.xml", document)]);
    check(&file, "a.docx", "docx", "A <b> Az\nbox\n## Second level\n| a in | b |\n| --- | --- |\n");
}

#[test]
fn workbooks() {
    let expected = "== Cargo\n| Ship | Arrived | Share | Tons | Seal |\n| --- | --- | --- | --- | --- |\n\
                    | Aurora | 2024-03-01 | 12.5% | 120.5 | TRUE |\n| Bellona | 2024-03-02 14:30:00 | 50% | 90 | FALSE |\n\
                    == Notes\nOnly a remark\n";
    check(&data("book.xlsx"), "book.xlsx", "xlsx", expected);
    check(
        &data("book.ods"),
        "book.ods",
        "ods",
        "== Cargo\n| Ship | Tons |\n| --- | --- |\n| Aurora | 120 |\n| Bellona | 90 |\n",
    );
    let found = read(&data("book.xls"), "book.xls").unwrap();
    let text = shown(&found);
    let expected = "== Cargo\n| Ship | Arrived | Tons |\n| --- | --- | --- |\n| Aurora | 2024-03-01 | 120.5 |\n| Bellöna Ж |  | 90 |\n";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("| Vessel number 59 of the fleet |"), "{text}");
    assert_eq!(found.pages.len(), 2);
}

#[test]
fn cells_that_are_repeated() {
    let content = br#"<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="t" xmlns:text="x"><office:body><office:spreadsheet>
        <table:table table:name="S"><table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>a</text:p></table:table-cell>
        <table:table-cell office:value="7"/><table:table-cell table:number-columns-repeated="16384"/></table:table-row>
        <table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>
        </table:table></office:spreadsheet></office:body></office:document-content>"#;
    let file = zip(&[("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", content)]);
    check(&file, "a.ods", "ods", "== S\n| a | a | 7 |\n| --- | --- | --- |\n");
}

#[test]
fn slides() {
    let expected = "== Plan of the harbour\n# Plan of the harbour\n- Dredge the basin\n- Mend the pier\nAsk the council for money.\n\
                    == Costs\n# Costs\n| Work | Crowns |\n| --- | --- |\n| Pier | 900 |\n";
    let found = check(&data("plan.pptx"), "plan.pptx", "pptx", expected);
    assert_eq!(found.pages.len(), 2);
}

#[test]
fn books() {
    let expected =
        "== Arrival\n# Arrival\nThe keeper came by boat.\n== Storm\n# Storm\nThe lamp went out & was lit again.\n";
    let found = check(&data("lighthouse.epub"), "lighthouse.epub", "epub", expected);
    assert_eq!(found.title.as_deref(), Some("The lighthouse"));
}

#[test]
fn chapters_that_are_missing_are_told() {
    let container = b"<container><rootfiles><rootfile full-path='p.opf'/></rootfiles></container>";
    let package = b"<package><manifest><item id='a' href='a.xhtml' properties='nav-not'/><item id='x' href='gone.xhtml'/>\
        <item id='p' href='p.png' media-type='image/png'/><item id='s' href='s.mp3' media-type='audio/mpeg'/></manifest>\
        <spine><itemref idref='a'/><itemref idref='x'/><itemref idref='y'/></spine></package>";
    let file = zip(&[
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", container),
        ("p.opf", package),
        (
            "a.xhtml",
            b"<html><body><h1>One</h1><p>Chapter 912<a epub:type='noteref' href='#f'>1</a> <a href='#f'>2</a></p></body></html>",
        ),
    ]);
    let found = check(&file, "a.epub", "epub", "== One\n# One\nChapter 912¹ 2\n");
    let expected = [
        "Sound and films in it are not read.",
        "The chapter `gone.xhtml` is not in the file.",
        "A chapter that the book's order names (`y`) is missing.",
    ];
    assert_eq!(found.warnings[..3], expected);
    assert!(found.warnings[3].starts_with("Pictures in it are not read (1)"), "{:?}", found.warnings);
}

const MAIL: &str = "From: Ann <ann@example.org>\r\nTo: bo@example.org\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\
    Date: Fri, 1 Mar 2024 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=B\r\n\r\n\
    --B\r\nContent-Type: multipart/alternative; boundary=C\r\n\r\n--C\r\nContent-Type: text/plain\r\n\r\nThe plain text.\r\n\
    --C\r\nContent-Type: text/html\r\n\r\n<p>The <b>text</b>.</p>\r\n--C--\r\n\
    --B\r\nContent-Type: text/csv; name=a.csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\r\nk,v\r\n1,2\r\n\
    --B\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=x.bin\r\n\
    Content-Transfer-Encoding: base64\r\n\r\nAAECAwQFBgcICQ==\r\n--B--\r\n";

#[test]
fn mails_with_what_is_attached() {
    let expected = "# Grüße\nFrom: Ann <ann@example.org>\nTo: bo@example.org\nDate: 2024-03-01T10:00:00Z\nThe plain text.\n\
                    == a.csv\n| k | v |\n| --- | --- |\n| 1 | 2 |\n";
    let found = check(MAIL.as_bytes(), "mail.eml", "eml", expected);
    assert_eq!(found.title.as_deref(), Some("Grüße"));
    assert!(found.warnings[0].starts_with("`x.bin`, which is attached, is not read"), "{:?}", found.warnings);
}

#[test]
fn mails_of_outlook() {
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let file = compound(&[
        ("__properties_version1.0", &[0; 32]),
        ("__substg1.0_0037001F", &wide("Grüße")),
        ("__substg1.0_0C1A001F", &wide("Ann")),
        ("__substg1.0_0E04001E", b"Bo"),
        ("__substg1.0_1000001F", &wide("One.\r\n\r\nTwo.")),
        ("__attach_version1.0_#00000000/__substg1.0_3707001F", &wide("a.csv")),
        ("__attach_version1.0_#00000000/__substg1.0_37010102", b"k,v\n1,2\n"),
    ]);
    let expected = "# Grüße\nFrom: Ann\nTo: Bo\nOne.\nTwo.\n== a.csv\n| k | v |\n| --- | --- |\n| 1 | 2 |\n";
    check(&file, "mail.msg", "msg", expected);
}

#[test]
fn rich_text() {
    let text = br"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\*\generator x;}Gr\'fc\'dfe \u1046?\{x\}\par Two\line three{\info{\title no}}\par}";
    check(text, "a.rtf", "rtf", "Grüße Ж{x}\nTwo\nthree\n");
}

#[test]
fn pictures_are_for_recognition() {
    for (bytes, kind) in
        [(&b"\x89PNG\r\n\x1a\n...."[..], "png"), (b"\xff\xd8\xff\xe0....", "jpeg"), (b"II*\0....", "tiff")]
    {
        let found = read(bytes, "x.jpg").unwrap();
        assert_eq!((found.doc_type.as_str(), found.pages.len(), found.pages[0].is_scan), (kind, 1, true));
    }
}

#[test]
fn the_content_decides_what_a_file_is() {
    for (bytes, name, kind) in [
        (data("orders.docx"), "orders.pdf", "docx"),
        (data("table.pdf"), "table.docx", "pdf"),
        (data("book.xls"), "book.xlsx", "xls"),
        (b"<html><body><p>x</p></body></html>".to_vec(), "page.pdf", "html"),
        (b"A file of PDF begins with %PDF-1.7, then come objects.".to_vec(), "page.docx", "text"),
        (data("table.pdf"), "notes.txt", "pdf"),
    ] {
        let found = read(&bytes, name).unwrap();
        assert_eq!(found.doc_type, kind, "{name}");
        let extension = name.rsplit_once('.').unwrap().1;
        assert!(
            found.warnings.iter().any(|warning| warning.contains(&format!("`.{extension}`"))),
            "{name}: {:?}",
            found.warnings
        );
    }
    for (bytes, name) in [(data("orders.docx"), "a.docm"), (data("table.pdf"), "noname"), (b"x".to_vec(), "x.log")] {
        assert_eq!(read(&bytes, name).unwrap().warnings, Vec::<String>::new(), "{name}");
    }
}
