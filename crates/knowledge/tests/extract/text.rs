//! Texts with other ends of lines and with control characters, and RTF.
use super::{check, read};

#[test]
fn lines_end_in_every_way() {
    let expected = "# Title\nFirst.\n## Sub\n- a\n- b\n| h | i |\n|---|---|\n| 1 | 2 |\n";
    let text = "# Title\n\nFirst.\n\n## Sub\n- a\n- b\n\n| h | i |\n|---|---|\n| 1 | 2 |\n";
    for end in ["\r", "\r\n", "\n"] {
        check(text.replace('\n', end).as_bytes(), "a.md", "markdown", expected);
    }
    for end in ["\r", "\u{85}", "\u{2028}", "\u{b}"] {
        let text = format!("Größe{end}zwei €");
        let found = check(text.as_bytes(), "a.txt", "text", "Größe\nzwei €\n");
        assert_eq!(found.warnings, Vec::<String>::new());
    }
    check(
        "a\r\nb\rc\nd\u{2028}e\u{85}f\x0cpage\u{b}vt – €".as_bytes(),
        "a.txt",
        "text",
        "a\nb\nc\nd\ne\nf\n== \npage\nvt – €\n",
    );
    check(b"fn a() {\r    b();\r}\r", "a.rs", "code", "` fn a() {\n    b();\n}\n");
    let lines = b"{\"a\": 1, \"b\": 2}\r{\"a\": 3, \"b\": 4}\r";
    check(lines, "a.jsonl", "json", "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n");
}

#[test]
fn letters_of_rich_text_are_those_of_their_fonts() {
    let text = br"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Times;}{\f1\fcharset204 Arial{\*\falt Helvetica};}{\f2\fcharset128 Gothic;}{\f3\fcharset238 Arial;}{\f4\fcharset2 Symbol;}}\f0 Caf\'e9 \u8364?12 {\f1 \'c4\'ee\'e3\'ee\'e2\'ee\'f0} caf\'e9\par \f2 \'93\'fa\'96\'7b\plain  \f3\'a3\'f3\'64\'9f {\f4 a}\par \u-10179?\u-8704?\par}";
    let found = check(text, "a.rtf", "rtf", "Café €12 Договор café\n日本 Łódź α\n😀\n");
    assert_eq!(found.warnings, Vec::<String>::new());
    check(br"{\rtf1\ansi\ansicpg932 \'93\'fa\par}", "a.rtf", "rtf", "日\n");
    let unknown = br"{\rtf1\ansi{\fonttbl{\f0\fcharset130 A;}}\f0 a\'fe\par}";
    assert!(read(unknown, "a.rtf").unwrap().warnings[0].contains("encoding isn't known"));
}

#[test]
fn notes_of_rich_text_stand_behind_their_paragraph() {
    let text = br"{\rtf1\ansi In 2024{\super\chftn}{\footnote \pard\plain {\super\chftn} Rtf note}. {\v hidden}{\deleted gone\par}\par
        10{\super 3} and H{\sub 2}O{\footnote\ftnalt At the end}, {\strike old} new\par {\bin3 }}}kept}";
    check(
        text,
        "a.rtf",
        "rtf",
        "In 2024¹. hidden\nFootnote 1: Rtf note\n10³ and H₂O, ~~old~~ new\nEndnote 1: At the end\nkept\n",
    );
}

#[test]
fn what_is_cut_or_damaged_ends_in_a_text_or_an_error() {
    let samples: [(&str, &[u8]); 4] = [
        ("a.rtf", br"{\rtf1\ansi\ansicpg932\deff0{\fonttbl{\f0\fcharset128 G;}{\f1\fcharset2 Symbol;}}\u-10179?\u-8704? \'93\'fa{\super 3}{\footnote\ftnalt x}{\deleted y}\bin2 ab\f1 a\par}"),
        ("a.ics", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;TZID=\"é\":20240305T1400é\nDTEND:20240305T150000Z\nRRULE:FREQ=é;COUNT=\nDURATION:PTé\nATTENDEE;CN=é:mailé\nEND:VEVENT\n".as_bytes()),
        ("a.mbox", b"From a@x Tue\nFrom: a@x.org\nSubject: x\nContent-Type: text/plain; format=flowed; delsp=yes\n\n> a \n>From b \n>> c\n\nFrom b@x\nFrom: b@x\n\nx"),
        ("a.fodt", b"<office:document xmlns:office='o' office:mimetype='application/vnd.oasis.opendocument.text'><office:body><office:text><text:p>a<text:span>b<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>c</text:p></text:note-body></text:note></text:span></text:p></office:text></office:body></office:document>"),
    ];
    for (name, bytes) in samples {
        for at in 0..bytes.len() {
            drop(read(&bytes[..at], name));
            for letter in [b'\\', b'}', b':', b'>', 0xff] {
                let mut damaged = bytes.to_vec();
                damaged[at] = letter;
                drop(read(&damaged, name));
            }
        }
    }
}

#[test]
fn forms_in_rtf_show_their_state() {
    let field = |kind: &str, inner: &str, result: &str| {
        format!(r"{{\field{{\*\fldinst {kind}{{\*\formfield{{{inner}}}}}}}{{\fldrslt {result}}}}}")
    };
    let text = format!(
        r"{{\rtf1\ansi Yes {} no {} Colour {} or {} Name {}\par}}",
        field("FORMCHECKBOX", r"\fftype1\ffres1\ffdefres0{\*\ffname Tick}", ""),
        field("FORMCHECKBOX", r"\fftype1\ffres25\ffdefres0", ""),
        field("FORMDROPDOWN", r"\fftype2\ffres1{\*\ffl red}{\*\ffl blue}", ""),
        field("FORMDROPDOWN", r"\fftype2\ffres1{\*\ffl red}{\*\ffl blue}", "blue"),
        field("FORMTEXT", r"\fftype0{\*\ffdeftext none}", "Ada")
    );
    check(text.as_bytes(), "a.rtf", "rtf", "Yes ☒ no ☐ Colour blue or blue Name Ada\n");
}

#[test]
fn styles_of_pages_strike_out_text() {
    let page = "<html><head><style>/* x */ .old, p.gone { color: red; text-decoration: line-through } h9 a:hover{text-decoration:line-through}</style></head>\
        <body><p>Fee <span style='text-decoration:line-through'>100</span> 80<p class='gone'>Not <b>any</b> more<p>Valid</p>\
        <div class='x old'>Old <div>too</div> yes</div><div class='gone'>No rule</div>\
        <table><tr><td class=old>1<td>2<tr><td>3<td>4</table></body></html>";
    check(
        page.as_bytes(),
        "a.html",
        "html",
        "Fee ~~100~~ 80\n~~Not any more~~\nValid\n~~Old~~\n~~too~~\n~~yes~~\nNo rule\n| ~~1~~ | 2 |\n| --- | --- |\n| 3 | 4 |\n",
    );
}

#[test]
fn descriptions_of_pictures_are_words_of_their_own() {
    let page = "<p>See<img alt='the map'><math><mi>a</mi></math><img alt=''>.</p>";
    check(page.as_bytes(), "a.html", "html", "See the map a.\n");
}

#[test]
fn lists_that_count_down_begin_with_the_last() {
    let page = "<ol reversed><li>c<li>b<ul><li>x</ul><li>a</ol><ol reversed start=10><li>j<li>i</ol><ol><li>one</ol>";
    check(page.as_bytes(), "a.html", "html", "- 3. c\n- 2. b\n- x\n- 1. a\n- 10. j\n- 9. i\n- 1. one\n");
}
