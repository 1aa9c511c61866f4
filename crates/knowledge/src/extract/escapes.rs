//! Characters that texts of Office files write as codes, such as `_x000D_`.

/// `_x000D_` is the character of that code, and `_x005F_` the line before such a code that is none. Line ends of any kind
/// are one character.
pub(super) fn unescape(text: &str) -> String {
    if !text.contains("_x") {
        return text.to_owned();
    }
    let (mut units, mut rest) = (Vec::<u16>::new(), text);
    while let Some(at) = rest.find("_x") {
        units.extend(rest[..at].encode_utf16());
        let code = rest.get(at + 2..at + 6).filter(|_| rest.get(at + 6..at + 7) == Some("_"));
        if let Some(code) = code.filter(|code| code.bytes().all(|one| one.is_ascii_hexdigit())) {
            units.extend(u16::from_str_radix(code, 16));
            rest = &rest[at + 7..];
        } else {
            units.extend("_x".encode_utf16());
            rest = &rest[at + 2..];
        }
    }
    units.extend(rest.encode_utf16());
    let found = String::from_utf16_lossy(&units).replace("\r\n", "\n").replace(['\r', '\u{b}'], "\n");
    found.replace(|letter: char| letter.is_control() && letter != '\n' && letter != '\t', " ")
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn codes_of_characters_are_characters() {
        for (text, expected) in [
            ("up_x000D_\ndown", "up\ndown"),
            ("a_x000D_b", "a\nb"),
            ("k_x005F_x0041_", "k_x0041_"),
            ("_xD83D__xDE00_", "😀"),
            ("max_x_y _x12_ _x00G1_ _x", "max_x_y _x12_ _x00G1_ _x"),
            ("ä_x0007_ö", "ä ö"),
            ("one_x000B_two", "one\ntwo"),
        ] {
            assert_eq!(unescape(text), expected);
        }
    }
}
