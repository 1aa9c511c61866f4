//! Mails as a mail program shows them, invitations and mailboxes.
use super::make::compound;
use super::{check, read, shown};

/// A mail of these parts.
fn mail(kind: &str, parts: &[(&str, &str)]) -> String {
    let head = format!(
        "From: a@example.org\r\nSubject: Mail\r\nMIME-Version: 1.0\r\nContent-Type: multipart/{kind}; boundary=\"o\"\r\n\r\n"
    );
    let parts = parts.iter().map(|(head, body)| format!("--o\r\nContent-Type: {head}\r\n\r\n{body}\r\n"));
    head + &parts.collect::<String>() + "--o--\r\n"
}

const HEAD: &str = "# Mail\nFrom: a@example.org\n";
const INVITATION: &str = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nSUMMARY:Budget round\\, part 2\r\n\
    DTSTART;TZID=Europe/Berlin:20240305T140000\r\nLOCATION:Room Heron 12\r\nATTENDEE;CN=Ama Boateng:mailto:ama@example.org\r\n\
    DESCRIPTION:Bring the figures of Fe\r\n bruary\r\nEND:VEVENT\r\nEND:VCALENDAR";
const INVITED: &str = "Invitation: Budget round, part 2\nWhen: 2024-03-05 14:00 (Europe/Berlin)\nWhere: Room Heron 12\n\
    Who: Ama Boateng <ama@example.org>\nBring the figures of February\n";

#[test]
fn html_that_says_more_is_read() {
    for (plain, html, expected) in [
        ("", "<p>Only HTML 6060 says the price.</p>", "Only HTML 6060 says the price.\n"),
        (
            "Ihr Mailprogramm kann kein HTML anzeigen.",
            "<p>Invoice 6161: <b>88,00 EUR</b></p>",
            "Invoice 6161: 88,00 EUR\n",
        ),
        (
            "Please view in a browser.",
            "<p>Real content</p><table><tr><td>Due</td><td>1 May</td></tr></table>",
            "Real content\n| Due | 1 May |\n| --- | --- |\n",
        ),
        ("Hello Bo,\r\n\r\nsee you.", "<p>Hello <b>Bo</b>, see you.</p>", "Hello Bo,\nsee you.\n"),
        ("The text.", "<img src=\"cid:x\">", "The text.\n"),
    ] {
        let alternatives = mail("alternative", &[("text/plain; charset=utf-8", plain), ("text/html", html)]);
        check(alternatives.as_bytes(), "a.eml", "eml", &format!("{HEAD}{expected}"));
    }
    // Within a mail that has more.
    let inner = "multipart/alternative; boundary=\"i\"\r\n\r\n--i\r\nContent-Type: text/plain\r\n\r\nNo HTML?\r\n--i\r\n\
        Content-Type: text/html\r\n\r\n<p>Rent 400</p>\r\n--i--";
    let (kind, body) = inner.split_once("\r\n\r\n").unwrap();
    let whole = mail("mixed", &[(kind, body), ("text/plain", "The list's footer.")]);
    check(whole.as_bytes(), "a.eml", "eml", &format!("{HEAD}Rent 400\nThe list's footer.\n"));
}

#[test]
fn html_of_outlook_that_says_more_is_read() {
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    for (plain, expected) in [("View this in a browser.", "Rent 400 EUR\n"), ("Rent\r\n400 EUR", "Rent\n400 EUR\n")] {
        let file = compound(&[
            ("__properties_version1.0", &[0; 32]),
            ("__substg1.0_0037001F", &wide("Mail")),
            ("__substg1.0_1000001F", &wide(plain)),
            ("__substg1.0_10130102", b"<html><body><p>Rent 400 EUR</p></body></html>"),
        ]);
        check(&file, "a.msg", "msg", &format!("# Mail\n{expected}"));
    }
}

#[test]
fn invitations_are_read_as_alternative_and_attached() {
    let plain = (
        "text/plain; charset=utf-8; format=flowed; delsp=yes",
        "The room is Sau \r\nerkraut 4.\r\n> quoted long \r\n> er line",
    );
    let text = "The room is Sauerkraut 4.\n> quoted longer line\n";
    let calendar = ("text/calendar; method=REQUEST; charset=utf-8", INVITATION);
    let attached = (
        "application/ics; name=\"invite.ics\"\r\nContent-Disposition: attachment; filename=\"invite.ics\"",
        INVITATION,
    );
    let alternative = mail("alternative", &[plain, calendar]);
    check(alternative.as_bytes(), "a.eml", "eml", &format!("{HEAD}{text}{INVITED}"));
    let found = read(mail("mixed", &[plain, attached]).as_bytes(), "a.eml").unwrap();
    assert!(shown(&found).ends_with(INVITED), "{}", shown(&found));
    // Both are the same one.
    let both = read(mail("mixed", &[plain, calendar, attached]).as_bytes(), "a.eml").unwrap();
    assert_eq!(shown(&both).matches("Invitation:").count(), 1);
    assert_eq!(both.warnings, Vec::<String>::new());
    check(INVITATION.as_bytes(), "invite.ics", "ics", INVITED);
    let none = read(b"BEGIN:VCALENDAR\nEND:VCALENDAR\n", "a.ics").unwrap();
    assert!(none.warnings[0].contains("no events"), "{:?}", none.warnings);
}

#[test]
fn texts_without_a_name_are_read_and_alternatives_once() {
    let other = ("text/x-amp-html", "<p>The text again.</p>");
    let text = mail("alternative", &[("text/plain", "The text."), other]);
    check(text.as_bytes(), "a.eml", "eml", &format!("{HEAD}The text.\n"));
    let list = ("text/csv\r\nContent-Disposition: attachment", "k,v\r\n1,2");
    let found = read(mail("mixed", &[("text/plain", "The text."), list]).as_bytes(), "a.eml").unwrap();
    assert!(shown(&found).contains("1,2"), "{}", shown(&found));
}

#[test]
fn mailboxes_are_mails() {
    let mailbox = "From a@x Tue Mar  5 10:00:00 2024\nFrom: a@x.org\nSubject: First\n\nHello one 101\n>From the start\n\n\
        From now on we meet at nine.\n\nFrom b@x Wed Mar  6 10:00:00 2024\nFrom: b@x.org\nSubject: =?utf-8?Q?Zweite_f=C3=BCr?=\n\
        Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nHello two =C3=A4\n\n\
        From c@x Wed Mar  6 10:00:00 2024\nFrom: c@x.org\nSubject: Third\nContent-Type: text/html\n\n<p>Hello <b>three</b></p>\n";
    let expected = "== First\n# First\nFrom: a@x.org\nHello one 101\nFrom the start\nFrom now on we meet at nine.\n\
        == Zweite für\n# Zweite für\nFrom: b@x.org\nHello two ä\n== Third\n# Third\nFrom: c@x.org\nHello three\n";
    let found = check(mailbox.as_bytes(), "box.mbox", "mbox", expected);
    assert_eq!((found.title.as_deref(), found.warnings.len()), (Some("3 mails"), 0));
    check(mailbox.replace('\n', "\r\n").as_bytes(), "box", "mbox", expected);
    // A text that only begins so.
    check(b"From now on\nwe meet: at nine.\n", "a.txt", "text", "From now on\nwe meet: at nine.\n");
}

#[test]
fn lines_may_end_with_carriage_returns_alone() {
    let text = "From: a@example.org\rSubject: Mail\rContent-Type: text/html\r\r<p>Body 4545</p>\r";
    check(text.as_bytes(), "cr.eml", "eml", &format!("{HEAD}Body 4545\n"));
    let body = "From: a@example.org\r\nSubject: Mail\r\n\r\none\r\rtwo\r\n";
    check(body.as_bytes(), "a.eml", "eml", &format!("{HEAD}one\ntwo\n"));
}

#[test]
fn signatures_are_no_attachments_to_warn_of() {
    let mail = b"From: a@example.org\r\nSubject: S\r\nMIME-Version: 1.0\r\nContent-Type: multipart/signed; boundary=B\r\n\r\n\
        --B\r\nContent-Type: text/plain\r\n\r\nSigned text.\r\n--B\r\nContent-Type: application/pkcs7-signature; name=smime.p7s\r\n\
        Content-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=smime.p7s\r\n\r\nMIIB/w==\r\n--B--\r\n";
    let found = read(mail, "a.eml").unwrap();
    assert!(shown(&found).contains("Signed text."));
    assert_eq!(found.warnings, Vec::<String>::new());
}

/// `text` in the encoding that `label` names.
fn in_encoding(label: &str, text: &str) -> Vec<u8> {
    encoding_rs::Encoding::for_label(label.as_bytes()).unwrap().encode(text).0.into_owned()
}

#[test]
fn parts_in_another_encoding_than_they_say_are_read() {
    const JAPANESE: &str = "会議は五月十日の午後三時から大阪支店で行います";
    const RUSSIAN: &str = "Оплатите, пожалуйста, счёт до пятницы";
    let body = |head: &str, text: Vec<u8>| {
        let head = format!("From: a@example.org\r\nSubject: Mail\r\n{head}\r\n\r\n");
        [head.into_bytes(), text, b"\r\n".to_vec()].concat()
    };
    let page = format!("<meta charset=koi8-r><p>{RUSSIAN}</p>");
    let base64 = "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64";
    for (mail, expected) in [
        (body("Content-Type: text/plain; charset=us-ascii", in_encoding("shift_jis", JAPANESE)), JAPANESE),
        (body("Content-Type: text/plain; charset=us-ascii", "Größe für Müller".into()), "Größe für Müller"),
        (body("Content-Type: text/html; charset=us-ascii", "<p>Größe: 5 €</p>".into()), "Größe: 5 €"),
        (body("Content-Type: text/html; charset=us-ascii", in_encoding("koi8-r", &page)), RUSSIAN),
        (body("Content-Type: text/plain; charset=iso-8859-1", in_encoding("koi8-r", RUSSIAN)), RUSSIAN),
        (body("Content-Type: text/plain; charset=gb2312", in_encoding("euc-jp", JAPANESE)), JAPANESE),
        (body("Content-Type: text/plain; charset=unknown-8bit", b"Stra\xdfe in K\xf6ln".to_vec()), "Straße in Köln"),
        (
            body(
                "Content-Type: text/plain; charset=iso-8859-1",
                in_encoding("windows-1250", "Zażółć gęślą jaźń, proszę"),
            ),
            "Zażółć gęślą jaźń, proszę",
        ),
        // UTF-16 with its mark.
        (body(base64, b"//5HAHIA9gDfAGUA".to_vec()), "Größe"),
    ] {
        let found = read(&mail, "a.eml").unwrap();
        assert_eq!(shown(&found), format!("{HEAD}{expected}\n"));
    }
    let list = ("text/csv; charset=us-ascii; name=a.csv\r\nContent-Transfer-Encoding: base64", "aztwDQr8OzUNCg==");
    let found = read(mail("mixed", &[("text/plain", "See."), list]).as_bytes(), "a.eml").unwrap();
    assert!(shown(&found).contains("| ü | 5 |"), "{}", shown(&found));
    let raw =
        [b"From: ".to_vec(), in_encoding("shift_jis", "大阪支店の田中です"), b" <a@example.org>\r\n".to_vec()].concat();
    let raw = [raw, b"Subject: =?iso-8859-1?B?z9DMwdTJ1MUg096j1A==?=\r\n\r\nx\r\n".to_vec()].concat();
    check(&raw, "a.eml", "eml", "# оплатите счёт\nFrom: 大阪支店の田中です <a@example.org>\nx\n");
}

#[test]
fn html_in_an_undeclared_encoding_of_seven_bits_is_compared_as_text() {
    let seven_bit = |text: &str| String::from_utf8(in_encoding("iso-2022-jp", text)).unwrap();
    let (plain, html) = (seven_bit("金額は三万円です。"), seven_bit("<p>金額は三万円です。納期は六月末。</p>"));
    let alternatives = mail("alternative", &[("text/plain", &plain), ("text/html", &html)]);
    check(alternatives.as_bytes(), "a.eml", "eml", &format!("{HEAD}金額は三万円です。納期は六月末。\n"));
}

#[test]
fn mails_that_are_cut_are_read_to_their_end() {
    let attached = "text/plain; charset=utf-8; name=a.txt\r\nContent-Transfer-Encoding: base64\r\n\
        Content-Disposition: attachment; filename=a.txt";
    let whole = mail("mixed", &[("text/plain", "See."), (attached, "SMO2aGUgMyBt")]);
    let inner = "From: b@example.org\r\nSubject: Inner\r\nContent-Type: multipart/mixed; boundary=\"i\"\r\n\r\n--i\r\n\
        Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n5. M=C3=A4rz";
    let forwarded = mail("mixed", &[("text/plain", "See."), ("message/rfc822", inner), (attached, "SMO2aGUgMyBt")]);
    for (text, parts, warnings) in [
        (whole.as_str(), &["See.", "Höhe 3 m"][..], 0),
        (whole.trim_end_matches("--o--\r\n"), &["See.", "Höhe 3 m"], 1),
        (whole.trim_end_matches("\r\n--o--\r\n"), &["See.", "Höhe 3 m"], 1),
        (&forwarded, &["See.", "# Inner", "5. März", "Höhe 3 m"], 0),
        (forwarded.trim_end_matches("--o--\r\n"), &["See.", "# Inner", "5. März", "Höhe 3 m"], 1),
    ] {
        let found = read(text.as_bytes(), "a.eml").unwrap();
        for part in parts {
            assert!(shown(&found).contains(part), "{part}: {}", shown(&found));
        }
        assert_eq!(found.warnings.len(), warnings, "{:?}", found.warnings);
    }
    let cut = whole.trim_end_matches("--o--\r\n");
    let mailbox =
        format!("From a@x Tue\r\n{cut}\r\nFrom b@x Wed\r\nFrom: b@example.org\r\nSubject: Next\r\n\r\nBye\r\n");
    let found = read(mailbox.as_bytes(), "a.mbox").unwrap();
    assert!(shown(&found).contains("Höhe 3 m") && shown(&found).contains("# Next\nFrom: b@example.org\nBye"));
}
