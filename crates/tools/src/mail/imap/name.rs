//! Names of mailboxes (RFC 3501, 5.1.3), and strings in commands.

use base64::Engine as _;
use base64::alphabet::Alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const SIGNS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+,";

fn engine() -> Option<GeneralPurpose> {
    let config =
        GeneralPurposeConfig::new().with_encode_padding(false).with_decode_padding_mode(DecodePaddingMode::Indifferent);
    Some(GeneralPurpose::new(&Alphabet::new(SIGNS).ok()?, config))
}

/// A name as it goes over the wire.
pub(super) fn encode(name: &str) -> String {
    let mut out = String::new();
    let mut wide: Vec<u8> = Vec::new();
    let flush = |wide: &mut Vec<u8>, out: &mut String| {
        if let (false, Some(engine)) = (wide.is_empty(), engine()) {
            out.push('&');
            out.push_str(&engine.encode(&*wide));
            out.push('-');
        }
        wide.clear();
    };
    for letter in name.chars() {
        if matches!(letter, ' '..='~') {
            flush(&mut wide, &mut out);
            out.push(letter);
            if letter == '&' {
                out.push('-');
            }
        } else {
            let mut units = [0; 2];
            let units = letter.encode_utf16(&mut units);
            wide.extend(units.iter().flat_map(|unit| unit.to_be_bytes()));
        }
    }
    flush(&mut wide, &mut out);
    out
}

/// The same backwards; what can't be read stays as it is.
pub(super) fn decode(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some((head, tail)) = rest.split_once('&') {
        out.push_str(head);
        let Some((coded, after)) = tail.split_once('-') else {
            out.push('&');
            rest = tail;
            continue;
        };
        let bytes = engine().and_then(|engine| engine.decode(coded).ok());
        let units: Option<Vec<u16>> = bytes.filter(|bytes| bytes.len() % 2 == 0).map(|bytes| {
            let pairs = bytes.chunks_exact(2);
            pairs.map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect()
        });
        match units.and_then(|units| String::from_utf16(&units).ok()) {
            Some(_) if coded.is_empty() => out.push('&'),
            Some(text) => out.push_str(&text),
            None => {
                out.push('&');
                out.push_str(coded);
                out.push('-');
            }
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A quoted string; `None` if only a literal can hold the text.
pub(super) fn quote(text: &str) -> Option<String> {
    if text.len() > 1000 || !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return None;
    }
    Some(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{decode, encode, quote};
    use proptest::prelude::*;

    #[test]
    fn names_over_the_wire() {
        for (name, wire) in
            [("INBOX", "INBOX"), ("Entwürfe", "Entw&APw-rfe"), ("A & B", "A &- B"), ("台北", "&U,BTFw-")]
        {
            assert_eq!(encode(name), wire);
            assert_eq!(decode(wire), name);
        }
        assert_eq!(decode("a&b"), "a&b");
        assert_eq!(quote("a\"\\b").unwrap(), "\"a\\\"\\\\b\"");
        assert_eq!(quote("ü"), None);
        assert_eq!(quote("a\r\nb"), None);
    }

    proptest! {
        #[test]
        fn every_name_comes_back(name in "\\PC{0,40}") {
            let wire = encode(&name);
            prop_assert!(wire.is_ascii());
            prop_assert_eq!(decode(&wire), name);
        }

        #[test]
        fn no_name_makes_it_fail(name in "[&a-zA-Z0-9+,-]{0,40}") {
            decode(&name);
        }
    }
}
