use super::seven_bit;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

const LOOKED_AT: usize = 64 << 10;
const DECLARED_WITHIN: usize = 2048;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    pub text: String,
    /// The name of the encoding, if the file doesn't say it and it is not UTF-8.
    pub guessed: Option<&'static str>,
}

/// Text in any encoding: the one that its first bytes mark, UTF-8, the one that a page or XML says it has, or the likeliest.
/// `None` if it is no text.
pub fn decode(bytes: Vec<u8>) -> Option<Decoded> {
    if let Some((encoding, mark)) = Encoding::for_bom(&bytes) {
        let text = match encoding.decode_without_bom_handling(&bytes[mark..]) {
            (_, true) if encoding == UTF_8 => return guess(&bytes[mark..]),
            (text, _) => text.into_owned(),
        };
        return is_text(&text).then_some(Decoded { text, guessed: None });
    }
    match String::from_utf8(bytes) {
        Ok(text) => match seven_bit::decode(&text) {
            Some((text, name)) => Some(Decoded { text, guessed: Some(name) }),
            None if is_text(&text) => Some(Decoded { text, guessed: None }),
            None => guess(text.as_bytes()),
        },
        Err(error) => guess(error.as_bytes()),
    }
}

fn guess(bytes: &[u8]) -> Option<Decoded> {
    if let Some(encoding) = declared(bytes) {
        let text = encoding.decode_without_bom_handling(bytes).0.into_owned();
        return is_text(&text).then_some(Decoded { text, guessed: None });
    }
    let likely = unmarked_utf_16(bytes).unwrap_or_else(|| detect(bytes));
    [likely, WINDOWS_1252].into_iter().find_map(|encoding| {
        let text = encoding.decode_without_bom_handling(bytes).0.into_owned();
        is_text(&text).then_some(Decoded { text, guessed: Some(encoding.name()) })
    })
}

fn detect(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

/// The encoding that a page or XML says it has.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARED_WITHIN)]).to_ascii_lowercase();
    let head = head.trim_start().strip_prefix('<')?;
    let (_, rest) = head.split_once("charset=").or_else(|| head.split_once("encoding="))?;
    let label = rest.trim_start_matches(['"', '\'', ' ']);
    let end =
        label.find(|letter: char| !letter.is_ascii_alphanumeric() && !"-_:.".contains(letter)).unwrap_or(label.len());
    Encoding::for_label(&label.as_bytes()[..end]).filter(|encoding| *encoding != UTF_8)
}

/// Of Western texts nearly every second byte is zero.
fn unmarked_utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    let some = &bytes[..bytes.len().min(LOOKED_AT) & !1];
    let zeros = |odd: usize| some.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, pairs) = (zeros(0), zeros(1), some.len() / 2);
    if pairs > 0 && odd * 10 > pairs * 7 && even * 20 < pairs {
        Some(UTF_16LE)
    } else if pairs > 0 && even * 10 > pairs * 7 && odd * 20 < pairs {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Control characters are rare in texts; formatting of terminals is the exception.
fn is_text(text: &str) -> bool {
    let (mut all, mut odd) = (0_usize, 0_usize);
    for letter in text.chars().take(LOOKED_AT) {
        all += 1;
        let known = matches!(letter, '\t' | '\n' | '\r' | '\x0c' | '\x08' | '\x1b');
        odd += usize::from(letter.is_control() && !known || letter == '\u{fffd}');
        if letter == '\0' {
            odd += 20;
        }
    }
    odd * 50 <= all
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
}
