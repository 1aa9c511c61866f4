use super::contradiction::contradicting;
use super::likeliest::{Decoded, is_text, is_unicode_text, likeliest};
use super::seven_bit;
use encoding_rs::{Encoding, UTF_8};

const DECLARED_WITHIN: usize = 2048;

/// Text in any encoding: the one that its first bytes mark, UTF-8, the one that a page or XML says it has, or the likeliest.
/// `None` if it is no text.
pub fn decode(bytes: Vec<u8>) -> Option<Decoded> {
    if let Some((encoding, mark)) = Encoding::for_bom(&bytes) {
        let text = match encoding.decode_without_bom_handling(&bytes[mark..]) {
            (_, true) if encoding == UTF_8 => return guess(&bytes[mark..]),
            (text, _) => text.into_owned(),
        };
        return is_unicode_text(&text).then(|| Decoded::known(text, encoding.name()));
    }
    match String::from_utf8(bytes) {
        Ok(text) => match seven_bit::decode(&text) {
            Some((text, name)) => Some(Decoded::guessed(text, name)),
            None if is_unicode_text(&text) => Some(Decoded::known(text, UTF_8.name())),
            None => guess(text.as_bytes()),
        },
        Err(error) => guess(error.as_bytes()),
    }
}

/// Text in the encoding that something else than the text itself declares, unless its bytes contradict that.
pub fn decode_declared(bytes: &[u8], declared: &'static Encoding) -> String {
    let text = declared.decode_without_bom_handling(bytes).0.into_owned();
    contradicting(bytes, declared.name(), Some(&text)).map_or(text, |found| found.text)
}

fn guess(bytes: &[u8]) -> Option<Decoded> {
    if let Some((label, encoding)) = declared(bytes) {
        let text = encoding.decode_without_bom_handling(bytes).0.into_owned();
        if let Some(found) = contradicting(bytes, &label, Some(&text)) {
            return Some(found);
        }
        return is_text(&text).then(|| Decoded::known(text, encoding.name()));
    }
    likeliest(bytes)
}

/// The encoding that a page or XML says it has, and as what.
fn declared(bytes: &[u8]) -> Option<(String, &'static Encoding)> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARED_WITHIN)]).to_ascii_lowercase();
    let head = head.trim_start().strip_prefix('<')?;
    let (_, rest) = head.split_once("charset=").or_else(|| head.split_once("encoding="))?;
    let label = rest.trim_start_matches(['"', '\'', ' ']);
    let end =
        label.find(|letter: char| !letter.is_ascii_alphanumeric() && !"-_:.".contains(letter)).unwrap_or(label.len());
    let encoding = Encoding::for_label(&label.as_bytes()[..end]).filter(|encoding| *encoding != UTF_8)?;
    Some((label[..end].to_owned(), encoding))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::decode;

    #[test]
    fn texts_that_don_t_say_their_encoding_are_read_as_the_likeliest() {
        for (label, text) in [
            ("windows-1252", "Grüße aus Köln, die Straße ist naß"),
            ("windows-1251", "Собрание жильцов начинается в семь часов вечера"),
            ("Shift_JIS", "会議は来週の火曜日に開催されます。"),
            ("EUC-JP", "会議は来週の火曜日に開催されます。"),
            ("GBK", "会议将于下周二上午举行，请准时参加。"),
            ("EUC-KR", "회의는 다음 주 화요일에 열립니다."),
            ("ISO-2022-JP", "会議は来週の火曜日です。ｶﾅ as well"),
        ] {
            let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
            let bytes = encoding.encode(text).0.into_owned();
            let found = decode(bytes).unwrap();
            assert_eq!(found.guessed, Some(label));
            let kana = text.replace("ｶﾅ", "カナ");
            assert!(found.text == text || found.text == kana, "{label}: {}", found.text);
        }
        assert_eq!(decode(b"name\nM\xfcller\n".to_vec()).unwrap().text, "name\nMüller\n");
        assert_eq!(decode(b"plain".to_vec()).unwrap().guessed, None);
        assert_eq!(decode(b"\xff\xfen\0\n\x005\0".to_vec()).unwrap().text, "n\n5");
        assert_eq!(decode(vec![0; 64]), None);
    }

    #[test]
    fn a_few_broken_bytes_leave_utf_8_as_it_is() {
        for (bytes, expect) in [
            (&b"Gr\xc3\xb6\xc3\x9fe, sch\xc3\xb6n \xff \xc3\xbcber"[..], "Größe, schön \u{fffd} über"),
            (b"Gr\xc3\xb6\xc3", "Grö\u{fffd}"),
        ] {
            let found = decode(bytes.to_vec()).unwrap();
            assert_eq!((found.text.as_str(), found.guessed), (expect, Some(crate::text::BROKEN_UTF_8)));
        }
        assert_eq!(decode(b"caf\xe9".to_vec()).unwrap().text, "café");
    }

    #[test]
    fn a_page_that_names_a_wrong_encoding_is_read_all_the_same() {
        let page = |label: &str, body: &[u8]| {
            let head = format!("<html><meta charset={label}><body>");
            decode([head.as_bytes(), body].concat()).unwrap().text
        };
        let japanese = "会議は五月十日の午後三時から行います。";
        let bytes = encoding_rs::SHIFT_JIS.encode(japanese).0.into_owned();
        for label in ["us-ascii", "iso-8859-1", "shift_jis"] {
            assert!(page(label, &bytes).ends_with(japanese), "{label}");
        }
        assert!(page("iso-8859-1", b"Gr\xf6\xdfe").ends_with("Größe"));
    }

    #[test]
    fn unicode_is_told_by_its_validity() {
        for text in [
            "Größe\u{85}zwei €",
            "Größe\u{b}zwei €",
            "a\u{1}b",
            "Größe\u{7f}",
            "dir\n\u{1a}",
            "\u{80}\u{9f} €",
            "x\u{1e}y",
        ] {
            let found = decode(text.as_bytes().to_vec()).unwrap();
            assert_eq!((found.text.as_str(), found.guessed), (text, None));
        }
        for bytes in
            [&b"\x00\x01\x02\x03\x04\x05"[..], b"\x01\x02\x03\x04", b"\x01\x02\x03\x04\x05\x06", b"a\0b\xff\xfe\x01"]
        {
            assert_eq!(decode(bytes.to_vec()), None, "{bytes:?}");
        }
    }
}
