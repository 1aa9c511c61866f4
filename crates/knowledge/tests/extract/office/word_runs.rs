//! DOCX: how parts of paragraphs look, formulas, fields, tables with wide cells, and what tracked changes leave.

use super::super::{check, read};
use super::word::{document, paragraph};

#[track_caller]
fn check_body(body: &str, expected: &str) {
    check(&document(body, &[], &[]), "a.docx", "docx", expected);
}

fn run(properties: &str, text: &str) -> String {
    format!("<d:r><d:rPr>{properties}</d:rPr><d:t xml:space='preserve'>{text}</d:t></d:r>")
}

fn of_runs(runs: &[(&str, &str)]) -> String {
    let runs: String = runs.iter().map(|(properties, text)| run(properties, text)).collect();
    format!("<d:p>{runs}</d:p>")
}

#[test]
fn raised_and_struck_text_is_told_apart() {
    let raised = "<d:vertAlign d:val='superscript'/>";
    let lowered = "<d:vertAlign d:val='subscript'/>";
    let struck = "<d:strike/>";
    check_body(
        &of_runs(&[
            ("", "The limit is 10"),
            (raised, "3"),
            ("", " cells per cm"),
            (raised, "2"),
            ("", "; CO"),
            (lowered, "2"),
        ]),
        "The limit is 10³ cells per cm²; CO₂\n",
    );
    check_body(&of_runs(&[("", "2024"), (raised, "1"), ("", " on the 1"), (raised, "st")]), "2024¹ on the 1st\n");
    check_body(&of_runs(&[(struck, "Fee "), (struck, "100"), ("", " 80")]), "~~Fee 100~~ 80\n");
    check_body(&of_runs(&[("<d:strike d:val='0'/>", "Fee"), ("<d:dstrike/>", " 90")]), "Fee ~~90~~\n");
    // By the style of the run; notes too.
    let styles = "<w:styles xmlns:w='w'><w:style w:styleId='Up'><w:name w:val='Up'/><w:rPr><w:vertAlign w:val='superscript'/></w:rPr></w:style></w:styles>";
    let notes = "<w:footnotes xmlns:w='w'><w:footnote w:id='2'><w:p><w:r><w:t>10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr>\
        <w:t>6</w:t></w:r></w:p></w:footnote><w:footnote w:id='3'><w:p><w:r><w:t>Nobody refers to it</w:t></w:r></w:p></w:footnote></w:footnotes>";
    let body = of_runs(&[("", "m"), ("<d:rStyle d:val='Up'/>", "2")])
        + &paragraph("<d:t>see</d:t><d:footnoteReference d:id='2'/>");
    let file = document(
        &body,
        &[("s", "styles", "styles.xml"), ("n", "footnotes", "footnotes.xml")],
        &[("word/styles.xml", styles.as_bytes()), ("word/footnotes.xml", notes.as_bytes())],
    );
    check(&file, "a.docx", "docx", "m²\nsee¹\nFootnote 1: 10⁶\n");
}

#[test]
fn formulas_keep_their_structure() {
    let run = |text: &str| format!("<d:r><d:t>{text}</d:t></d:r>");
    let body = format!(
        "<d:p>{}<d:oMath><d:f><d:num>{}</d:num><d:den>{}</d:den></d:f></d:oMath>{}<d:oMath><d:rad><d:deg/><d:e>{}</d:e></d:rad>{}\
         <d:sSup><d:e>{}</d:e><d:sup>{}</d:sup></d:sSup></d:oMath></d:p>",
        run("Rate: "),
        run("12"),
        run("5"),
        run(" and "),
        run("16"),
        run("+"),
        run("2"),
        run("10")
    );
    check_body(&body, "Rate: 12/5 and √16+2¹⁰\n");
}

#[test]
fn signs_of_fonts_are_read() {
    let body = paragraph(
        "<d:t>Insured: </d:t><d:sym d:font='Wingdings' d:char='F0FE'/><d:t> yes </d:t><d:sym d:font='Wingdings' d:char='F0A8'/><d:t> no</d:t>",
    ) + &paragraph(
        "<d:t>Angle </d:t><d:sym d:font='Symbol' d:char='F061'/><d:t> is 30</d:t><d:sym d:font='Symbol' d:char='F0B0'/>",
    ) + &of_runs(&[("", "Done: "), ("<d:rFonts d:ascii='Wingdings'/>", "\u{f0fc}")])
        + &paragraph("<d:t>plain </d:t><d:sym d:font='Arial' d:char='00A7'/><d:sym d:font='Odd Signs' d:char='F041'/>");
    let expected = "Insured: ☑ yes ☐ no\nAngle α is 30°\nDone: ✓\nplain §\n";
    let found = check(&document(&body, &[], &[]), "a.docx", "docx", expected);
    assert_eq!(found.warnings, ["Signs of the font `Odd Signs` that no character is known for are left out."]);
}

fn field(code: &str, result: &str) -> String {
    let char = |kind: &str| format!("<d:r><d:fldChar d:fldCharType='{kind}'/></d:r>");
    let result = if result.is_empty() { String::new() } else { char("separate") + result };
    format!("{}{code}{result}{}", char("begin"), char("end"))
}

fn code(text: &str) -> String {
    format!("<d:r><d:instrText xml:space='preserve'>{text}</d:instrText></d:r>")
}

#[test]
fn fields_show_their_results_only() {
    let sex = field(&code(" MERGEFIELD sex "), &run("", "m"));
    let letter = field(&(code(" IF \"") + &sex + &code("\" = \"m\" \"Mr\" \"Ms\" ")), &run("", "Mr"));
    check_body(&format!("<d:p>{}{letter}{}</d:p>", run("", "Dear "), run("", " Boateng")), "Dear Mr Boateng\n");
    // A field within the result of another one is shown.
    let page = field(&code(" PAGEREF x "), &run("", "4"));
    let contents = field(&code(" TOC "), &(run("", "Scope ") + &page));
    check_body(&format!("<d:p>{contents}</d:p>"), "Scope 4\n");
    // Formulas of old kind have none.
    let number = field(&code(" =2+1 "), &run("", "3"));
    let formula = field(&(code(" EQ \\f(") + &number + &code(",8) ")), "");
    check_body(&format!("<d:p>{}{formula}{}</d:p>", run("", "Bolt "), run("", " inch")), "Bolt 3/8 inch\n");
    let ticked = |inner: &str| {
        format!(
            "<d:r><d:fldChar d:fldCharType='begin'><d:ffData><d:checkBox>{inner}</d:checkBox></d:ffData></d:fldChar></d:r>{}\
             <d:r><d:fldChar d:fldCharType='end'/></d:r>",
            code(" FORMCHECKBOX ")
        )
    };
    let body = format!(
        "<d:p>{}{}{}{}{}</d:p>",
        run("", "Smoker: "),
        ticked("<d:default d:val='0'/><d:checked/>"),
        run("", " yes "),
        ticked("<d:default d:val='1'/><d:checked d:val='0'/>"),
        run("", " no")
    );
    check_body(&body, "Smoker: ☒ yes ☐ no\n");
}

fn cell(properties: &str, text: &str) -> String {
    format!("<d:tc><d:tcPr>{properties}</d:tcPr>{}</d:tc>", paragraph(&format!("<d:t>{text}</d:t>")))
}

#[test]
fn wide_cells_and_files_in_cells_stand_in_their_columns() {
    let row =
        |properties: &str, cells: &[String]| format!("<d:tr><d:trPr>{properties}</d:trPr>{}</d:tr>", cells.concat());
    let body = format!(
        "<d:tbl>{}{}{}</d:tbl>",
        row("", &[cell("", "Item"), cell("", "Net"), cell("", "Gross")]),
        row("", &[cell("<d:gridSpan d:val='2'/>", "Subtotal"), cell("", "595")]),
        row("<d:gridBefore d:val='2'/>", &[cell("", "777")])
    );
    check_body(&body, "| Item | Net | Gross |\n| --- | --- | --- |\n| Subtotal |  | 595 |\n|  |  | 777 |\n");
    // Nobody sees what stands below a high cell.
    let body = format!(
        "<d:tbl>{}{}{}</d:tbl>",
        row("", &[cell("<d:vMerge d:val='restart'/>", "Both"), cell("", "1")]),
        row("", &[cell("<d:vMerge/>", "left over"), cell("", "2")]),
        row("", &[cell("", "Other"), cell("", "3")])
    );
    check_body(&body, "| Both | 1 |\n| --- | --- |\n|  | 2 |\n| Other | 3 |\n");
    let body = format!(
        "<d:tbl><d:tr><d:tc>{}<d:altChunk q:id='h'/><d:p/></d:tc>{}</d:tr></d:tbl>{}",
        paragraph("<d:t>Before</d:t>"),
        cell("", "beside"),
        paragraph("<d:t>Tail</d:t>")
    );
    let page = b"<p>From a page</p><table><tr><td>1<td>2<tr><td>3<td>4</table>";
    let file = document(&body, &[("h", "aFChunk", "h.html")], &[("word/h.html", page)]);
    check(&file, "a.docx", "docx", "| Before From a page 1 2; 3 4 | beside |\n| --- | --- |\nTail\n");
}

#[test]
fn what_was_deleted_is_left_out() {
    let row = |properties: &str, text: &str| {
        format!("<d:tr><d:trPr>{properties}</d:trPr>{}{}</d:tr>", cell("", text), cell("", "x"))
    };
    let body = format!(
        "<d:tbl>{}{}{}</d:tbl>",
        row("", "A"),
        row("<d:del d:id='9'/>", "gone"),
        row("<d:ins d:id='8'/>", "new")
    );
    check_body(&body, "| A | x |\n| --- | --- |\n| new | x |\n");
    let body = format!("<d:tbl><d:tr>{}{}</d:tr></d:tbl>", cell("", "stays"), cell("<d:cellDel d:id='1'/>", "gone"));
    check_body(&body, "stays\n");
    // A paragraph whose end was deleted goes on in the next one.
    let ended = |text: &str| {
        format!(
            "<d:p><d:pPr><d:rPr><d:del d:id='1'/></d:rPr></d:pPr><d:r><d:t xml:space='preserve'>{text}</d:t></d:r></d:p>"
        )
    };
    check_body(&(ended("The fee ") + &paragraph("<d:t>is 80.</d:t>")), "The fee is 80.\n");
    check_body(&(ended("The last") + "<d:sectPr/>"), "The last\n");
    check_body(
        &format!("<d:tbl><d:tr><d:tc>{}</d:tc>{}</d:tr></d:tbl>", ended("in a cell"), cell("", "x")),
        "| in a cell | x |\n| --- | --- |\n",
    );
}

#[test]
fn how_characters_are_spoken_stands_behind_them() {
    let body = paragraph(
        "<d:ruby><d:rt><d:r><d:t>かんじ</d:t></d:r></d:rt><d:rubyBase><d:r><d:t>漢字</d:t></d:r></d:rubyBase></d:ruby>",
    );
    check_body(&body, "漢字(かんじ)\n");
}

#[test]
fn of_several_contents_one_is_read() {
    let inner = |text: &str| paragraph(&format!("<d:t>{text}</d:t>"));
    let choice = |requires: &str, text: &str| {
        format!(
            "<mc:Choice xmlns:zz='urn:zz' xmlns:wps='http://schemas.microsoft.com/office/word/2010/wordprocessingShape' Requires='{requires}'>{}</mc:Choice>",
            inner(text)
        )
    };
    let one_of = |all: &str| {
        format!("<mc:AlternateContent>{all}<mc:Fallback>{}</mc:Fallback></mc:AlternateContent>", inner("fallback"))
    };
    check_body(&one_of(&choice("zz", "unknown")), "fallback\n");
    check_body(&one_of(&choice("wps", "known")), "known\n");
    check_body(&one_of(&(choice("wps zz", "unknown") + &choice("wps", "known") + &choice("wps", "second"))), "known\n");
    check_body(&(one_of(&choice("zz", "unknown")) + &inner("after")), "fallback\nafter\n");
}

#[test]
fn a_file_within_is_named_as_it_is() {
    let file = document(
        "<d:altChunk q:id='h'/>",
        &[("h", "aFChunk", "h.html")],
        &[("word/h.html", b"\x00\x01\x02"), ("word/_rels/h", b"")],
    );
    let found = read(&file, "a.docx").unwrap();
    assert!(found.warnings[0].starts_with("`h.html`, which is attached, is not read"), "{:?}", found.warnings);
}

#[test]
fn notes_have_marks_where_they_belong() {
    let notes = |kind: &str, texts: &[&str]| {
        let all: String = texts
            .iter()
            .enumerate()
            .map(|(id, text)| format!("<w:{kind} w:id='{id}'><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:{kind}>"))
            .collect();
        format!("<w:{kind}s xmlns:w='w'>{all}</w:{kind}s>")
    };
    let footnotes = notes("footnote", &["One.", "Starred.", "Two."]);
    let endnotes = notes("endnote", &["First.", "Second."]);
    let refer = |kind: &str, id: u32| format!("<d:r><d:{kind}Reference d:id='{id}'/></d:r>");
    let starred = "<d:r><d:rPr><d:vertAlign d:val='superscript'/></d:rPr><d:footnoteReference d:customMarkFollows='1' d:id='1'/><d:t>*</d:t></d:r>";
    let body = |section: &str| {
        format!(
            "<d:p>{}{}{}{starred}{}{}</d:p><d:p>{}{}{}</d:p>{section}",
            run("", "In 2024"),
            refer("footnote", 0),
            run("", " a star"),
            run("", " and an end"),
            refer("endnote", 0),
            run("", "Again"),
            refer("endnote", 1),
            refer("footnote", 2)
        )
    };
    let file = |section: &str| {
        document(
            &body(section),
            &[("f", "footnotes", "footnotes.xml"), ("e", "endnotes", "endnotes.xml")],
            &[("word/footnotes.xml", footnotes.as_bytes()), ("word/endnotes.xml", endnotes.as_bytes())],
        )
    };
    check(
        &file(""),
        "a.docx",
        "docx",
        "In 2024¹ a star* and an endⁱ\nFootnote 1: One.\nFootnote *: Starred.\nEndnote i: First.\nAgainⁱⁱ²\nEndnote ii: Second.\nFootnote 2: Two.\n",
    );
    let section = "<d:sectPr><d:footnotePr><d:numFmt d:val='lowerLetter'/><d:numStart d:val='3'/></d:footnotePr>\
        <d:endnotePr><d:numFmt d:val='decimal'/></d:endnotePr></d:sectPr>";
    check(
        &file(section),
        "a.docx",
        "docx",
        "In 2024ᶜ a star* and an end¹\nFootnote c: One.\nFootnote *: Starred.\nEndnote 1: First.\nAgain²ᵈ\nEndnote 2: Second.\nFootnote d: Two.\n",
    );
}

#[test]
fn styles_of_paragraphs_strike_out_their_text() {
    let styles = "<w:styles xmlns:w='w'><w:style w:styleId='Old' w:type='paragraph'><w:name w:val='Old'/><w:rPr><w:strike/></w:rPr></w:style>\
        <w:style w:styleId='Older' w:type='paragraph'><w:name w:val='Older'/><w:basedOn w:val='Old'/></w:style>\
        <w:style w:styleId='New' w:type='paragraph'><w:name w:val='New'/><w:basedOn w:val='Old'/><w:rPr><w:strike w:val='0'/></w:rPr></w:style></w:styles>";
    let paragraph = |style: &str, runs: &str| format!("<d:p><d:pPr><d:pStyle d:val='{style}'/></d:pPr>{runs}</d:p>");
    let body = paragraph("Older", &(run("", "Fee 100") + &run("<d:strike d:val='0'/>", " now 80")))
        + &paragraph("New", &run("", "Fee 90"))
        + &format!("<d:p>{}</d:p>", run("", "Fee 70"));
    let file = document(&body, &[("s", "styles", "styles.xml")], &[("word/styles.xml", styles.as_bytes())]);
    check(&file, "a.docx", "docx", "~~Fee 100~~ now 80\nFee 90\nFee 70\n");
}
