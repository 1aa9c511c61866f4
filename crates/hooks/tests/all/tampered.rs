//! Requests that were changed on their way, or never were from the sender.

use steward_hooks::{Headers, Refusal, Signing};

use super::support::{AT, STANDARD_SECRET, Sent, TEXT_SECRET, signing};

const OTHER_STANDARD: &str = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const OTHER_TEXT: &str = "another secret of theirs";

fn other_secret(sent: &Sent) -> &'static str {
    if sent.secret == STANDARD_SECRET { OTHER_STANDARD } else { OTHER_TEXT }
}

#[test]
fn what_was_not_changed_passes() {
    for sent in Sent::all() {
        assert_eq!(sent.verify(), Ok(()), "{:?}", sent.signing);
        let other = other_secret(&sent);
        for secrets in [vec![other, sent.secret], vec!["", sent.secret, other], vec![sent.secret, sent.secret]] {
            assert_eq!(sent.verify_with(&secrets, AT * 1000), Ok(()), "{:?}", sent.signing);
        }
    }
}

#[test]
fn no_changed_byte_passes() {
    for sent in Sent::all() {
        for (index, (name, value)) in sent.headers.iter().enumerate() {
            // The word before a token may be in any case.
            let begin = if name == "Authorization" { "Bearer ".len() } else { 0 };
            for at in begin..value.len() {
                for flip in [1_u8, 2, 16] {
                    let mut bytes = value.clone().into_bytes();
                    bytes[at] ^= flip;
                    let mut changed = sent.clone();
                    changed.headers[index].1 = String::from_utf8(bytes).unwrap();
                    assert!(changed.verify().is_err(), "{:?}, {name}, byte {at} ^ {flip}", sent.signing);
                }
            }
        }
        let is_signed =
            !matches!(sent.signing, Signing::Token { .. }) && !sent.headers.iter().any(|h| h.0 == "X-Gitlab-Token");
        for at in 0..sent.body.len() {
            let mut changed = sent.clone();
            changed.body[at] ^= 1;
            assert_eq!(changed.verify().is_err(), is_signed, "{:?}, body, byte {at}", sent.signing);
        }
    }
}

#[test]
fn nothing_passes_without_a_secret() {
    for sent in Sent::all() {
        for secrets in [vec![], vec![""], vec!["", " ", "\t\n"]] {
            assert_eq!(sent.verify_with(&secrets, AT * 1000), Err(Refusal::NoSecret), "{:?}", sent.signing);
        }
        assert!(sent.verify_with(&[other_secret(&sent)], AT * 1000).is_err(), "{:?}", sent.signing);
    }
    // What an empty key would sign.
    let mut sent = Sent::new(Signing::Github);
    sent.headers[0].1 = format!("sha256={}", super::support::sign_hex("", &[&sent.body]));
    assert!(sent.verify_with(&[""], 0).is_err());
    for secret in ["whsec_", "whsec_=", "whsec_====", "not base64!"] {
        let sent = Sent::new(Signing::Standard);
        assert_eq!(sent.verify_with(&[secret], AT * 1000), Err(Refusal::UnusableSecret), "{secret}");
    }
}

#[test]
fn headers_that_are_missing_or_there_twice_are_refused() {
    for sent in Sent::all() {
        for index in 0..sent.headers.len() {
            let (name, value) = sent.headers[index].clone();
            let mut without = sent.clone();
            without.headers.remove(index);
            assert!(matches!(without.verify(), Err(Refusal::MissingHeader { .. })), "{:?}, {name}", sent.signing);
            for empty in ["", " ", "\t "] {
                assert!(sent.clone().set(&name, empty).verify().is_err(), "{:?}, {name}", sent.signing);
            }
            let mut same = sent.clone();
            same.headers.push((name.to_uppercase(), format!(" {value}\t")));
            assert_eq!(same.verify(), Ok(()), "{:?}, {name}", sent.signing);
            for other in ["", "x"] {
                for first in [true, false] {
                    let mut twice = sent.clone();
                    twice.headers.insert(if first { 0 } else { twice.headers.len() }, (name.clone(), other.to_owned()));
                    let refusal = twice.verify().unwrap_err();
                    let expected = matches!(refusal, Refusal::RepeatedHeader { .. })
                        || (first && other.is_empty() && matches!(refusal, Refusal::MissingHeader { .. }));
                    assert!(expected, "{:?}, {name}: {refusal}", sent.signing);
                }
            }
            let long = format!("{value}{}", " ".repeat(9_000) + "x");
            assert!(sent.clone().set(&name, long).verify().is_err(), "{:?}, {name}", sent.signing);
        }
    }
}

#[test]
fn times_outside_the_window_are_refused() {
    let at = AT * 1000;
    for sent in Sent::all() {
        let has_time = sent.headers.iter().any(|(_, value)| value.contains(&AT.to_string()));
        for (now, passes) in [
            (at - 300_000, true),
            (at + 300_000, true),
            (at + 300_001, false),
            (at - 300_001, false),
            (at + 86_400_000, false),
            (0, false),
            (i64::MAX, false),
            (i64::MIN, false),
        ] {
            let result = sent.verify_with(&[sent.secret], now);
            assert_eq!(result.is_ok(), passes || !has_time, "{:?} at {now}", sent.signing);
            if let Err(refusal) = result {
                let is_old = matches!(refusal, Refusal::TooOld { .. });
                assert_eq!(is_old, now > at, "{:?} at {now}: {refusal}", sent.signing);
            }
        }
    }
    let old = Sent::new(Signing::Slack).verify_with(&[TEXT_SECRET], at + 300_001).unwrap_err();
    assert_eq!(old, Refusal::TooOld { seconds: 301, window_seconds: 300 });
    assert_eq!(old.problem(), "The request was signed 301 s ago; at most 300 s are allowed.");
}

#[test]
fn times_that_are_no_times_are_refused() {
    for text in [
        "hello",
        "",
        "-1",
        "+1790000000",
        "1790000000.5",
        " ",
        "1.79e9",
        "0x6ab0",
        "9999999999999",
        "99999999999999999999999",
        "١٧٩٠٠٠٠٠٠٠",
        "NaN",
        "null",
        "2026-09-21T14:13:20Z",
    ] {
        for sent in Sent::all() {
            for (name, _) in sent.headers.clone() {
                let value = sent.value(&name);
                if value.contains(&AT.to_string()) {
                    let changed = sent.clone().set(&name, value.replace(&AT.to_string(), text));
                    assert!(changed.verify().is_err(), "{:?}, {text}", sent.signing);
                }
            }
        }
    }
}

#[test]
fn lists_of_standard_signatures() {
    let sent = Sent::new(Signing::Standard);
    let own = sent.value("webhook-signature");
    let bare = own.strip_prefix("v1,").unwrap();
    let wrong = "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=";
    for (list, passes) in [
        (format!("{wrong} {own}"), true),
        (format!("v2,{bare} {own}"), true),
        (format!("v1a,{bare} {own}"), true),
        (format!("  {wrong}   {own}  "), true),
        (format!("garbage {own}"), true),
        (format!(", v1 v1, v1,, ,v1,{bare} {own} ="), true),
        (own.trim_end_matches('=').to_owned(), true),
        (format!("{wrong} {wrong}"), false),
        (format!("v2,{bare}"), false),
        (format!("v1a,{bare}"), false),
        (format!("V1,{bare}"), false),
        (format!("v1={bare}"), false),
        (format!("v1, {bare}"), false),
        (bare.to_owned(), false),
        ("v1,".to_owned(), false),
        ("v1".to_owned(), false),
        (own[..8].to_owned(), false),
        (format!("{own}AAAA"), false),
        (format!("{own}{bare}"), false),
        (own.replace("v1,", "v1,v1,"), false),
        (format!("{wrong},{own}"), false),
    ] {
        assert_eq!(sent.clone().set("webhook-signature", &*list).verify().is_ok(), passes, "{list}");
    }
}

#[test]
fn ids_with_a_full_stop_are_refused() {
    // Who may choose the body could else have an old message verified under a new time: what is signed is the same text.
    let secret = STANDARD_SECRET;
    let body = format!("{AT}.evil");
    let signature = steward_hooks::sign_standard(secret, "msg_1", 1, body.as_bytes()).unwrap();
    let mut sent = Sent::new(Signing::Standard).set("webhook-id", "msg_1.1").set("webhook-signature", signature);
    sent.body = b"evil".to_vec();
    assert!(matches!(sent.verify(), Err(Refusal::MalformedHeader { .. })));
    assert!(steward_hooks::sign_standard(secret, "msg.1", AT, b"").is_err());
}

#[test]
fn names_of_both_kinds_are_not_mixed() {
    let (standard, svix) = (Sent::new(Signing::Standard), Sent::svix());
    let mut both = standard.clone();
    both.headers.extend(svix.headers.clone());
    assert_eq!(both.verify(), Ok(()));
    let mut mixed = svix.clone();
    mixed.headers[0] = standard.headers[0].clone();
    assert_eq!(mixed.verify(), Err(Refusal::MissingHeader { name: "svix-id".to_owned() }));
    let mut wrong = both.set("webhook-signature", "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=");
    assert_eq!(wrong.verify(), Err(Refusal::WrongSignature { sender: "the sender" }));
    wrong.headers.remove(2);
    assert_eq!(wrong.verify(), Ok(()));
}

#[test]
fn forms_of_github_and_slack_signatures() {
    for (kind, name, prefix) in [("github", "x-hub-signature-256", "sha256="), ("slack", "x-slack-signature", "v0=")] {
        let sent = Sent::new(signing(kind));
        let own = sent.value(name);
        let hex = own.strip_prefix(prefix).unwrap();
        for (value, passes) in [
            (format!("{prefix}{}", hex.to_uppercase()), true),
            (format!("  {own} "), true),
            (hex.to_owned(), false),
            (format!("{}{hex}", prefix.to_uppercase()), false),
            (format!("{prefix} {hex}"), false),
            (format!("{prefix}{}", &hex[..62]), false),
            (format!("{prefix}{hex}00"), false),
            (format!("{prefix}0x{hex}"), false),
            (prefix.to_owned(), false),
            (format!("sha1={hex}"), false),
            (format!("v1={hex}"), false),
            (format!("{own},{own}"), false),
        ] {
            assert_eq!(sent.clone().set(name, &*value).verify().is_ok(), passes, "{kind}: {value}");
        }
    }
}

#[test]
fn forms_of_stripe_signatures() {
    let sent = Sent::new(Signing::Stripe);
    let own = sent.value("stripe-signature");
    let hex = own.rsplit_once('=').unwrap().1;
    let wrong = "0".repeat(64);
    for (value, passes) in [
        (format!("t={AT},v1={wrong},v1={hex}"), true),
        (format!("t={AT},v1={hex},v1={wrong}"), true),
        (format!("v1={hex},t={AT}"), true),
        (format!("t={AT},v0={wrong},v1={hex},v2"), true),
        (format!("t={AT}, v1={hex}, ,"), true),
        (format!("t={AT},v1={}", hex.to_uppercase()), true),
        (format!("t={AT},v0={hex}"), false),
        (format!("t={AT},v1={wrong}"), false),
        (format!("t={AT}"), false),
        (format!("v1={hex}"), false),
        (format!("t=1,t={AT},v1={hex}"), false),
        (format!("t={AT},t={AT},v1={hex}"), false),
        (format!("T={AT},v1={hex}"), false),
        (format!("t={AT};v1={hex}"), false),
        (format!("t={AT},v1={hex}="), false),
        (format!("t={},v1={hex}", AT + 1), false),
    ] {
        assert_eq!(sent.clone().set("stripe-signature", &*value).verify().is_ok(), passes, "{value}");
    }
}

#[test]
fn forms_of_tokens() {
    let sent = Sent::new(signing("token"));
    for (value, passes) in [
        (format!("Bearer {TEXT_SECRET}"), true),
        (format!("bearer {TEXT_SECRET}"), true),
        (format!("BEARER   {TEXT_SECRET} "), true),
        (TEXT_SECRET.to_owned(), true),
        ("Bearer".to_owned(), false),
        ("Bearer ".to_owned(), false),
        ("Bearer  \t".to_owned(), false),
        (format!("Basic {TEXT_SECRET}"), false),
        (format!("Bearer Bearer {TEXT_SECRET}"), false),
        (format!("Bearer{TEXT_SECRET}"), false),
        (format!("{TEXT_SECRET}x"), false),
        (TEXT_SECRET[1..].to_owned(), false),
        (TEXT_SECRET.to_uppercase(), false),
    ] {
        let result = sent.clone().set("authorization", &*value).verify();
        assert_eq!(result.is_ok(), passes, "{value}");
        if let Err(refusal) = result {
            assert!(!refusal.to_string().contains(TEXT_SECRET), "{refusal}");
        }
    }
    let named: Signing = serde_json::from_str(r#"{"kind": "token", "header": "X-Api-Key"}"#).unwrap();
    let mut sent = Sent { signing: named, ..sent };
    assert_eq!(sent.verify(), Err(Refusal::MissingHeader { name: "x-api-key".to_owned() }));
    sent.headers.push(("x-api-KEY".to_owned(), TEXT_SECRET.to_owned()));
    assert_eq!(sent.verify(), Ok(()));
}

#[test]
fn a_signature_of_gitlab_is_not_replaced_by_a_token() {
    let mut sent = Sent::signed_gitlab();
    sent.headers.push(("X-Gitlab-Token".to_owned(), TEXT_SECRET.to_owned()));
    assert_eq!(sent.verify_with(&[TEXT_SECRET, STANDARD_SECRET], AT * 1000), Ok(()));
    sent.body.push(b' ');
    assert_eq!(
        sent.verify_with(&[TEXT_SECRET, STANDARD_SECRET], AT * 1000),
        Err(Refusal::WrongSignature { sender: "GitLab" })
    );
}

#[test]
fn refusals_say_what_to_do_and_no_secret() {
    let mut seen = Vec::new();
    for sent in Sent::all() {
        for (index, (_, value)) in sent.headers.clone().into_iter().enumerate() {
            for change in ["", "MARK", "1000"] {
                let mut changed = sent.clone();
                changed.headers[index].1 = value.replace(&value[value.len() / 2..], change);
                seen.extend(changed.verify().err());
            }
        }
        seen.extend(sent.verify_with(&[other_secret(&sent)], AT * 1000).err());
    }
    assert!(seen.len() > 20);
    for refusal in seen {
        let text = refusal.to_string();
        assert!(refusal.problem().ends_with('.') && refusal.hint().ends_with('.'), "{text}");
        assert!(!text.contains("MARK") && !text.contains(TEXT_SECRET) && !text.contains("MfKQ9r8"), "{text}");
    }
    let headers = Headers::new(Sent::new(signing("token")).headers);
    assert_eq!(format!("{headers:?}"), r#"{"authorization"}"#);
}
