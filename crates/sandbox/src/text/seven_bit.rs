//! Encodings of East Asian texts whose bytes look like ASCII: ISO-2022-JP, ISO-2022-KR and HZ.

use encoding_rs::{EUC_KR, GBK, ISO_2022_JP};

/// What chooses letters of two bytes in ISO-2022-JP, and the Roman and Katakana ones.
const JAPANESE: &[&str] = &["\u{1b}$@", "\u{1b}$B", "\u{1b}(J", "\u{1b}(I"];
const KOREAN: &str = "\u{1b}$)C";

/// The text and the name of its encoding; `None` if it is in none of these.
pub fn decode(text: &str) -> Option<(String, &'static str)> {
    if text.contains(KOREAN) {
        return Some((shifted(&text.replace(KOREAN, ""), "\u{e}", "\u{f}", EUC_KR)?, "ISO-2022-KR"));
    }
    if text.is_ascii() && JAPANESE.iter().any(|escape| text.contains(escape)) {
        let (text, _, broken) = ISO_2022_JP.decode(text.as_bytes());
        return (!broken).then(|| (text.into_owned(), ISO_2022_JP.name()));
    }
    if text.is_ascii() && text.contains("~{") && text.contains("~}") {
        let text = shifted(text, "~{", "~}", GBK)?;
        return Some((text.replace("~\n", "").replace("~~", "~"), "HZ-GB-2312"));
    }
    None
}

/// Letters of two bytes between `from` and `to` have the highest bit of each byte set in `encoding`.
fn shifted(text: &str, from: &str, to: &str, encoding: &'static encoding_rs::Encoding) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(from) {
        let (inside, after) = after.split_once(to).unwrap_or((after, ""));
        let pairs = inside.bytes().all(|byte| matches!(byte, 0x21..=0x7e)) && inside.len().is_multiple_of(2);
        if !pairs || inside.is_empty() {
            return None;
        }
        let high: Vec<u8> = inside.bytes().map(|byte| byte | 0x80).collect();
        let (letters, broken) = encoding.decode_without_bom_handling(&high);
        if broken {
            return None;
        }
        out.push_str(before);
        out.push_str(&letters);
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn escapes_become_letters() {
        let check =
            |text: &str, expect: Option<&str>| assert_eq!(decode(text).map(|(text, _)| text).as_deref(), expect);
        check("\u{1b}$B2q5D\u{1b}(B at 9", Some("会議 at 9"));
        check("\u{1b}$)C\u{e}H8@G\u{f} at 9", Some("회의 at 9"));
        check("This is ~{<:Ky2;~} all", Some("This is 己所不 all"));
        // Texts that only look a little like it, and colours of terminals.
        for plain in ["a ~{b c~} d", "x = y~{ab", "\u{1b}[31mred\u{1b}[0m", "~{}~", "plain"] {
            check(plain, None);
        }
    }
}
