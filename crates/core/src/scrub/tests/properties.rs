#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use crate::scrub::Scrubber;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use proptest::prelude::*;
use std::borrow::Cow;
use std::fmt::Write as _;

const SHOWN: &str = "[secret k]";

/// How a program may write a text; `coins` decide what is escaped that need not be.
#[derive(Debug, Clone)]
enum How {
    Plain,
    Percent(Vec<bool>),
    Json(Vec<bool>),
    Html(Vec<bool>),
    Hex(bool),
    Base64(usize),
}

fn escaped(text: &str, coins: &[bool], must: &str, how: impl Fn(char) -> String) -> String {
    let coins = coins.iter().cycle();
    text.chars()
        .zip(coins)
        .map(
            |(letter, coin)| {
                if *coin || must.contains(letter) || letter.is_control() { how(letter) } else { letter.to_string() }
            },
        )
        .collect()
}

impl How {
    fn write(&self, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Percent(coins) => escaped(text, coins, "% &?#", |letter| {
                let mut buffer = [0; 4];
                let mut out = String::new();
                for (at, byte) in letter.encode_utf8(&mut buffer).bytes().enumerate() {
                    if (at + coins.len()) % 2 == 0 {
                        write!(out, "%{byte:02X}").unwrap();
                    } else {
                        write!(out, "%{byte:02x}").unwrap();
                    }
                }
                out
            }),
            Self::Json(coins) => escaped(text, coins, "\"\\", |letter| match letter {
                '\\' | '"' | '/' => format!("\\{letter}"),
                '\n' => "\\n".to_owned(),
                _ => {
                    let mut units = [0; 2];
                    let mut out = String::new();
                    for unit in letter.encode_utf16(&mut units) {
                        write!(out, "\\u{unit:04x}").unwrap();
                    }
                    out
                }
            }),
            Self::Html(coins) => escaped(text, coins, "&<>\"'", |letter| match letter {
                '&' => "&amp;".to_owned(),
                '<' => "&lt;".to_owned(),
                '"' => "&quot;".to_owned(),
                _ if coins.len() % 2 == 0 => format!("&#{};", u32::from(letter)),
                _ => format!("&#x{:x};", u32::from(letter)),
            }),
            Self::Hex(true) => hex::encode_upper(text),
            Self::Hex(false) => hex::encode(text),
            Self::Base64(which) => match which % 4 {
                0 => STANDARD.encode(text),
                1 => STANDARD_NO_PAD.encode(text),
                2 => URL_SAFE.encode(text),
                _ => URL_SAFE_NO_PAD.encode(text),
            },
        }
    }
}

fn coins() -> impl Strategy<Value = Vec<bool>> {
    prop::collection::vec(any::<bool>(), 1..9)
}

fn escape() -> impl Strategy<Value = How> {
    prop_oneof![
        Just(How::Plain),
        coins().prop_map(How::Percent),
        coins().prop_map(How::Json),
        coins().prop_map(How::Html),
    ]
}

fn any_way() -> impl Strategy<Value = How> {
    prop_oneof![
        3 => escape(),
        1 => any::<bool>().prop_map(How::Hex),
        2 => (0..4_usize).prop_map(How::Base64),
    ]
}

/// A secret of one line; no marks at its ends that escapes of what is around it could take in.
fn canary() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9][ -~äß€😀]{4,30}[a-zA-Z0-9]"
}

proptest! {
    #[test]
    fn a_canary_never_survives(
        canary in canary(),
        before in "[ -~ü\n]{0,40}",
        after in "[ -~ü\n]{0,40}",
        first in any_way(),
        second in escape(),
        third in escape(),
    ) {
        let scrubber = Scrubber::new([("k", &canary)]);
        // Encoded by itself, and as a part of what is encoded.
        let inner = first.write(&canary);
        let around = format!("{before}|{inner}|{after}");
        let inside = first.write(&format!("{before}|{canary}|{after}"));
        for text in [around, inside] {
            let text = third.write(&second.write(&text));
            let scrubbed = scrubber.scrub(&text).into_owned();
            prop_assert!(scrubbed.contains(SHOWN), "{text} became {scrubbed}");
            prop_assert!(!scrubbed.contains(&canary));
            for how in [&first, &second, &third] {
                prop_assert!(!scrubbed.contains(&how.write(&canary)), "{scrubbed}");
            }
            let again = scrubber.scrub(&scrubbed);
            prop_assert!(matches!(again, Cow::Borrowed(_)), "{scrubbed} became {again}");
            let bytes = scrubber.scrub_bytes(text.as_bytes());
            prop_assert_eq!(&*bytes, scrubbed.as_bytes());
        }
    }

    #[test]
    fn text_without_secrets_is_unchanged(
        canary in "[n-z]{8,20}",
        text in "[a-m %\\\\&;u0-9+/=\n-]{0,400}",
    ) {
        let scrubber = Scrubber::new([("k", &canary)]);
        prop_assert!(matches!(scrubber.scrub(&text), Cow::Borrowed(_)));
        let mut stream = scrubber.stream();
        let mut out = stream.push(text.as_bytes());
        out.extend(stream.finish());
        prop_assert_eq!(out, text.as_bytes());
    }

    #[test]
    fn any_bytes_are_taken(canary in canary(), bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let scrubber = Scrubber::new([("k", &canary)]);
        prop_assert_eq!(&*scrubber.scrub_bytes(&bytes), &bytes[..]);
    }

    #[test]
    fn pieces_are_scrubbed_like_the_whole(
        canary in canary(),
        parts in prop::collection::vec(("[ -~ü\n]{0,90}", escape()), 1..12),
        cuts in prop::collection::vec(1..200_usize, 1..20),
    ) {
        let scrubber = Scrubber::new([("k", &canary)]);
        let mut text = String::new();
        for (between, how) in parts {
            text.push_str(&between);
            text.push('|');
            text.push_str(&how.write(&canary));
        }
        let bytes = text.as_bytes();
        let mut stream = scrubber.stream();
        let (mut out, mut at) = (Vec::new(), 0);
        for cut in cuts.iter().cycle() {
            let end = bytes.len().min(at + cut);
            out.extend(stream.push(&bytes[at..end]));
            at = end;
            if at == bytes.len() {
                break;
            }
        }
        out.extend(stream.finish());
        let whole = scrubber.scrub(&text);
        prop_assert!(!whole.contains(&canary));
        prop_assert_eq!(String::from_utf8(out).unwrap(), whole.into_owned());
    }
}

#[test]
fn an_endless_secret_is_let_go_in_pieces() {
    let scrubber = Scrubber::new([("k", "aaaaaaaa")]);
    let mut stream = scrubber.stream();
    let mut out = Vec::new();
    for _ in 0..200 {
        out.extend(stream.push(&[b'a'; 101]));
        assert!(stream.held.len() < 400, "no more is held than is needed");
    }
    out.extend(stream.finish());
    assert_eq!(out, SHOWN.as_bytes());
}
