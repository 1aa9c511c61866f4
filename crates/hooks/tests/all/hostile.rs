//! Whatever comes in: no panic, nothing passes, nothing grows without bounds.

use proptest::prelude::*;
use serde_json::{Value, json};
use steward_core::Timestamp;
use steward_hooks::{
    Filter, Headers, MAX_EVENT_ID, MAX_FILLED, Place, Values, answer_challenge, check_filters, check_secret,
    check_template, fill_template, find_event_id, hint_of, read_payload, sign_standard, verify,
};

use super::support::{AT, STANDARD_SECRET, TEXT_SECRET, all_signings};

const NAMES: &str = "(webhook|svix)-(id|timestamp|signature)|x-hub-signature-256|stripe-signature|x-slack-signature|\
                     x-slack-request-timestamp|x-gitlab-token|authorization|x-[a-z]{1,3}";

const VALUES: &str = "\\PC{0,20}|v1,[A-Za-z0-9+/]{43}=|(sha256=|v0=)[0-9a-f]{64}|t=179000000[0-9],v1=[0-9a-f]{64}(,v1=[0-9a-f]{2})?|\
                      179000000[0-9]|-?[0-9]{1,25}|Bearer .{0,10}|(v1,? ?=?){0,5}";

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}|url_verification|\\{\\{event\\}\\}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-c/~. ]{0,3}|type|id|event_id|payload", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_headers() -> impl Strategy<Value = Headers> {
    prop::collection::vec((NAMES, VALUES), 0..8).prop_map(Headers::new)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_made_up_request_passes(
        headers in any_headers(),
        body in prop::collection::vec(any::<u8>(), 0..40),
        now in prop_oneof![Just(AT * 1000), any::<i64>()],
        window in any::<u32>(),
        secret in "\\PC{0,12}",
    ) {
        for signing in all_signings() {
            let refusal = verify(&signing, &[STANDARD_SECRET, TEXT_SECRET, ""], &headers, &body, Timestamp(now), window);
            prop_assert!(refusal.is_err());
            prop_assert!(refusal.unwrap_err().to_string().len() > 20);
            let _ = verify(&signing, &[&secret], &headers, &body, Timestamp(now), window);
            let _ = check_secret(&signing, &secret);
        }
        prop_assert!(hint_of(&secret).chars().count() <= 4);
    }

    #[test]
    fn what_is_signed_is_verified(
        id in "[!-~&&[^.]]{1,40}",
        at in 0_i64..=999_999_999_999,
        body in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let signature = sign_standard(STANDARD_SECRET, &id, at, &body).unwrap();
        let pairs = [("webhook-id", id), ("webhook-timestamp", at.to_string()), ("webhook-signature", signature)];
        let signing = all_signings().remove(0);
        let result = verify(&signing, &[STANDARD_SECRET], &Headers::new(pairs), &body, Timestamp(at * 1000), 0);
        prop_assert_eq!(result, Ok(()));
    }

    #[test]
    fn any_body_is_read_or_refused(
        body in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..60),
            "([a-c%+=&]|%[0-9a-fA-F]{2}|payload=){0,30}|[\\[\\]{}\",:0-9a-z ]{0,30}".prop_map(String::into_bytes),
            any_json().prop_map(|value| value.to_string().into_bytes()),
        ],
        media in prop::option::of("application/json|application/x-www-form-urlencoded|text/plain|\\PC{0,20}"),
    ) {
        if let Ok(payload) = read_payload(media.as_deref(), &body) {
            for signing in all_signings() {
                let _ = answer_challenge(&signing, &payload);
            }
        }
    }

    #[test]
    fn any_payload_is_filtered_and_filled_in(
        payload in any_json(),
        headers in any_headers(),
        template in "(\\{\\{|\\}\\}|[{} .:]|payload|event|header\\.x-a|:/a|\\.0|[a-cü~]){0,20}",
        pointer in "(/[a-c0-9~. ]{0,3}){0,3}",
        wanted in any_json(),
    ) {
        let values = Values { payload: &payload, headers: &headers, event: "{{hook}}", hook: "h", received: "r" };
        let filled = fill_template(&template, &values);
        prop_assert!(filled.chars().count() <= MAX_FILLED);
        if let Err(error) = check_template(&template) {
            prop_assert!(!error.hint.is_empty());
        }
        for test in [json!({"equals": wanted}), json!({"one_of": [wanted]}), json!({"contains": "a"}), json!({"exists": true})] {
            let mut filter = test;
            filter["pointer"] = Value::from(pointer.clone());
            if let Ok(filter) = serde_json::from_value::<Filter>(filter)
                && let Err(text) = check_filters(&[filter], &headers, &payload)
            {
                prop_assert!(text.chars().count() < 300, "{}", text);
            }
        }
        let place: Option<Place> = serde_json::from_value(json!({"pointer": pointer})).ok();
        for signing in all_signings() {
            if let Some(id) = find_event_id(&signing, place.as_ref(), &headers, &payload) {
                prop_assert!((1..=MAX_EVENT_ID).contains(&id.chars().count()));
            }
        }
    }
}
