#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod properties;

use super::{Scrubber, secrets_of};
use crate::CredentialId;
use crate::credential::{Credential, CredentialKind};
use crate::ports::OpenedCredential;
use secrecy::ExposeSecret;
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeMap;
use uuid::Uuid;

const SECRET: &str = "p4$s/w&rd \"x\"+ü";

fn one() -> Scrubber {
    Scrubber::new([("db.password", SECRET)])
}

#[track_caller]
fn gone(text: &str) {
    let scrubbed = one().scrub(&format!("before <{text}> after")).into_owned();
    assert_eq!(scrubbed, "before <[secret db.password]> after", "{text}");
}

#[test]
fn every_way_of_writing_it_is_found() {
    for text in [
        SECRET,
        // JSON, of several strictness, and of several depths.
        r#"p4$s/w&rd \"x\"+ü"#,
        r#"p4$s\/w\u0026rd \"x\"+\u00fc"#,
        r"\u0070\u0034\u0024\u0073\u002F\u0077\u0026\u0072\u0064\u0020\u0022\u0078\u0022\u002b\u00FC",
        r#"p4$s\\/w&rd \\\"x\\\"+\\u00fc"#,
        r#"p4$s/w&rd \\\\\\\"x\\\\\\\"+ü"#,
        // Other languages.
        r"p4$s/w\x26rd \x22x\x22+\xc3\xbc",
        r#"p4$s/w&rd \"x\"+\u{fc}"#,
        r#"p4$s/w&rd \"x\"+\U000000fc"#,
        r#"p4\$s/w\&rd \"x\"+ü"#,
        // Addresses and forms.
        "p4%24s%2Fw%26rd%20%22x%22%2B%C3%BC",
        "p4$s%2fw%26rd%20%22x%22%2b%c3%bc",
        "%704$s/w%26rd \"x\"+ü",
        "p4%24s%2Fw%26rd+%22x%22%2B%C3%BC",
        "p4%2524s%252Fw%2526rd%2520%2522x%2522%252B%25C3%25BC",
        // HTML.
        "p4$s/w&amp;rd &quot;x&quot;+ü",
        "p4&#36;s&#x2F;w&AMP;rd &#34;x&#034;+&#xFC;",
        // Mixtures.
        "p4$s/w\\u0026amp;rd \\u0026quot;x\\u0026quot;+ü",
        "p4%24s%2Fw&amp;rd%20&quot;x&quot;%2B%C3%BC",
    ] {
        gone(text);
    }
    gone(&hex::encode(SECRET));
    gone(&hex::encode_upper(SECRET));
}

#[test]
fn base64_is_found_wherever_it_begins() {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
    for engine in [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD] {
        gone(&engine.encode(SECRET));
        for before in 0..7 {
            for after in 0..7 {
                let plain = format!("{}{SECRET}{}", &"user:??"[..before], &"~~tail!"[..after]);
                let encoded = engine.encode(&plain);
                let text = format!("Authorization: Basic {encoded}, {{\"a\":1}}");
                let scrubbed = one().scrub(&text).into_owned();
                assert!(scrubbed.contains("[secret db.password]"), "{plain}");
                // What is left of it tells nothing of the secret.
                let left = scrubbed.replace("[secret db.password]", "");
                let most = text.len() - SECRET.len() * 4 / 3;
                assert!(left.len() <= most, "{left}");
                let escaped = encoded.replace('/', "\\/").replace('=', "%3D");
                let scrubbed = one().scrub(&escaped).into_owned();
                assert!(scrubbed.contains("[secret"), "{escaped}");
            }
        }
    }
    // Broken into lines, as programs print it.
    let long = STANDARD.encode(format!("{}{SECRET}{}", "x".repeat(50), "y".repeat(50)));
    let (first, second) = long.split_at(76);
    for text in [format!("{first}\n{second}"), format!("{first}\r\n{second}"), format!("{first}\\n{second}")] {
        assert!(one().scrub(&text).contains("[secret"), "{text}");
    }
}

#[test]
fn a_private_key_is_found_line_by_line() {
    let lines = ["b3BlbnNzaC1rZXktdjEAAAAA", "QyNTUxOQAAACBkZWFkYmVlZg", "c2hvcnQ="];
    let key = format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----\n", lines.join("\n"));
    let finder = Scrubber::new([("key", &key)]);
    assert_eq!(finder.scrub(&key), "[secret key]\n");
    let escaped = serde_json::to_string(&key).unwrap();
    assert_eq!(finder.scrub(&escaped), "\"[secret key]\\n\"");
    let crlf = key.replace('\n', "\r\n");
    let left = finder.scrub(&crlf);
    assert!(!left.contains(lines[0]) && !left.contains(lines[1]));
    let quoted = format!("error in line 2: {:?}", lines[0]);
    assert_eq!(finder.scrub(&quoted), "error in line 2: \"[secret key]\"");
    let head = "-----BEGIN OPENSSH PRIVATE KEY-----";
    assert_eq!(finder.scrub(head), head, "every key begins so");
    let folded = key.replace('\n', " ");
    assert!(!finder.scrub(&folded).contains(lines[1]));
}

#[test]
fn what_holds_no_secret_stays_as_it_is() {
    let text = "p4$s/w&rd, 50 % of \\u0041 &amp; dXNlcjpw cGFzcw==\r\n";
    assert!(matches!(one().scrub(text), Cow::Borrowed(same) if same == text));
    assert!(matches!(one().scrub_bytes(&[0, 255, 128]), Cow::Borrowed(_)));
    let none = Scrubber::new([("a", "abc"), ("b", "  x "), ("c", "")]);
    assert!(none.is_empty());
    assert_eq!(none.scrub("abc"), "abc");
    assert!(Scrubber::default().is_empty());
}

#[test]
fn several_secrets_that_overlap_leave_nothing() {
    let scrubber = Scrubber::new([("a", "abcdef"), ("b", "defghi"), ("c", "xyz1"), ("d", "z1z1")]);
    assert_eq!(scrubber.scrub("-abcdefghi-"), "-[secret a]-");
    assert_eq!(scrubber.scrub("abcdefabcdef"), "[secret a][secret a]");
    assert_eq!(scrubber.scrub("xyz1z1"), "[secret c]");
    let same = Scrubber::new([("first", "s3cret"), ("second", "s3cret")]);
    assert_eq!(same.scrub("s3cret"), "[secret first]");
    let padded = Scrubber::new([("file", "s3cret\n")]);
    assert_eq!(padded.scrub("<s3cret>"), "<[secret file]>", "a file's last line break");
    assert_eq!(format!("{scrubber:?}"), "Scrubber(4 secrets)");
}

#[test]
fn a_name_never_shows_a_secret() {
    let scrubber = Scrubber::new([("db.password", "password")]);
    assert_eq!(scrubber.scrub("the password"), "the [secret]");
    let odd = Scrubber::new([("x", "secret")]);
    assert_eq!(odd.scrub("a secret"), "a [***]");
}

#[test]
fn values_lose_secrets_in_keys_and_numbers_too() {
    let scrubber = Scrubber::new([("pin", "12345678"), ("token", "t0ken-value")]);
    let mut value = json!({
        "list": [{"t0ken-value": "a t0ken-value"}, 12_345_678, 1.5, null, true],
        "12345678": 1,
        "[secret pin]": 2,
    });
    scrubber.scrub_json(&mut value);
    assert_eq!(
        value,
        json!({
            "list": [
                {"[secret token]": "a [secret token]"}, "[secret pin]", 1.5, null, true
            ],
            "[secret pin]": 1,
            "[secret pin] 2": 2,
        })
    );
}

#[test]
fn a_credential_names_its_secrets() {
    let opened = OpenedCredential {
        credential: Credential {
            id: CredentialId(Uuid::from_u128(1)),
            name: "shop".to_owned(),
            kind: CredentialKind::Database,
            description: String::new(),
            shown: BTreeMap::new(),
            secret: Vec::new(),
            roles: Vec::new(),
            discoverable: false,
            hosts: Vec::new(),
            connection: None,
            created_at: crate::Timestamp(0),
            changed_at: crate::Timestamp(0),
            used_at: None,
            expires_at: None,
        },
        fields: BTreeMap::from([
            ("url".to_owned(), "postgres://u:p%40ss-w0rd@h:1/d".into()),
            ("username".to_owned(), "deployer".into()),
        ]),
    };
    let secrets = secrets_of(&opened);
    let scrubber = Scrubber::new(secrets.iter().map(|(name, value)| (name, value.expose_secret())));
    assert_eq!(
        scrubber.scrub("deployer: p@ss-w0rd, p%40ss-w0rd, postgres://u:p%40ss-w0rd@h:1/d"),
        "deployer: [secret shop.url.password], [secret shop.url.password], [secret shop.url]"
    );
}
