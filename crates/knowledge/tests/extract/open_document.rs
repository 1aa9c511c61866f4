//! What texts and sheets of OpenDocument have beside plain paragraphs, and files of one part.
use super::make::zip;
use super::{check, read};

const SPACES: &str = "xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
    xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" \
    xmlns:draw=\"urn:oasis:names:tc:opendocument:xmlns:drawing:1.0\" xmlns:style=\"urn:oasis:names:tc:opendocument:xmlns:style:1.0\" \
    xmlns:xlink=\"http://www.w3.org/1999/xlink\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
    xmlns:math=\"http://www.w3.org/1998/Math/MathML\"";

fn file(kind: &str, styles: &str, body: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let content = format!(
        "<office:document-content {SPACES}><office:automatic-styles>{styles}</office:automatic-styles>\
         <office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    );
    let mimetype = format!("application/vnd.oasis.opendocument.{kind}");
    let mut entries = vec![("mimetype", mimetype.as_bytes()), ("content.xml", content.as_bytes())];
    entries.extend(more.iter().map(|(name, text)| (*name, text.as_bytes())));
    zip(&entries)
}

#[track_caller]
fn check_text(body: &str, expected: &str) {
    let styles = "<style:style style:name='Up'><style:text-properties style:text-position='super 58%'/></style:style>\
        <style:style style:name='Own' style:parent-style-name='Up'/>\
        <style:style style:name='Low'><style:text-properties style:text-position='-33% 58%'/></style:style>\
        <style:style style:name='Gone'><style:text-properties style:text-line-through-style='solid'/></style:style>";
    check(&file("text", styles, body, &[]), "a.odt", "odt", expected);
}

#[test]
fn raised_lowered_and_struck_out_text_is_told_apart() {
    check_text(
        "<text:p>10<text:span text:style-name='Own'>3</text:span> m<text:span text:style-name='Up'>2</text:span> \
         H<text:span text:style-name='Low'>2</text:span>O <text:span text:style-name='Gone'>100</text:span> 80</text:p>",
        "10³ m² H₂O ~~100~~ 80\n",
    );
}

#[test]
fn notes_stand_behind_their_paragraph() {
    let note = |class: &str, mark: &str, text: &str| {
        format!(
            "<text:note text:note-class='{class}'><text:note-citation>{mark}</text:note-citation>\
             <text:note-body><text:p>{text}</text:p></text:note-body></text:note>"
        )
    };
    check_text(
        &format!(
            "<text:p>In 2024<text:span text:style-name='Up'>{}</text:span> and m{} after</text:p><text:p>Next</text:p>",
            note("footnote", "1", "See below"),
            note("endnote", "i", "At the end")
        ),
        "In 2024¹ and mⁱ after\nFootnote 1: See below\nEndnote i: At the end\nNext\n",
    );
    let cell = format!(
        "<table:table><table:table-row><table:table-cell><text:p>a{}</text:p></table:table-cell>\
         <table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>",
        note("footnote", "2", "Of a cell")
    );
    check_text(&cell, "| a² | b |\n| --- | --- |\nFootnote 2: Of a cell\n");
}

#[test]
fn styles_of_paragraphs_and_cells_strike_out_their_text() {
    check_text(
        "<text:p text:style-name='Gone'>Fee 100<text:span text:style-name='Up'>2</text:span></text:p><text:p>Fee 80</text:p>",
        "~~Fee 100²~~\nFee 80\n",
    );
    let styles =
        "<style:style style:name='Gone'><style:text-properties style:text-line-through-style='solid'/></style:style>";
    let body = "<table:table table:name='S'><table:table-row><table:table-cell table:style-name='Gone'><text:p>100</text:p></table:table-cell>\
        <table:table-cell><text:p>80</text:p></table:table-cell></table:table-row></table:table>";
    check(&file("spreadsheet", styles, body, &[]), "a.ods", "ods", "== S\n| ~~100~~ | 80 |\n| --- | --- |\n");
}

#[test]
fn descriptions_of_pictures_stand_behind_their_paragraph() {
    check_text(
        "<text:p>Seen <draw:frame><draw:image xlink:href='p.png'/><svg:title xmlns:svg='s'>Map</svg:title>\
         <svg:desc xmlns:svg='s'>Bridge at dusk</svg:desc></draw:frame>at <text:title>Night</text:title></text:p>",
        "Seen at Night\nDescription: Map: Bridge at dusk\n",
    );
}

#[test]
fn what_wide_cells_cover_is_empty() {
    let body = "<table:table table:name='S'><table:table-row><table:table-cell table:number-columns-spanned='2'><text:p>Wide</text:p></table:table-cell>\
        <table:covered-table-cell><text:p>left over</text:p></table:covered-table-cell><table:table-cell><text:p>7</text:p></table:table-cell></table:table-row>\
        <table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell><table:table-cell><text:p>c</text:p></table:table-cell></table:table-row></table:table>";
    check(
        &file("spreadsheet", "", body, &[]),
        "a.ods",
        "ods",
        "== S\n| Wide |  | 7 |\n| --- | --- | --- |\n| a | b | c |\n",
    );
}

#[test]
fn dates_of_sheets_say_which_day_they_mean() {
    let cell = |shown: &str| {
        format!(
            "<table:table-cell office:value-type='date' office:date-value='2024-05-04'><text:p>{shown}</text:p></table:table-cell>"
        )
    };
    let body = format!(
        "<table:table table:name='S'><table:table-row>{}{}</table:table-row></table:table>",
        cell("04/05/24"),
        cell("4. Mai 2024")
    );
    let expected = "== S\n| 04/05/24 (2024-05-04) | 4. Mai 2024 |\n| --- | --- |\n";
    check(&file("spreadsheet", "", &body, &[]), "a.ods", "ods", expected);
}

#[test]
fn controls_of_forms_are_read() {
    check_text(
        "<office:forms><form:form xmlns:form='f'><form:text form:name='Name' form:current-value='Ada'/>\
         <form:checkbox form:name='b' form:label='Newsletter' form:current-state='checked'/><form:checkbox form:label='Post'/>\
         <form:radio form:label='Yearly' form:selected='true'/><form:listbox form:name='Country'><form:option form:label='Chile'/>\
         <form:option form:label='Peru' form:current-selected='true'/></form:listbox>\
         <form:combobox form:name='Town' form:current-value='Lima'/><form:password form:current-value='x'/></form:form></office:forms>\
         <text:p>Order</text:p>",
        "Name: Ada\n☒ Newsletter\n☐ Post\n☒ Yearly\nCountry: Peru\nTown: Lima\nOrder\n",
    );
}

#[test]
fn what_slides_have_in_common_is_read_once() {
    let space = "xmlns:presentation='urn:oasis:names:tc:opendocument:xmlns:presentation:1.0'";
    let slide = "<draw:page draw:name='p'><draw:frame><draw:text-box><text:p>Slide</text:p></draw:text-box></draw:frame></draw:page>";
    let body = format!(
        "<p:footer-decl xmlns:p='presentation'>Footer K9</p:footer-decl><p:date-time-decl xmlns:p='presentation'>May</p:date-time-decl>{slide}{slide}"
    );
    let frame = |class: &str, text: &str| {
        format!("<draw:frame {class}><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>")
    };
    let styles = format!(
        "<office:document-styles {SPACES} {space}><office:master-styles><style:master-page>{}{}{}</style:master-page></office:master-styles></office:document-styles>",
        frame("presentation:class='title'", "Click to edit"),
        frame("presentation:class='footer'", "<presentation:footer/>"),
        frame("", "Slogan")
    );
    let bytes = file("presentation", "", &body, &[("styles.xml", &styles)]);
    check(&bytes, "a.odp", "odp", "== p\nSlide\n== p\nSlide\nSlogan\nFooter K9\nMay\n");
}

#[test]
fn hidden_text_is_read_and_ruby_is_apart() {
    check_text(
        "<text:p>A <text:hidden-text text:string-value='hid 49' text:is-hidden='true'/> \
         <text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby>.</text:p>",
        "A hid 49 漢字(かんじ).\n",
    );
}

const FRACTION: &str = "<math xmlns='http://www.w3.org/1998/Math/MathML'><semantics><mfrac><mn>7</mn><mn>8</mn></mfrac>\
    <annotation>7 over 8</annotation></semantics></math>";

#[test]
fn formulas_stand_where_they_are() {
    let frame = |name: &str| {
        format!("<draw:frame><draw:object xlink:href='./{name}'/><draw:image xlink:href='p.png'/></draw:frame>")
    };
    let body = format!("<text:p>Share {} of it.</text:p><text:p>{}</text:p>", frame("Object 1"), frame("Object 2"));
    let bytes = file("text", "", &body, &[("Object 1/content.xml", FRACTION)]);
    let found = check(&bytes, "a.odt", "odt", "Share 7/8 of it.\n");
    assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
    assert!(found.warnings[0].contains("object of another program"), "{:?}", found.warnings);
}

#[test]
fn comments_name_their_cells() {
    let comment = |text: &str| {
        format!("<office:annotation><dc:creator>Yaw</dc:creator><text:p>{text}</text:p></office:annotation>")
    };
    let body = format!(
        "<table:table table:name='S'><table:table-row table:number-rows-repeated='3'><table:table-cell/></table:table-row>\
         <table:table-row><table:table-cell table:number-columns-repeated='2'/><table:table-cell>{}<text:p>x</text:p></table:table-cell>\
         <table:table-cell><text:p>y</text:p></table:table-cell></table:table-row></table:table>",
        comment("Check this")
    );
    let bytes = file("spreadsheet", "", &body, &[]);
    check(&bytes, "a.ods", "ods", "== S\n| x | y |\n| --- | --- |\nComment on C4 by Yaw: Check this\n");
}

#[test]
fn files_of_one_part_are_read() {
    let flat = |kind: &str, body: &str| {
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<office:document {SPACES} office:version=\"1.2\" \
             office:mimetype=\"application/vnd.oasis.opendocument.{kind}\"><office:meta><dc:creator>Nobody</dc:creator><dc:title>The flat one</dc:title></office:meta>\
             <office:styles><style:style style:name='Up'><style:text-properties style:text-position='super 58%'/></style:style></office:styles>\
             <office:master-styles><style:master-page><style:header><text:p>Top of page</text:p></style:header></style:master-page></office:master-styles>\
             <office:body><office:{kind}>{body}</office:{kind}></office:body></office:document>"
        )
    };
    let text = flat(
        "text",
        &format!(
            "<text:p>Flat 10<text:span text:style-name='Up'>3</text:span> <draw:frame><draw:object>{FRACTION}</draw:object>\
             <draw:image><office:binary-data>AAAA</office:binary-data></draw:image></draw:frame></text:p>\
             <text:p><draw:frame><draw:object><office:document><office:meta><dc:title>In</dc:title></office:meta><office:body><office:text>\
             <text:p>Within</text:p></office:text></office:body></office:document></draw:object></draw:frame></text:p>"
        ),
    );
    let found = check(text.as_bytes(), "a.fodt", "odt", "Top of page\nFlat 10³ 7/8\nWithin\n");
    assert_eq!((found.title.as_deref(), found.warnings), (Some("The flat one"), Vec::new()));
    let sheet = "<table:table table:name='Lager'><table:table-row><table:table-cell><text:p>Part</text:p></table:table-cell>\
        <table:table-cell><text:p>7</text:p></table:table-cell></table:table-row></table:table>\
        <table:table table:name='Zwei'><table:table-row><table:table-cell><text:p>Second</text:p></table:table-cell></table:table-row></table:table>";
    check(
        flat("spreadsheet", sheet).as_bytes(),
        "a.fods",
        "ods",
        "== Lager\n| Part | 7 |\n| --- | --- |\n== Zwei\nSecond\nTop of page\n",
    );
    let error = read(flat("graphics", "").as_bytes(), "a.fodg").unwrap_err();
    assert!(error.to_string().contains("`graphics`"), "{error}");
    let error = read(&file("chart", "", "", &[]), "a.odc").unwrap_err();
    assert!(error.to_string().contains("`chart`"), "{error}");
}
