//! Office files: values as they are shown, and what stands beside the main text.

mod cells;
mod word;
mod word_runs;

use super::make::zip;
use super::{check, data, read};

const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// The part that says what belongs to another: ids, kinds and targets.
fn relations(all: &[(&str, &str, &str)]) -> String {
    let written = |(id, kind, target): &(&str, &str, &str)| {
        format!("<x:Relationship Id='{id}' Type='{RELATIONSHIPS}/{kind}' Target='{target}'/>")
    };
    let all: String = all.iter().map(written).collect();
    format!(
        "<x:Relationships xmlns:x='http://schemas.openxmlformats.org/package/2006/relationships'>{all}</x:Relationships>"
    )
}

/// A workbook of one sheet, with further parts.
fn workbook(sheet: &str, related: &[(&str, &str, &str)], more: &[(&str, &str)]) -> Vec<u8> {
    let book = format!(
        "<workbook xmlns:z='{RELATIONSHIPS}'><calcPr fullCalcOnLoad='1'/><sheets><sheet name='S' sheetId='7' z:id='s'/></sheets></workbook>"
    );
    let of_book = relations(&[("s", "worksheet", "worksheets/sheet1.xml"), ("p", "person", "persons/person.xml")]);
    let sheet = format!("<worksheet>{sheet}</worksheet>");
    let related = relations(related);
    let mut entries: Vec<(&str, &[u8])> = vec![
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", of_book.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
        ("xl/worksheets/_rels/sheet1.xml.rels", related.as_bytes()),
    ];
    entries.extend(more.iter().map(|(name, text)| (*name, text.as_bytes())));
    zip(&entries)
}

#[test]
fn values_are_shown_as_people_see_them() {
    let expected = "== Work\n| Task | Time spent | Done on | Share | Cost | Post code | Approved | Town | Remark |\n\
        | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n\
        | Paint the fence | 37:30:00 | 2025-06-17 | 7.50% | 1,234.50 EUR | 04103 | TRUE | 東京都 |  |\n\
        | Oil hinges | 0:15:00 | 2025-06-18 |  | #DIV/0! |  | FALSE |  | two lines |\n";
    check(&data("values-1900.xlsx"), "a.xlsx", "xlsx", expected);
    // The same with other prefixes of namespaces.
    check(&data("values-1900-resaved-by-a-script.xlsx"), "a.xlsx", "xlsx", expected);
    let expected = "== Data\nContract 4711\n| What | Value |\n| --- | --- |\n| pct | 12.5% |\n| eur | 1,234.50 € |\n\
        | neg | (1,234.50) |\n| frac | 2 3/4 |\n| date | 5. März 2024 |\n| dmy | 05.03.2024 |\n| us | 03/05/24 (2024-03-05) |\n\
        | dur | 37:30:00 |\n| zip | 04103 |\n| phone | (555) 123-4567 |\n| sci | 1.23E-04 |\n| cond | big 150 |\n\
        | txt | Order A7 |\n| t | 2:30 PM |\nChart: Sales per port\nSeries: 'Data'!$B$2:$B$4\n\
        Comment on A1 by Ann Berg: Check the seal\nConfidential & secret\n== Hidden\n| hidden words |\n| --- |\n\
        | =SUM(Data!B2:B3) |\n== Only chart\nChart: Chart alone\nSeries: 'Data'!$B$2:$B$4\n";
    let found = check(&data("formats.xlsx"), "a.xlsx", "xlsx", expected);
    assert!(
        found.warnings[0].starts_with("1 cell has a formula that no spreadsheet has computed"),
        "{:?}",
        found.warnings
    );
    assert!(found.warnings[1].starts_with("Pictures in it are not read (1)"), "{:?}", found.warnings);
}

#[test]
fn formulas_without_values_are_shown_and_counted() {
    let expected = "== Sheet\n| item | price | qty | total |\n| --- | --- | --- | --- |\n| bolt | 2 | 10 | =B2*C2 |\n\
        | nut | 1 | 30 | =B3*C3 |\n| SUM |  |  | =SUM(D2:D3) |\n";
    let found = check(&data("formulas-never-calculated.xlsx"), "a.xlsx", "xlsx", expected);
    assert!(found.warnings[0].starts_with("3 cells have formulas"), "{:?}", found.warnings);
    // Zeros that a library wrote in place of values; a text box, a chart, a comment, a header.
    let expected = "== S\nHarbour office\n| a | b | sum |\n| --- | --- | --- |\n| 1 | 2 | =A2+B2 |\n|  |  | 6 |\n\
        Chart: Tonnage (Year)\n|  | North |\n| --- | --- |\n| a | 1 |\n| b | 2 |\nText in a box\nComment on A1 by Bo: A remark\n";
    let found = check(&data("by-a-library.xlsx"), "a.xlsx", "xlsx", expected);
    assert_eq!(found.warnings.len(), 1);
    // One that cells share, and formulas whose value is an empty text or an error.
    let sheet = "<sheetData><row r='2'><c r='A2'><f t='shared' ref='A2:A3' si='0'>B2*$C$1</f></c><c r='B2' t='str'><f>X1</f><v></v></c></row>\
        <row r='3'><c r='A3'><f t='shared' si='0'/></c><c r='B3' t='e'><f>1/0</f><v>#DIV/0!</v></c></row></sheetData>";
    let expected = "== S\n| =B2*$C$1 |  |\n| --- | --- |\n| =B3*$C$1 | #DIV/0! |\n";
    let found = check(&workbook(sheet, &[], &[]), "a.xlsx", "xlsx", expected);
    assert!(found.warnings[0].starts_with("2 cells have formulas"), "{:?}", found.warnings);
    let expected = "== S\nPort office\n| zip | 04103 |\n| --- | --- |\n| dur | 37:30:00 |\n| =? |  |\n| TRUE |  |\n";
    let found = check(&data("by-a-library.xls"), "a.xls", "xls", expected);
    assert!(found.warnings[0].contains("(1) stand as `=?`"), "{:?}", found.warnings);
}

#[test]
fn cells_far_to_the_right_are_counted() {
    let sheet =
        "<sheetData><row><c r='A1'><v>1</v></c><c r='AMJ1'><v>2</v></c><c r='AMK1'><v>3</v></c></row></sheetData>";
    let found = check(&workbook(sheet, &[], &[]), "a.xlsx", "xlsx", "== S\n| 1 | 2 |\n| --- | --- |\n");
    assert_eq!(found.warnings, ["Of each sheet, the first 1024 columns are read; 1 cells beyond them are not."]);
}

#[test]
fn conversations_in_sheets_name_who_speaks() {
    let notes = "<comments><authors><author>tc={1}</author><author>Bo</author></authors><commentList>\
        <comment ref='A1' authorId='0'><text><t>[Threaded comment] Your version …</t></text></comment>\
        <comment ref='B2' authorId='1'><text><r><t>Bo:</t></r><r><t>\nOld style</t></r></text></comment></commentList></comments>";
    let thread = "<ThreadedComments><threadedComment ref='A1' personId='{P}'><text>Too low?</text></threadedComment>\
        <threadedComment ref='A1' personId='{Q}'><text>No.</text></threadedComment></ThreadedComments>";
    let persons =
        "<personList><person displayName='Ann Berg' id='{P}'/><person displayName='Cy' id='{Q}'/></personList>";
    let file = workbook(
        "<sheetData><row><c><v>7</v></c></row></sheetData>",
        &[("a", "comments", "../comments1.xml"), ("b", "threadedComment", "../threadedComments/t.xml")],
        &[("xl/comments1.xml", notes), ("xl/threadedComments/t.xml", thread), ("xl/persons/person.xml", persons)],
    );
    let expected =
        "== S\n7\nComment on A1 by Ann Berg: Too low?\nComment on A1 by Cy: No.\nComment on B2 by Bo: Old style\n";
    check(&file, "a.xlsx", "xlsx", expected);
}

#[test]
fn slides_with_diagrams_charts_and_what_is_on_each() {
    let expected = "== Launch of the Orchard plan\n# Launch of the Orchard plan\nGROUPED Sales opens on 4 November\n\
        NESTEDGROUP Support is staffed from six\n| Plan | Price |\n| --- | --- |\n| TABLECELL Orchard | 42 euros a month |\n\
        - SMARTART Order\n- Pack and ship within two days\nNOTES Do not mention the old name of the plan\n";
    let found = check(&data("launch.pptx"), "a.pptx", "pptx", expected);
    assert_eq!(found.warnings, Vec::<String>::new());
    // With other prefixes; a hidden slide; a text of the layout.
    let expected = "== Numbers\n# Numbers\nChart: Share of ports (Region)\n|  | 2024 | 2025 |\n| --- | --- | --- |\n\
        | East | 25.0% | 30.0% |\n| West | 50.0% | 60.0% |\nbox on slide\nINTERNAL USE ONLY\nSpeak slowly\n\
        == Hidden one\n# Hidden one\nsecret\n";
    let found = check(&data("ports.pptx"), "a.pptx", "pptx", expected);
    assert!(found.warnings[0].starts_with("Pictures in it are not read (1)"), "{:?}", found.warnings);
}

#[test]
fn slides_with_numbers_diagrams_and_comments() {
    let numbered = |level: u8, way: &str, text: &str| {
        format!("<a:p><a:pPr lvl='{level}'>{way}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>")
    };
    let arabic = "<a:buAutoNum type='arabicPeriod' startAt='3'/>";
    let letter = "<a:buAutoNum type='alphaLcParenR'/>";
    let body = [
        numbered(0, arabic, "third"),
        numbered(1, letter, "below"),
        numbered(1, letter, "below too"),
        numbered(0, arabic, "fourth"),
        numbered(1, letter, "anew"),
    ]
    .concat();
    let slide = format!(
        "<p:sld xmlns:p='p' xmlns:a='a' xmlns:d='d' xmlns:k='{RELATIONSHIPS}'><p:sp>{body}</p:sp>\
         <p:sp><p:nvPr><p:ph type='ftr'/></p:nvPr><a:p><a:t>Harbour Ltd</a:t></a:p></p:sp>\
         <p:graphicFrame><d:relIds k:dm='d'/></p:graphicFrame></p:sld>"
    );
    // The order of a diagram is that of its connections.
    let diagram = "<dgm:dataModel xmlns:dgm='d' xmlns:a='a'><dgm:ptLst><dgm:pt modelId='0' type='doc'/>\
        <dgm:pt modelId='b'><dgm:t><a:p><a:r><a:t>second</a:t></a:r></a:p></dgm:t></dgm:pt>\
        <dgm:pt modelId='a'><dgm:t><a:p><a:r><a:t>first</a:t></a:r></a:p></dgm:t></dgm:pt>\
        <dgm:pt modelId='c'><dgm:t><a:p><a:r><a:t>below the first</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst>\
        <dgm:cxnLst><dgm:cxn srcId='0' destId='b' srcOrd='1'/><dgm:cxn srcId='0' destId='a' srcOrd='0'/>\
        <dgm:cxn srcId='a' destId='c' srcOrd='0'/></dgm:cxnLst></dgm:dataModel>";
    let comments = "<p:cmLst xmlns:p='p'><p:cm authorId='0'><p:text>Too long</p:text></p:cm></p:cmLst>";
    let newer = "<n:cmLst xmlns:n='n' xmlns:a='a'><n:cm authorId='{B}'><n:replyLst><n:reply authorId='{A}'><n:txBody><a:p><a:r><a:t>Done</a:t></a:r></a:p></n:txBody></n:reply></n:replyLst>\
        <n:txBody><a:p><a:r><a:t>Shorten</a:t></a:r></a:p></n:txBody></n:cm></n:cmLst>";
    let deck = format!(
        "<p:presentation xmlns:p='p' xmlns:k='{RELATIONSHIPS}'><p:sldId id='256' k:id='x'/><p:sldId id='257' k:id='x'/></p:presentation>"
    );
    let of_deck =
        relations(&[("x", "slide", "slides/s.xml"), ("a", "commentAuthors", "c.xml"), ("b", "authors", "b.xml")]);
    let of_slide =
        relations(&[("d", "diagramData", "../d.xml"), ("c", "comments", "../k.xml"), ("e", "comments", "../n.xml")]);
    let file = zip(&[
        ("ppt/presentation.xml", deck.as_bytes()),
        ("ppt/_rels/presentation.xml.rels", of_deck.as_bytes()),
        ("ppt/slides/s.xml", slide.as_bytes()),
        ("ppt/slides/_rels/s.xml.rels", of_slide.as_bytes()),
        ("ppt/D.xml", diagram.as_bytes()),
        ("ppt/k.xml", comments.as_bytes()),
        ("ppt/n.xml", newer.as_bytes()),
        ("ppt/c.xml", b"<p:cmAuthorLst xmlns:p='p'><p:cmAuthor id='0' name='Ann Berg'/></p:cmAuthorLst>"),
        (
            "ppt/b.xml",
            b"<n:authorLst xmlns:n='n'><n:author id='{A}' name='Ann'/><n:author id='{B}' name='Bo'/></n:authorLst>",
        ),
    ]);
    let items = "- 3. third\n- a) below\n- b) below too\n- 4. fourth\n- a) anew\n";
    let rest = "- first\n- – below the first\n- second\nComment by Ann Berg: Too long\nComment by Bo: Shorten\nComment by Ann: Done\n";
    check(&file, "a.pptx", "pptx", &format!("{items}Harbour Ltd\n{rest}== \n{items}{rest}"));
}

#[test]
fn charts_of_the_newer_kind() {
    let drawing = format!(
        "<xdr:wsDr xmlns:xdr='x' xmlns:cx='cx' xmlns:q='{RELATIONSHIPS}'><cx:chart q:id='c'/><cx:chart q:id='gone'/></xdr:wsDr>"
    );
    let chart = "<cx:chartSpace xmlns:cx='cx' xmlns:a='a'><cx:chartData><cx:data id='0'><cx:strDim type='cat'><cx:lvl ptCount='2'>\
        <cx:pt idx='0'>Ore</cx:pt><cx:pt idx='1'>Coal</cx:pt></cx:lvl></cx:strDim><cx:numDim type='val'><cx:lvl ptCount='2' formatCode='0%'>\
        <cx:pt idx='0'>0.5</cx:pt><cx:pt idx='1'>0.25</cx:pt></cx:lvl></cx:numDim></cx:data></cx:chartData><cx:chart><cx:title><cx:tx><cx:rich>\
        <a:p><a:r><a:t>Freight</a:t></a:r></a:p></cx:rich></cx:tx></cx:title><cx:plotArea><cx:plotAreaRegion><cx:series>\
        <cx:tx><cx:txData><cx:v>Tons</cx:v></cx:txData></cx:tx></cx:series></cx:plotAreaRegion></cx:plotArea></cx:chart></cx:chartSpace>";
    let of_drawing = relations(&[("c", "chartEx", "../charts/c.xml")]);
    let file = workbook(
        "<sheetData/>",
        &[("d", "drawing", "../drawings/d.xml")],
        &[("xl/drawings/d.xml", &drawing), ("xl/drawings/_rels/d.xml.rels", &of_drawing), ("xl/charts/c.xml", chart)],
    );
    let found = check(
        &file,
        "a.xlsx",
        "xlsx",
        "== S\nChart: Freight\n|  | Tons |\n| --- | --- |\n| Ore | 50% |\n| Coal | 25% |\n",
    );
    assert_eq!(found.warnings, ["A chart is not read, since its data is not in the file."]);
}

#[test]
fn charts_of_every_shape_and_files_on_slides() {
    let expected = "Chart\n|  | Depth |\n| --- | --- |\n| 1.5 | 20 |\n| 2.5 | 30 |\nChart\n|  | Sum |\n| --- | --- |\n\
        | 2024 H1 | 1 |\n| 2024 H2 | 2 |\nChart\n|  | Day |\n| --- | --- |\n| 2024-03-05 | 1 |\n| 2024-03-06 |  |\n\
        | Task | Time spent |";
    let found = read(&data("charts.pptx"), "a.pptx").unwrap();
    let shown = super::shown(&found);
    assert!(shown.starts_with(expected), "{shown}");
    assert!(shown.contains("| Paint the fence | 37:30:00 |"), "{shown}");
    assert_eq!(found.warnings[0], "Sound and films in it are not read.");
}

#[test]
fn open_documents_beside_their_text() {
    let expected = "Contract 4711\n- 1. Lease\n- 1.1. Begins in May\n- 1.2. Ends in June\n- 2. Costs\n- 2.1. Water\n\
        A paragraph\nComment by Ann: Is that so?\n";
    check(&data("lease.odt"), "a.odt", "odt", expected);
    let content = "<o:document-content xmlns:o='urn:oasis:names:tc:opendocument:xmlns:office:1.0' xmlns:t='t' xmlns:x='x' xmlns:d='d' xmlns:l='l'>\
        <t:table t:name='S'><t:table-row>\
        <t:table-cell o:value-type='percentage' o:value='0.075'/><t:table-cell o:value-type='currency' o:value='12.5' o:currency='EUR'/>\
        <t:table-cell o:value-type='time' o:time-value='PT37H30M00S'/><t:table-cell t:formula='of:=[.A1]*2'/>\
        <t:table-cell o:value-type='float' o:value='04103' ><x:p>04103</x:p></t:table-cell>\
        <t:table-cell><o:annotation><x:p>Why?</x:p></o:annotation><x:p>seven</x:p></t:table-cell>\
        <t:table-cell><d:object l:href='./Object 1'/></t:table-cell></t:table-row></t:table></o:document-content>";
    let chart = "<o:document-content xmlns:o='o' xmlns:c='c' xmlns:chart='chart' xmlns:t='t' xmlns:x='x'><chart:chart><chart:title><x:p>Rain</x:p></chart:title>\
        <t:table><t:table-row><t:table-cell/><t:table-cell><x:p>mm</x:p></t:table-cell></t:table-row>\
        <t:table-row><t:table-cell><x:p>May</x:p></t:table-cell><t:table-cell><x:p>12</x:p></t:table-cell></t:table-row></t:table></chart:chart></o:document-content>";
    let file = zip(&[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        ("content.xml", content.as_bytes()),
        ("Object 1/content.xml", chart.as_bytes()),
    ]);
    let expected = "== S\n| 7.5% | 12.5 EUR | 37:30:00 | =A1*2 | 04103 | seven |\n| --- | --- | --- | --- | --- | --- |\n\
        Comment on F1: Why?\nChart\nRain\n|  | mm |\n| --- | --- |\n| May | 12 |\n";
    let found = check(&file, "a.ods", "ods", expected);
    assert!(found.warnings[0].starts_with("1 cell has a formula"), "{:?}", found.warnings);
}

#[test]
fn files_without_sheets_or_slides_say_so() {
    let empty = zip(&[("xl/workbook.xml", b"<workbook/>")]);
    assert!(read(&empty, "a.xlsx").unwrap_err().to_string().contains("names no sheets"));
}

#[test]
fn rich_text_beside_the_body() {
    let text = br"{\rtf1\ansi\ansicpg1252{\header Contract 4711\par}{\footer Harbour Ltd\par}\pard The tenant pays.{\*\atnid AB}{\*\atnauthor Ann Berg}\chatn{\*\annotation{\*\atndate 1}Too low?\par}{\footnote See annex}\par
{\shp{\*\shpinst{\sp{\sn x}{\sv 1}}{\shptxt In a box\par}}}{\*\shppict{\pict 00}}{\nonshppict{\pict 00}}{\listtext 1.\tab}First\par}";
    let expected = "Contract 4711\nThe tenant pays.\nComment by Ann Berg: Too low?\nFootnote 1: See annex\nIn a box\n1. First\nHarbour Ltd\n";
    let found = check(text, "a.rtf", "rtf", &expected.replace("1. First", "1.\tFirst"));
    assert!(found.warnings[0].starts_with("Pictures in it are not read (1)"), "{:?}", found.warnings);
}

#[test]
fn lists_of_pages_have_their_numbers() {
    let page = "<html><body><ol><li>Lease<ol type=a start=3><li>begins<li><p>ends</p></ol><li value=7>Costs<ul><li>water</ul></li><li>End</ol>\
        <ol><li>anew</ol></body></html>";
    check(
        page.as_bytes(),
        "a.html",
        "html",
        "- 1. Lease\n- c. begins\n- d. ends\n- 7. Costs\n- water\n- 8. End\n- 1. anew\n",
    );
}
