use steward_hooks::{check_secret, hint_of, make_secret};

use super::support::{all_signings, signing};

#[test]
fn secrets_are_checked() {
    let base64_of = make_base64;
    let cases = [
        ("standard", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", None),
        ("standard", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", None),
        ("standard", &base64_of(16), None),
        ("standard", &base64_of(64), None),
        ("standard", &base64_of(32)[..43], None),
        ("standard", &base64_of(15), Some("too short")),
        ("standard", &base64_of(65), Some("too long")),
        ("standard", "whsec_", Some("isn't base64")),
        ("standard", "whsec_not base64!", Some("isn't base64")),
        ("standard", "", Some("empty")),
        ("standard", " \n", Some("empty")),
        ("standard", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", Some("white space")),
        ("standard", "whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", Some("asymmetric")),
        ("github", "It's a Secret to Everybody", None),
        ("github", "ein Schlüssel", None),
        ("github", "1234567", Some("too short")),
        ("github", "12345678", None),
        ("github", &"x".repeat(512), None),
        ("github", &"x".repeat(513), Some("too long")),
        ("github", "a secret\u{7f}in sight", Some("can't be seen")),
        ("stripe", "whsec_test_secret", None),
        ("stripe", "sk_live_51H", Some("Stripe's API")),
        ("slack", "8f742231b10e8888abcd99yyyzzz85a5", None),
        ("slack", "xoxb-17653672481-19874698323", Some("Slack's API")),
        ("gitlab", "a plain token", None),
        ("gitlab", "whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3Q=", None),
        ("gitlab", "whsec_short", Some("base64")),
        ("gitlab", "ein Schlüssel", Some("header")),
        ("token", "ein Schlüssel", Some("header")),
        ("token", "0123456789abcdef", None),
    ];
    for (kind, secret, problem) in cases {
        match (check_secret(&signing(kind), secret), problem) {
            (Ok(()), None) => {}
            (Err(error), Some(problem)) => {
                assert!(error.problem.contains(problem), "{kind}, {secret}: {error}");
                assert!(error.hint.ends_with('.'), "{error}");
                assert!(secret.len() < 8 || !error.to_string().contains(secret.trim()), "{error}");
            }
            (result, _) => panic!("{kind}, {secret}: {result:?}"),
        }
    }
}

fn make_base64(bytes: usize) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(vec![7; bytes])
}

#[test]
fn made_secrets_are_usable() {
    for signing in all_signings() {
        let secret = make_secret(&signing, [0xab; 32]);
        assert_eq!(check_secret(&signing, &secret), Ok(()), "{signing:?}");
        assert_eq!(hint_of(&secret).chars().count(), 4);
    }
    assert_eq!(make_secret(&signing("github"), [0xab; 32]), "ab".repeat(32));
    assert_eq!(make_secret(&signing("standard"), [0; 32]), format!("whsec_{}=", "A".repeat(43)));
}

#[test]
fn hints_are_the_end_of_a_secret() {
    for (secret, hint) in [("whsec_abcdef", "cdef"), ("größerer Schlüßel", "üßel"), ("1234567", ""), ("", "")] {
        assert_eq!(hint_of(secret), hint);
    }
}
