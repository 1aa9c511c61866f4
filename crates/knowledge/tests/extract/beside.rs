//! What stands beside the main text of a file, or is written by conventions that the file doesn't declare.
use super::make::{compound, pdf_of, stream};
use super::{check, data, read, shown};

#[test]
fn tables_by_the_conventions_of_spreadsheets() {
    let expected =
        "| plz | ort | betrag |\n| --- | --- | --- |\n| 01067 | Dresden | 1.234,50 |\n| 04103 | Leipzig | 88,00 |\n";
    check(&data("sep-line.csv"), "sep-line.csv", "csv", expected);
    let lines = "plz;ort;betrag\r\n=\"01067\";Dresden;1.234,50\r\n\"04103\";Leipzig;88,00\r\n";
    for start in ["", "sep=;\r\n", "\u{feff}sep=;\r\n", "\"sep=;\"\r\n", "\u{feff}"] {
        check(format!("{start}{lines}").as_bytes(), "a.csv", "csv", expected);
    }
    let tabs = lines.replace(';', "\t");
    for start in ["sep=\t\r\n", "sep=\\t\r\n", ""] {
        check(format!("{start}{tabs}").as_bytes(), "a.csv", "csv", expected);
    }
    let wide: Vec<u8> = format!("\u{feff}sep=;\n{lines}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(&wide, "a.csv", "csv", expected);
    let quoted = "id;note\n1;\"two\nlines; and \"\"more\"\"\"\n2;x\n";
    check(
        quoted.as_bytes(),
        "a.csv",
        "csv",
        "| id | note |\n| --- | --- |\n| 1 | two lines; and \"more\" |\n| 2 | x |\n",
    );
    check(b"1,5;2,5\n3,5;4,5\n", "a.csv", "csv", "| 1,5 | 2,5 |\n| --- | --- |\n| 3,5 | 4,5 |\n");
    let found = read(b"id;note\n1;\"never closed\n2;x\n", "a.csv").unwrap();
    assert!(found.warnings[0].contains("quotation mark"), "{:?}", found.warnings);
}

#[test]
fn values_of_forms_stand_after_their_labels() {
    let found = read(&data("filled-need-appearances.pdf"), "form.pdf").unwrap();
    let text = shown(&found);
    for part in [
        "Name of the employee: Marlene Oduya",
        "Department: Warehouse North",
        "Wants a reply by post: [x]",
        "Überstunden im März nicht bezahlt",
    ] {
        assert!(text.replace('\n', " ").contains(part), "{part}: {text}");
    }
    assert_eq!(found.warnings, Vec::<String>::new());
}

/// A PDF with one page of text, these annotations, and these entries of the catalogue.
fn annotated(annotations: &str, catalogue: &str, more: &[Vec<u8>]) -> Vec<u8> {
    let page = format!(
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Annots [{annotations}] \
         /Resources << /Font << /F1 5 0 R >> >> >>"
    );
    let mut objects = vec![
        format!("<< /Type /Catalog /Pages 2 0 R {catalogue} >>").into_bytes(),
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_vec(),
        page.into_bytes(),
        stream("", b"BT /F1 12 Tf 50 700 Td (Colour of the hull:) Tj ET"),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
    ];
    objects.extend(more.iter().cloned());
    pdf_of(&objects)
}

#[test]
fn fields_of_every_kind_are_read() {
    let field = |rest: &str| format!("<< /Subtype /Widget /Rect [200 695 400 712] {rest} >>");
    let text = |annotation: &str| shown(&read(&annotated(annotation, "", &[]), "a.pdf").unwrap());
    for (rest, expect) in [
        ("/FT /Tx /V (red)", "Colour of the hull: red\n"),
        ("/FT /Ch /V (r) /Opt [[(r) (Red)] [(b) (Blue)]]", "Colour of the hull: Red\n"),
        ("/FT /Ch /V [(red) (blue)]", "Colour of the hull: red, blue\n"),
        ("/FT /Btn /V /Off /AS /Off", "Colour of the hull: [ ]\n"),
        ("/FT /Btn /AS /Express", "Colour of the hull: [x]\n"),
        ("/FT /Btn /Parent << /V /1 /Ff 32768 >> /AS /1", "Colour of the hull: [x]\n"),
        ("/FT /Btn /Parent << /V /1 /Ff 32768 >> /AS /Off", "Colour of the hull: [ ]\n"),
        (
            "/FT /Sig /V << /Name (Ann Lee) /M (D:20250901083000Z) >>",
            "Colour of the hull: Signed by Ann Lee on 2025-09-01\n",
        ),
        // Of a field above it.
        ("/Parent << /FT /Tx /T (hull) /V (red) >>", "Colour of the hull: red\n"),
        ("/FT /Tx /V ()", "Colour of the hull:\n"),
        ("/FT /Tx /Ff 8192 /V (secret)", "Colour of the hull:\n"),
        ("/FT /Tx", "Colour of the hull:\n"),
        ("/FT /Tx /V 12", "Colour of the hull: 12\n"),
    ] {
        assert_eq!(text(&field(rest)), expect, "{rest}");
    }
    // In the encoding of strings outside of pages, which is not Windows'.
    let marks = "/FT /Tx /V <313085323020a0208d97696d658e2083208b2096209e20802066696e>";
    assert!(text(&field(marks)).ends_with("Colour of the hull: 10–20 € “Šime” … ‰ Œ ž • fin\n"));
    assert_eq!(text(&field("/FT /Tx /V (a\\tb\\255c)")), "Colour of the hull: a bc\n");
    // What stands on a button, which is no value of a box to tick.
    assert_eq!(text(&field("/FT /Btn /Ff 65536 /MK << /CA (Submit form) >>")), "Colour of the hull: Submit form\n");
    assert_eq!(text(&field("/FT /Btn /AS /Off /MK << /CA (4) >>")), "Colour of the hull: [ ]\n");
    // Without a value there may be a drawing of one.
    let drawn = stream(
        "/Type /XObject /Subtype /Form /BBox [0 0 100 17] /Resources << /Font << /Helv 5 0 R >> >>",
        b"BT /Helv 10 Tf 2 6 Td (as drawn) Tj ET",
    );
    let file = annotated(&field("/FT /Tx /AP << /N 6 0 R >>"), "", &[drawn]);
    assert_eq!(shown(&read(&file, "a.pdf").unwrap()), "Colour of the hull: as drawn\n");
    // One that stands on no page.
    let form = "/AcroForm << /Fields [6 0 R] >>";
    let fields =
        [b"<< /T (ship) /Kids [null 7 0 R] >>".to_vec(), b"<< /T (name) /Parent 6 0 R /FT /Tx /V (Aurora) >>".to_vec()];
    assert_eq!(
        shown(&read(&annotated("", form, &fields), "a.pdf").unwrap()),
        "Colour of the hull:\nship.name: Aurora\n"
    );
    let fields =
        [b"<< /T (rig) /Kids [7 0 R] >>".to_vec(), b"<< /T (kind) /Parent 6 0 R /FT /Btn /V /Ketch >>".to_vec()];
    assert_eq!(
        shown(&read(&annotated("", form, &fields), "a.pdf").unwrap()),
        "Colour of the hull:\nrig.kind: [x] Ketch\n"
    );
}

#[test]
fn remarks_are_read_and_what_is_left_out_is_told() {
    let notes = "<< /Subtype /FreeText /Rect [200 695 400 712] /Contents (red, as agreed) /DA (/Helv 12 Tf) >> \
        << /Subtype /Text /Rect [10 10 20 20] /T (Bo) /Contents (Ask the owner.) >> \
        << /Subtype /Highlight /Rect [10 10 20 20] /Contents <feff00fc0062006500720073006500680065006e> >> \
        << /Subtype /Popup /Rect [10 10 20 20] /Contents (no) >> << /Subtype /Link /Rect [1 1 2 2] /Contents (no) >> \
        << /Subtype /FileAttachment /Rect [1 1 2 2] /FS << /F (plan.dwg) >> >>";
    let catalogue = "/AcroForm << /Fields [] /XFA [(template) 6 0 R] >> \
        /Names << /EmbeddedFiles << /Kids [<< /Names [(a) << /UF (invoice.xml) >>] >>] >> >>";
    let found = read(&annotated(notes, catalogue, &[stream("", b"<x/>")]), "a.pdf").unwrap();
    let expected = "Colour of the hull: red, as agreed\nComment by Bo: Ask the owner.\nComment: übersehen\n";
    assert_eq!(shown(&found), expected);
    for part in ["XFA", "`invoice.xml`", "`plan.dwg`"] {
        assert!(found.warnings.iter().any(|warning| warning.contains(part)), "{part}: {:?}", found.warnings);
    }
    // A form that leads to itself ends.
    let endless = "<< /Subtype /Widget /FT /Tx /Rect [200 695 400 712] /Parent 6 0 R >>";
    let form = "/AcroForm << /Fields [6 0 R] >>";
    let around = b"<< /T (a) /Parent 6 0 R /Kids [6 0 R] >>".to_vec();
    assert_eq!(shown(&read(&annotated(endless, form, &[around]), "a.pdf").unwrap()), "Colour of the hull:\n");
}

#[test]
fn placeholders_are_no_titles() {
    let titled = |title: &str| {
        let bytes = String::from_utf8(annotated("", "", &[format!("<< /Title ({title}) >>").into_bytes()])).unwrap();
        read(bytes.replace("/Root 1 0 R", "/Root 1 0 R /Info 6 0 R").as_bytes(), "a.pdf").unwrap().title
    };
    for title in ["untitled", "(Untitled)", "Untitled-1", "PowerPoint Presentation"] {
        assert_eq!(titled(title), None, "{title}");
    }
    assert_eq!(titled("Untitled poems").as_deref(), Some("Untitled poems"));
    assert_eq!(titled("The bay \\215north\\216").as_deref(), Some("The bay “north”"));
}

#[test]
fn mails_whose_letters_are_cut_or_not_declared() {
    let found = read(&data("subject-cut-in-a-character.eml"), "mail.eml").unwrap();
    assert_eq!(found.title.as_deref(), Some("Rückgabe der Schlüssel für die Räume 12–19"));
    let japanese =
        b"From: a@example.jp\r\nTo: b@example.jp\r\nSubject: x\r\nDate: Fri, 1 Mar 2024 10:00:00 +0000\r\n\r\n\
        \x1b$B2q5D\x1b(B at 9\r\n";
    assert!(shown(&read(japanese, "mail.eml").unwrap()).ends_with("会議 at 9\n"));
    // Plain texts have the same encodings.
    let found = check(b"\x1b$B2q5D\x1b(B at 9\n", "a.txt", "text", "会議 at 9\n");
    assert!(found.warnings[0].contains("ISO-2022-JP"), "{:?}", found.warnings);
}

#[test]
fn mails_of_outlook_name_their_code_page() {
    let mut properties = vec![0; 32];
    properties.extend([3, 0, 0xfd, 0x3f, 0, 0, 0, 0]);
    properties.extend(932_u64.to_le_bytes());
    let file = compound(&[
        ("__properties_version1.0", &properties),
        ("__substg1.0_0037001E", b"\x89\xef\x8b\x63"),
        ("__substg1.0_1000001E", b"\x89\xef\x8b\x63"),
    ]);
    check(&file, "mail.msg", "msg", "# 会議\n会議\n");
}
