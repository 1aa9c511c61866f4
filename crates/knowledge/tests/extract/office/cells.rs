//! Cells, charts and forms of workbooks, and slides: what is easily taken for something else.

use super::super::{check, data, read, shown};
use super::{RELATIONSHIPS, relations, workbook, zip};
use steward_knowledge::{ChunkSettings, chunk};

fn cells(cells: &str) -> Vec<u8> {
    workbook(&format!("<sheetData>{cells}</sheetData>"), &[], &[])
}

fn inline(place: &str, inner: &str) -> String {
    format!("<c r='{place}' t='inlineStr'><is>{inner}</is></c>")
}

#[test]
fn texts_of_cells_keep_what_tells_parts_apart() {
    let row = "<r><t>10</t></r><r><rPr><vertAlign val='superscript'/></rPr><t>3</t></r><r><rPr><sz val='11'/></rPr><t> m</t></r>";
    let struck = "<r><rPr><strike/></rPr><t>100</t></r><r><t> 80</t></r>";
    let file = cells(&format!(
        "<row r='1'>{}{}{}{}</row>",
        inline("A1", row),
        inline("B1", struck),
        inline("C1", "<t>a_x000D_b</t>"),
        inline("D1", "<t>c_x005F_x000D_d</t>")
    ));
    check(&file, "a.xlsx", "xlsx", "== S\n| 10³ m | ~~100~~ 80 | a b | c_x000D_d |\n| --- | --- | --- | --- |\n");
}

#[test]
fn fonts_of_older_workbooks_tell_parts_apart() {
    let expected = "== Fees\n| 10³ cells | Fee ~~100~~ 80 |\n| --- | --- |\n| ~~gone~~ | ~~42~~ |\n| plain | 7 |\n";
    check(&data("fonts.xls"), "a.xls", "xls", expected);
}

#[test]
fn formulas_of_several_cells_have_no_value_together() {
    let file = cells(
        "<row r='1'><c r='A1'><v>5</v></c><c r='B1'><f t='array' ref='B1:B3'>A1:A3*10</f><v>0</v></c></row>\
         <row r='2'><c r='A2'><v>6</v></c><c r='B2'><v>0</v></c></row><row r='3'><c r='A3'><v>0</v></c><c r='B3'><v>0</v></c></row>\
         <row r='4'><c r='A4'><v>0</v></c><c r='B4'><v>0</v></c></row>",
    );
    let expected = "== S\n| 5 | =A1:A3*10 |\n| --- | --- |\n| 6 | =A1:A3*10 |\n| 0 | =A1:A3*10 |\n| 0 | 0 |\n";
    let found = check(&file, "a.xlsx", "xlsx", expected);
    assert!(found.warnings[0].starts_with("3 cells have formulas"), "{:?}", found.warnings);
    // One that was computed.
    let file = cells(
        "<row r='1'><c r='A1'><f t='array' ref='A1:A2'>X1:X2</f><v>7</v></c><c r='B1'><v>1</v></c></row><row r='2'><c r='A2'><v>0</v></c><c r='B2'><v>1</v></c></row>",
    );
    assert_eq!(
        check(&file, "a.xlsx", "xlsx", "== S\n| 7 | 1 |\n| --- | --- |\n| 0 | 1 |\n").warnings,
        Vec::<String>::new()
    );
}

#[test]
fn dates_in_words_are_shown_by_their_formats() {
    let styles = "<styleSheet><numFmts><numFmt numFmtId='164' formatCode='dd.mm.yyyy'/></numFmts><fonts><font/><font><strike/></font></fonts>\
        <cellXfs><xf numFmtId='164'/><xf numFmtId='0'/><xf numFmtId='0' fontId='1'/></cellXfs></styleSheet>";
    let sheet = "<worksheet><sheetData><row r='1'><c r='A1' s='0' t='d'><v>2024-03-05</v></c><c r='B1' s='1' t='d'><v>2024-03-05</v></c>\
        <c r='C1' s='2'><v>100</v></c></row></sheetData></worksheet>";
    let book = format!(
        "<workbook xmlns:z='{RELATIONSHIPS}'><sheets><sheet name='S' sheetId='7' z:id='s'/></sheets></workbook>"
    );
    let of_book = relations(&[("s", "worksheet", "worksheets/sheet1.xml"), ("f", "styles", "styles.xml")]);
    let file = zip(&[
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", of_book.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
        ("xl/styles.xml", styles.as_bytes()),
    ]);
    check(&file, "a.xlsx", "xlsx", "== S\n| 05.03.2024 | 2024-03-05 | ~~100~~ |\n| --- | --- | --- |\n");
}

#[test]
fn forms_over_sheets_show_their_captions() {
    let shape = |kind: &str, caption: &str, more: &str| {
        format!(
            "<v:shape><v:textbox><div>{caption}<br></div></v:textbox><x:ClientData ObjectType='{kind}'>{more}</x:ClientData></v:shape>"
        )
    };
    let vml = format!(
        "<xml xmlns:v='v' xmlns:x='x'>{}{}{}{}</xml>",
        shape("Button", "Button caption", ""),
        shape("Checkbox", "Insured", "<x:Checked>1</x:Checked>"),
        shape("Checkbox", "Rush", ""),
        shape("Note", "a note", "")
    );
    let file = workbook(
        "<sheetData><row><c><v>7</v></c></row></sheetData>",
        &[("v", "vmlDrawing", "../drawings/v.vml")],
        &[("xl/drawings/v.vml", &vml)],
    );
    check(&file, "a.xlsx", "xlsx", "== S\n7\nButton caption\n☒ Insured\n☐ Rush\n");
}

#[test]
fn workbooks_in_xml() {
    let text = "<?xml version='1.0'?><Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet' xmlns:ss='urn:schemas-microsoft-com:office:spreadsheet'>\
        <Styles><Style ss:ID='a'><NumberFormat ss:Format='00000'/></Style><Style ss:ID='b'><NumberFormat ss:Format='dd.mm.yyyy'/></Style></Styles>\
        <Worksheet ss:Name='Lager'><Table><Row><Cell><Data ss:Type='String'>Part</Data></Cell><Cell ss:Index='3'><Data ss:Type='String'>Code</Data></Cell>\
        <Cell><Data ss:Type='String'>When</Data></Cell></Row><Row><Cell ss:MergeAcross='1'><Data ss:Type='String'>Hinge</Data></Cell>\
        <Cell ss:StyleID='a'><Data ss:Type='Number'>1069</Data></Cell><Cell ss:StyleID='b'><Data ss:Type='DateTime'>2024-03-05T00:00:00.000</Data>\
        <Comment ss:Author='Ann'><Data>Check</Data></Comment></Cell></Row>\
        <Row><Cell ss:Formula='=R[-1]C*2'><Data ss:Type='Number'></Data></Cell></Row></Table></Worksheet>\
        <Worksheet ss:Name='Zwei'><Table><Row><Cell><Data ss:Type='String'>Second</Data></Cell></Row></Table></Worksheet></Workbook>";
    let expected = "== Lager\n| Part | Code | When |\n| --- | --- | --- |\n| Hinge | 01069 | 05.03.2024 |\n| =R[-1]C*2 |  |  |\n\
        Comment by Ann: Check\n== Zwei\nSecond\n";
    for name in ["a.xls", "a.xml"] {
        let found = check(text.as_bytes(), name, "xls", expected);
        assert!(found.warnings[0].starts_with("1 cell has a formula"), "{:?}", found.warnings);
        assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
    }
}

#[test]
fn values_of_a_sheet_stand_below_its_name() {
    let found = read(&data("months.xlsx"), "months.xlsx").unwrap();
    let chunks = chunk(&found, &ChunkSettings::default(), &|text| text.len() / 4);
    let headings: Vec<&str> = chunks.iter().map(|chunk| chunk.headings.last().unwrap().as_str()).collect();
    assert_eq!(headings, ["January", "February", "March"]);
    assert!(chunks.iter().all(|chunk| chunk.first_page == chunk.last_page));
    // Slides show their titles, and may share a chunk.
    let found = read(&data("ports.pptx"), "ports.pptx").unwrap();
    assert_eq!(chunk(&found, &ChunkSettings::default(), &|text| text.len() / 4).len(), 1, "{}", shown(&found));
}

/// A deck of one slide.
fn slide(inner: &str, related: &[(&str, &str, &str)], more: &[(&str, &str)]) -> Vec<u8> {
    let slide =
        format!("<p:sld xmlns:p='p' xmlns:a='a' xmlns:m='m' xmlns:c='c' xmlns:k='{RELATIONSHIPS}'>{inner}</p:sld>");
    let deck =
        format!("<p:presentation xmlns:p='p' xmlns:k='{RELATIONSHIPS}'><p:sldId id='256' k:id='x'/></p:presentation>");
    let of_deck = relations(&[("x", "slide", "slides/s.xml")]);
    let of_slide = relations(related);
    let mut entries: Vec<(&str, &[u8])> = vec![
        ("ppt/presentation.xml", deck.as_bytes()),
        ("ppt/_rels/presentation.xml.rels", of_deck.as_bytes()),
        ("ppt/slides/s.xml", slide.as_bytes()),
        ("ppt/slides/_rels/s.xml.rels", of_slide.as_bytes()),
    ];
    entries.extend(more.iter().map(|(name, text)| (*name, text.as_bytes())));
    zip(&entries)
}

#[test]
fn runs_and_formulas_on_slides() {
    let inner = "<p:sp><a:p><a:r><a:t>E=mc</a:t></a:r><a:r><a:rPr baseline='30000'/><a:t>2</a:t></a:r><a:r><a:rPr baseline='0'/><a:t>, H</a:t></a:r>\
        <a:r><a:rPr baseline='-25000'/><a:t>2</a:t></a:r><a:r><a:t>O</a:t></a:r></a:p>\
        <a:p><a:r><a:rPr strike='sngStrike'/><a:t>100</a:t></a:r><a:r><a:rPr strike='noStrike'/><a:t> 80</a:t></a:r></a:p>\
        <a:p><m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>c</m:t></m:r></m:den></m:f></m:oMath></a:p></p:sp>";
    check(&slide(inner, &[], &[]), "a.pptx", "pptx", "E=mc², H₂O\n~~100~~ 80\n(a+b)/c\n");
}

#[test]
fn texts_of_charts_and_diagrams_keep_what_tells_parts_apart() {
    let chart = "<c:chartSpace xmlns:c='c' xmlns:a='a'><c:chart><c:title><a:p><a:r><a:t>Flow in m</a:t></a:r><a:r><a:rPr baseline='30000'/><a:t>3</a:t></a:r></a:p></c:title>\
        <c:ser><c:val><c:numLit><c:pt idx='0'><c:v>4</c:v></c:pt></c:numLit></c:val></c:ser></c:chart></c:chartSpace>";
    let diagram = "<dgm:dataModel xmlns:dgm='d' xmlns:a='a'><dgm:ptLst><dgm:pt modelId='0' type='doc'/><dgm:pt modelId='a'><dgm:t><a:p><a:r><a:t>CO</a:t></a:r>\
        <a:r><a:rPr baseline='-25000'/><a:t>2</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst><dgm:cxnLst><dgm:cxn srcId='0' destId='a'/></dgm:cxnLst></dgm:dataModel>";
    let file = slide(
        "<p:sp><a:p><a:r><a:t>one_x000B_two</a:t></a:r></a:p></p:sp><p:graphicFrame><c:chart k:id='c'/></p:graphicFrame>\
         <p:graphicFrame><c:relIds k:dm='d'/></p:graphicFrame>",
        &[("c", "chart", "../charts/c.xml"), ("d", "diagramData", "../d.xml")],
        &[("ppt/charts/c.xml", chart), ("ppt/d.xml", diagram)],
    );
    let expected = "one\ntwo\nChart: Flow in m³\n| Series 1 |\n| --- |\n| 4 |\n- CO₂\n";
    check(&file, "a.pptx", "pptx", expected);
}

#[test]
fn charts_without_values_are_named() {
    let chart = "<c:chartSpace xmlns:c='c' xmlns:a='a'><c:chart><c:title><a:p><a:t>Rain</a:t></a:p></c:title><c:ser><c:tx><c:f>S!B1</c:f></c:tx>\
        <c:val><c:numRef><c:f>S!B2:B9</c:f></c:numRef></c:val><c:trendline><c:name>Upward</c:name></c:trendline></c:ser></c:chart><c:externalData/></c:chartSpace>";
    let file = slide(
        "<p:graphicFrame><c:chart k:id='c'/></p:graphicFrame>",
        &[("c", "chart", "../charts/c.xml")],
        &[("ppt/charts/c.xml", chart)],
    );
    let found = check(&file, "a.pptx", "pptx", "Chart: Rain\nUpward\nSeries: S!B2:B9\n");
    assert!(
        found.warnings[0].starts_with("The values of the chart `Rain` are in another file"),
        "{:?}",
        found.warnings
    );
}

#[test]
fn sizes_of_bubbles_have_a_column() {
    let of = |element: &str, value: &str| {
        format!("<c:{element}><c:numLit><c:pt idx='0'><c:v>{value}</c:v></c:pt></c:numLit></c:{element}>")
    };
    let chart = format!(
        "<c:chartSpace xmlns:c='c'><c:chart><c:ser><c:tx><c:v>Towns</c:v></c:tx>{}{}{}</c:ser></c:chart></c:chartSpace>",
        of("xVal", "1"),
        of("yVal", "20"),
        of("bubbleSize", "300")
    );
    let file = slide(
        "<p:graphicFrame><c:chart k:id='c'/></p:graphicFrame>",
        &[("c", "chart", "../charts/c.xml")],
        &[("ppt/charts/c.xml", &chart)],
    );
    check(&file, "a.pptx", "pptx", "Chart\n|  | Towns | Towns (size) |\n| --- | --- | --- |\n| 1 | 20 | 300 |\n");
}

#[test]
fn pictures_in_cells_are_described_and_counted() {
    let found = read(&data("picture-in-a-cell.xlsx"), "a.xlsx").unwrap();
    let text = shown(&found);
    assert!(text.contains("Cracked valve") && !text.contains("#VALUE!"), "{text}");
    assert!(
        found.warnings.iter().any(|warning| warning.starts_with("Pictures in it are not read (2)")),
        "{:?}",
        found.warnings
    );
}

#[test]
fn what_merged_cells_cover_is_empty() {
    let row = |row: u32, cells: [&str; 3]| {
        let cells: String = ["A", "B", "C"]
            .iter()
            .zip(cells)
            .map(|(column, text)| inline(&format!("{column}{row}"), &format!("<t>{text}</t>")))
            .collect();
        format!("<row r='{row}'>{cells}</row>")
    };
    let rows = row(1, ["Wide", "left", "c"]) + &row(3, ["High", "b", "d"]) + &row(4, ["over", "b", "e"]);
    let sheet = format!(
        "<sheetData>{rows}</sheetData><mergeCells><mergeCell ref='A1:B1'/><mergeCell ref='A3:A4'/></mergeCells>"
    );
    let expected = "== S\n| Wide |  | c |\n| --- | --- | --- |\n| High | b | d |\n|  | b | e |\n";
    check(&workbook(&sheet, &[], &[]), "a.xlsx", "xlsx", expected);
}
