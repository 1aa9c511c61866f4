//! DOCX: numbers of clauses, and what stands beside the body.

use super::super::{check, data, read};
use super::{RELATIONSHIPS, relations, zip};

const MAIN: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";

/// A document whose main part has an unusual name, and whose prefixes are unusual.
pub fn document(body: &str, related: &[(&str, &str, &str)], more: &[(&str, &[u8])]) -> Vec<u8> {
    let types = format!(
        "<Types><Default Extension='dat' ContentType='text/html'/><Default Extension='html' ContentType='text/html'/><Override PartName='/word/body.xml' ContentType='{MAIN}'/></Types>"
    );
    let main = relations(&[("m", "officeDocument", "/word/body.xml")]);
    let related = relations(related);
    let body = format!(
        "<d:document xmlns:d='http://schemas.openxmlformats.org/wordprocessingml/2006/main' xmlns:q='{RELATIONSHIPS}' xmlns:v='v' \
         xmlns:mc='mc' xmlns:c='c' xmlns:o='o'><d:body>{body}</d:body></d:document>"
    );
    let mut entries: Vec<(&str, &[u8])> = vec![
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", main.as_bytes()),
        ("word/body.xml", body.as_bytes()),
        ("word/_rels/body.xml.rels", related.as_bytes()),
    ];
    entries.extend_from_slice(more);
    zip(&entries)
}

fn styled(style: &str, text: &str) -> String {
    format!("<d:p><d:pPr><d:pStyle d:val='{style}'/></d:pPr><d:r><d:t>{text}</d:t></d:r></d:p>")
}

fn listed(list: u8, text: &str) -> String {
    format!(
        "<d:p><d:pPr><d:numPr><d:ilvl d:val='0'/><d:numId d:val='{list}'/></d:numPr></d:pPr><d:r><d:t>{text}</d:t></d:r></d:p>"
    )
}

pub fn paragraph(inner: &str) -> String {
    format!("<d:p><d:r>{inner}</d:r></d:p>")
}

#[test]
fn clauses_have_their_numbers() {
    let expected = "- 1. Lease\n- 1.1 The lease begins on the first of May.\n- 1.2 The lease ends without notice after five years.\n\
        - 2. Costs\n- 2.1 Water is paid by the tenant.\n- 2.2 Heating is paid by the landlord.\n\
        - 2.2.1 This does not hold for the garage.\n";
    check(&data("numbered-clauses.docx"), "a.docx", "docx", expected);
}

#[test]
fn numbers_by_styles_in_all_ways() {
    let level = |at: u8, way: &str, text: &str, more: &str| {
        format!(
            "<w:lvl w:ilvl='{at}'><w:start w:val='1'/><w:numFmt w:val='{way}'/><w:pStyle w:val='C{at}'/>{more}<w:lvlText w:val='{text}'/></w:lvl>"
        )
    };
    let numbering = format!(
        "<w:numbering xmlns:w='w'><w:abstractNum w:abstractNumId='5'>{}{}{}</w:abstractNum><w:abstractNum w:abstractNumId='6'>\
         <w:lvl w:ilvl='0'><w:start w:val='3'/><w:numFmt w:val='decimalZero'/><w:lvlText w:val='§ %1'/></w:lvl></w:abstractNum>\
         <w:num w:numId='1'><w:abstractNumId w:val='5'/></w:num><w:num w:numId='2'><w:abstractNumId w:val='6'/></w:num>\
         <w:num w:numId='3'><w:abstractNumId w:val='6'/><w:lvlOverride w:ilvl='0'><w:startOverride w:val='1'/></w:lvlOverride></w:num></w:numbering>",
        level(0, "upperRoman", "Article %1.", ""),
        level(1, "decimal", "%1.%2", "<w:isLgl/>"),
        level(2, "lowerLetter", "(%3)", "")
    );
    let style = |id: &str, name: &str| {
        format!(
            "<w:style w:styleId='{id}'><w:name w:val='{name}'/><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr></w:style>"
        )
    };
    let styles = format!(
        "<w:styles xmlns:w='w'>{}{}{}</w:styles>",
        style("C0", "heading 1"),
        style("C1", "Clause"),
        style("C2", "Sub")
    );
    let body = [
        styled("C0", "Rent"),
        styled("C1", "Due monthly"),
        styled("C2", "by card"),
        styled("C2", "in cash"),
        styled("C1", "Late fees"),
        styled("C2", "five euros"),
        styled("C0", "End"),
        styled("C1", "Notice"),
        listed(2, "third"),
        listed(2, ""),
        listed(3, "anew"),
        listed(2, "goes on"),
        listed(0, "none"),
        format!(
            "<d:tbl><d:tr><d:tc>{}</d:tc><d:tc>{}</d:tc></d:tr></d:tbl>",
            styled("C1", "in a cell"),
            listed(2, "cell")
        ),
    ]
    .concat();
    let file = document(
        &body,
        &[("n", "numbering", "numbering.xml"), ("s", "styles", "my%20styles.xml")],
        &[("word/numbering.xml", numbering.as_bytes()), ("word/my styles.xml", styles.as_bytes())],
    );
    let expected = "# Article I. Rent\n- 1.1 Due monthly\n- (a) by card\n- (b) in cash\n- 1.2 Late fees\n- (a) five euros\n\
        # Article II. End\n- 2.1 Notice\n- § 03 third\n- § 01 anew\n- § 02 goes on\nnone\n\
        | 2.2 in a cell | § 03 cell |\n| --- | --- |\n";
    check(&file, "a.docx", "docx", expected);
}

#[test]
fn what_stands_beside_the_body() {
    let header = "<w:hdr xmlns:w='w'><w:p><w:r><w:t>Contract No. 4711</w:t></w:r></w:p></w:hdr>";
    let footer = "<w:ftr xmlns:w='w'><w:p><w:r><w:t>Page </w:t></w:r><w:r><w:fldChar w:fldCharType='begin'/></w:r>\
        <w:r><w:instrText> PAGE </w:instrText></w:r><w:r><w:fldChar w:fldCharType='separate'/></w:r><w:r><w:t>1</w:t></w:r>\
        <w:r><w:fldChar w:fldCharType='end'/></w:r></w:p><w:p><w:r><w:t>Harbour Ltd, confidential</w:t></w:r></w:p></w:ftr>";
    let remark = |element: &str, id: u8, text: &str| {
        format!(
            "<w:{element}s xmlns:w='w'><w:{element} w:id='{id}' w:author='Ann Berg'><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:{element}></w:{element}s>"
        )
    };
    let (footnotes, endnotes) = (remark("footnote", 2, "See the annex"), remark("endnote", 4, "At the end"));
    let comments = remark("comment", 9, "Too low?");
    let chart = "<c:chartSpace xmlns:c='c' xmlns:a='a'><c:chart><c:title><a:p><a:t>Rain</a:t></a:p></c:title><c:ser>\
        <c:tx><c:v>mm</c:v></c:tx><c:cat><c:pt idx='0'><c:v>May</c:v></c:pt></c:cat><c:val><c:numCache><c:formatCode>0.0</c:formatCode>\
        <c:pt idx='0'><c:v>12.34</c:v></c:pt></c:numCache></c:val></c:ser></c:chart></c:chartSpace>";
    let box_text = "<d:txbxContent><d:p><d:r><d:t>In a box</d:t></d:r></d:p></d:txbxContent>";
    let body = [
        paragraph(
            "<d:t>The tenant pays.</d:t><d:footnoteReference d:id='2'/><d:commentReference d:id='9'/><d:endnoteReference d:id='4'/>",
        ),
        paragraph(&format!(
            "<mc:AlternateContent><mc:Choice>{box_text}</mc:Choice><mc:Fallback>{box_text}</mc:Fallback></mc:AlternateContent>"
        )),
        paragraph("<d:pict><v:textpath string='DRAFT'/></d:pict>"),
        paragraph("<d:t>Chart:</d:t><c:chart q:id='c'/>"),
        paragraph("<d:object><v:imagedata q:id='i'/><o:OLEObject q:id='e'/></d:object>"),
        paragraph("<d:rPr><d:vanish/></d:rPr><d:t>Hidden words</d:t>"),
        paragraph("<d:ffData><d:ddList><d:result d:val='1'/><d:listEntry d:val='red'/><d:listEntry d:val='blue'/></d:ddList></d:ffData>"),
    ]
    .concat();
    let file = document(
        &body,
        &[
            ("h1", "header", "h1.xml"),
            ("h2", "header", "h2.xml"),
            ("f", "footer", "f.xml"),
            ("n", "footnotes", "notes1.xml"),
            ("m", "endnotes", "notes2.xml"),
            ("k", "comments", "said.xml"),
            ("c", "chart", "charts/c.xml"),
            ("e", "package", "embeddings/book.xlsx"),
        ],
        &[
            ("word/h1.xml", header.as_bytes()),
            ("word/h2.xml", header.as_bytes()),
            ("word/f.xml", footer.as_bytes()),
            ("word/notes1.xml", footnotes.as_bytes()),
            ("word/notes2.xml", endnotes.as_bytes()),
            ("word/said.xml", comments.as_bytes()),
            ("word/charts/c.xml", chart.as_bytes()),
            ("word/embeddings/book.xlsx", &data("formulas-never-calculated.xlsx")),
        ],
    );
    let expected = "Contract No. 4711\nThe tenant pays.¹ⁱ\nFootnote 1: See the annex\nComment by Ann Berg: Too low?\n\
        Endnote i: At the end\nIn a box\nDRAFT\nChart:\nChart: Rain\n|  | mm |\n| --- | --- |\n| May | 12.3 |\n\
        | item | price | qty | total |\n| --- | --- | --- | --- |\n| bolt | 2 | 10 | =B2*C2 |\n| nut | 1 | 30 | =B3*C3 |\n\
        | SUM |  |  | =SUM(D2:D3) |\nHidden words\nblue\nHarbour Ltd, confidential\n";
    let found = check(&file, "a.docx", "docx", expected);
    assert!(found.warnings[0].starts_with("book.xlsx: 3 cells have formulas"), "{:?}", found.warnings);
    assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
}

#[test]
fn files_that_are_a_part_of_it() {
    let expected = "# Minutes of the cooperative\nThe roof of barn three is repaired before the hay comes in.\n\
        Seven members voted for it, two against.\n";
    check(&data("html-chunk.docx"), "a.docx", "docx", expected);
    let page = b"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=\"B\"\r\n\r\n--B\r\n\
        Content-Type: text/html; charset=\"utf-8\"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
        <html><body><p>From the web =C3=BC</p></body></html>\r\n--B--\r\n";
    let chunks: String =
        ["h", "r", "m", "t", "w", "gone"].iter().map(|id| format!("<d:altChunk q:id='{id}'/>")).collect();
    let body = format!("{}{chunks}{}", paragraph("<d:t>before</d:t>"), paragraph("<d:t>after</d:t>"));
    let file = document(
        &body,
        &[
            ("h", "aFChunk", "afchunk.dat"),
            ("r", "aFChunk", "b.rtf"),
            ("m", "aFChunk", "c.mht"),
            ("t", "aFChunk", "d.bin"),
            ("w", "aFChunk", "e.docx"),
            ("gone", "aFChunk", "gone.html"),
        ],
        &[
            ("word/afchunk.dat", b"<h2>Fragment</h2><p>Some html</p>"),
            ("word/b.rtf", br"{\rtf1\ansi Rich \b text\b0\par}"),
            ("word/c.mht", page),
            ("word/d.bin", &[1, 2, 3, 4]),
            ("word/e.docx", &data("numbered-clauses.docx")),
        ],
    );
    let found = read(&file, "a.docx").unwrap();
    let shown = super::super::shown(&found);
    let expected = "before\n## Fragment\nSome html\nRich text\nFrom the web ü\n- 1. Lease\n";
    assert!(shown.starts_with(expected) && shown.ends_with("garage.\nafter\n"), "{shown}");
    assert!(found.warnings[0].starts_with("`d.bin`, which is attached, is not read"), "{:?}", found.warnings);
    assert_eq!(found.warnings[1], "`gone.html`, which belongs into it, is missing.");
}

#[test]
fn pictures_are_named() {
    let body = paragraph("<d:drawing><d:docPr descr='A map of the harbour'/><d:blip/></d:drawing><d:t>The map.</d:t>");
    let found = check(&document(&body, &[], &[]), "a.docx", "docx", "The map.\nDescription: A map of the harbour\n");
    assert!(found.warnings[0].starts_with("Pictures in it are not read (1)"), "{:?}", found.warnings);
}
