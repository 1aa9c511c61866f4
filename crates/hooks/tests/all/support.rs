use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use steward_core::Timestamp;
use steward_hooks::{Headers, Refusal, Signing, sign_standard, verify};

/// When the requests of the tests are signed, in seconds since 1970.
pub const AT: i64 = 1_790_000_000;
pub const WINDOW: u32 = 300;
pub const STANDARD_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
pub const TEXT_SECRET: &str = "8f742231b10e8888abcd99yyyzzz85a5";
pub const BODY: &[u8] = br#"{"id": "evt_1", "action": "opened"}"#;

/// Every way of signing.
pub fn all_signings() -> Vec<Signing> {
    ["standard", "github", "stripe", "slack", "gitlab", "token"].map(signing).to_vec()
}

pub fn signing(kind: &str) -> Signing {
    serde_json::from_value(serde_json::json!({ "kind": kind })).unwrap()
}

/// A request as its sender would make it.
#[derive(Clone)]
pub struct Sent {
    pub signing: Signing,
    pub secret: &'static str,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Sent {
    /// One that is verified at [`AT`].
    pub fn new(signing: Signing) -> Self {
        let mac = |text: String| sign_hex(TEXT_SECRET, &[text.as_bytes(), BODY]);
        let (secret, headers) = match &signing {
            Signing::Standard => (STANDARD_SECRET, list_standard("webhook")),
            Signing::Github => (TEXT_SECRET, vec![("X-Hub-Signature-256", format!("sha256={}", mac(String::new())))]),
            Signing::Stripe => {
                (TEXT_SECRET, vec![("Stripe-Signature", format!("t={AT},v1={}", mac(format!("{AT}."))))])
            }
            Signing::Slack => (
                TEXT_SECRET,
                vec![
                    ("X-Slack-Request-Timestamp", AT.to_string()),
                    ("X-Slack-Signature", format!("v0={}", mac(format!("v0:{AT}:")))),
                ],
            ),
            Signing::Gitlab => (TEXT_SECRET, vec![("X-Gitlab-Token", TEXT_SECRET.to_owned())]),
            Signing::Token { .. } => (TEXT_SECRET, vec![("Authorization", format!("Bearer {TEXT_SECRET}"))]),
        };
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { signing, secret, headers, body: BODY.to_vec() }
    }

    /// GitLab's with a signing token.
    pub fn signed_gitlab() -> Self {
        Self { signing: Signing::Gitlab, ..Self::new(Signing::Standard) }
    }

    /// Standard Webhooks under the names of Svix.
    pub fn svix() -> Self {
        let headers = list_standard("svix").into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { headers, ..Self::new(Signing::Standard) }
    }

    pub fn all() -> Vec<Self> {
        let plain = all_signings().into_iter().map(Self::new);
        plain.chain([Self::signed_gitlab(), Self::svix()]).collect()
    }

    pub fn set(mut self, name: &str, value: impl Into<String>) -> Self {
        let held = self.headers.iter_mut().find(|(held, _)| held.eq_ignore_ascii_case(name));
        held.expect("a header of the request").1 = value.into();
        self
    }

    pub fn value(&self, name: &str) -> String {
        Headers::new(self.headers.clone()).get(name).expect("a header of the request").to_owned()
    }

    pub fn verify(&self) -> Result<(), Refusal> {
        self.verify_with(&[self.secret], AT * 1000)
    }

    /// `now` is in milliseconds.
    pub fn verify_with(&self, secrets: &[&str], now: i64) -> Result<(), Refusal> {
        let headers = Headers::new(self.headers.clone());
        verify(&self.signing, secrets, &headers, &self.body, Timestamp(now), WINDOW)
    }
}

fn list_standard(prefix: &str) -> Vec<(&'static str, String)> {
    let signature = sign_standard(STANDARD_SECRET, "msg_1", AT, BODY).unwrap();
    let names = match prefix {
        "svix" => ["svix-id", "svix-timestamp", "svix-signature"],
        _ => ["webhook-id", "webhook-timestamp", "webhook-signature"],
    };
    names.into_iter().zip(["msg_1".to_owned(), AT.to_string(), signature]).collect()
}

/// HMAC-SHA256 in hexadecimal, apart from the room's own.
pub fn sign_hex(secret: &str, pieces: &[&[u8]]) -> String {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(secret.as_bytes()).unwrap();
    for piece in pieces {
        mac.update(piece);
    }
    hex::encode(mac.finalize().into_bytes())
}
