use std::fmt::Write as _;

/// Percent-encodes `text` as a part of a path or of a query.
pub fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn a_name_stays_within_its_part() {
        assert_eq!(encoded("server-care_1.2~x"), "server-care_1.2~x");
        assert_eq!(encoded("a/../b?c=d&e"), "a%2F..%2Fb%3Fc%3Dd%26e");
        assert_eq!(encoded("[fd00::1] ü"), "%5Bfd00%3A%3A1%5D%20%C3%BC");
    }
}
