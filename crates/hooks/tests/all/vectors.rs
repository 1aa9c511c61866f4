//! What the senders themselves publish.

use steward_core::Timestamp;
use steward_hooks::{Headers, Signing, sign_standard, verify};

use super::support::{TEXT_SECRET, WINDOW, sign_hex};

#[test]
fn standard_webhooks() {
    // libraries/javascript/src/webhook.test.ts of standard-webhooks.
    let (id, body) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", br#"{"test": 2432232314}"#);
    let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    for secret in ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] {
        assert_eq!(sign_standard(secret, id, 1_614_265_330, body).as_deref(), Ok(expected));
        for prefix in ["webhook", "svix", "Webhook"] {
            let headers = Headers::new([
                (format!("{prefix}-id"), id),
                (format!("{prefix}-timestamp"), "1614265330"),
                (format!("{prefix}-signature"), expected),
            ]);
            let now = Timestamp(1_614_265_330_000);
            assert_eq!(verify(&Signing::Standard, &[secret], &headers, body, now, WINDOW), Ok(()), "{prefix}");
        }
    }
}

#[test]
fn github() {
    // docs.github.com, Validating webhook deliveries.
    let signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let headers = Headers::new([("X-Hub-Signature-256", signature)]);
    let (secrets, body) = (["It's a Secret to Everybody"], b"Hello, World!");
    assert_eq!(verify(&Signing::Github, &secrets, &headers, body, Timestamp(0), WINDOW), Ok(()));
    assert!(verify(&Signing::Github, &secrets, &headers, b"Hello, World?", Timestamp(0), WINDOW).is_err());
}

#[test]
fn slack() {
    // docs.slack.dev, Verifying requests from Slack.
    let body = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&\
                channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&\
                response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&\
                trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    let headers = Headers::new([
        ("X-Slack-Request-Timestamp", "1531420618"),
        ("X-Slack-Signature", "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"),
    ]);
    let check = |now| verify(&Signing::Slack, &[TEXT_SECRET], &headers, body.as_bytes(), Timestamp(now), WINDOW);
    assert_eq!(check(1_531_420_618_000), Ok(()));
    assert!(check(1_790_000_000_000).is_err());
}

#[test]
fn stripe() {
    // docs.stripe.com, Verify webhook signatures manually: `t`, a full stop and the body, and a `v0` beside. Stripe publishes
    // no example with its secret; this one is what its library for Python makes (stripe 16.1.0, `generate_signature_header`).
    let body = br#"{"id":"evt_test_webhook","object":"event"}"#;
    let expected = "88a022085c6bdb887b02cb26ff76dd681234d9675c0f22844059f55552a8883a";
    assert_eq!(sign_hex("whsec_test_secret", &[b"1492774577.", body]), expected);
    let signature =
        format!("t=1492774577,v1={expected},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39");
    let headers = Headers::new([("Stripe-Signature", signature)]);
    let check = |secret| verify(&Signing::Stripe, &[secret], &headers, body, Timestamp(1_492_774_577_000), WINDOW);
    assert_eq!(check("whsec_test_secret"), Ok(()));
    assert!(check("test_secret").is_err(), "the prefix belongs to the key");
}
