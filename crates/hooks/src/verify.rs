use base64::Engine;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use sha2::{Digest, Sha256};
use steward_core::Timestamp;
use subtle::{Choice, ConstantTimeEq};

use crate::headers::{Headers, MAX_HEADER_VALUE};
use crate::refusal::Refusal;
use crate::secret::decode_key;
use crate::signing::Signing;
use crate::standard::{VERSION, choose_names, compute_hmac, is_valid_id};

/// HMAC-SHA256, as it is or as it should be.
type Signature = [u8; 32];

/// Reads signatures with or without padding, and otherwise in one way only.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

const GITHUB_SIGNATURE: &str = "x-hub-signature-256";
const STRIPE_SIGNATURE: &str = "stripe-signature";
const SLACK_SIGNATURE: &str = "x-slack-signature";
const SLACK_TIMESTAMP: &str = "x-slack-request-timestamp";
const GITLAB_TOKEN: &str = "x-gitlab-token";

/// What a header with a time must be.
const SECONDS: &str = "a time in whole seconds since 1970";

/// Says whether a request is from who shares one of `secrets`, and new where its way of signing covers a time.
///
/// `window_seconds` is how far that time may be from `now`, in both directions. A secret is one of those that
/// [`check_secret`](crate::check_secret) takes; empty ones are passed over.
pub fn verify(
    signing: &Signing,
    secrets: &[&str],
    headers: &Headers,
    body: &[u8],
    now: Timestamp,
    window_seconds: u32,
) -> Result<(), Refusal> {
    let secrets: Vec<&str> = secrets.iter().copied().filter(|secret| !secret.trim().is_empty()).collect();
    if secrets.is_empty() {
        return Err(Refusal::NoSecret);
    }
    let request = Request { sender: signing.sender(), secrets: &secrets, headers, body, now, window_seconds };
    match signing {
        Signing::Standard => request.verify_standard(),
        Signing::Github => request.verify_github(),
        Signing::Stripe => request.verify_stripe(),
        Signing::Slack => request.verify_slack(),
        Signing::Gitlab if headers.list("webhook-signature").next().is_some() => request.verify_standard(),
        Signing::Gitlab => request.verify_token(GITLAB_TOKEN),
        Signing::Token { header } => request.verify_token(header.as_str()),
    }
}

struct Request<'r> {
    sender: &'static str,
    /// None is empty.
    secrets: &'r [&'r str],
    headers: &'r Headers,
    body: &'r [u8],
    now: Timestamp,
    window_seconds: u32,
}

impl<'r> Request<'r> {
    fn verify_standard(&self) -> Result<(), Refusal> {
        let names = choose_names(self.headers);
        let signatures = self.read_header(names.signature)?;
        let id = self.read_header(names.id)?;
        if !is_valid_id(id) {
            return Err(refuse_form(names.id, "an id without full stops and spaces"));
        }
        let timestamp = self.read_header(names.timestamp)?;
        self.check_time(timestamp, || refuse_form(names.timestamp, SECONDS))?;
        let keys: Vec<Vec<u8>> = self.secrets.iter().filter_map(|secret| decode_key(secret)).collect();
        if keys.is_empty() {
            return Err(Refusal::UnusableSecret);
        }
        let entries = signatures.split_ascii_whitespace().filter_map(|entry| entry.strip_prefix(VERSION));
        let given: Vec<Signature> = entries.filter_map(|text| BASE64.decode(text).ok()?.try_into().ok()).collect();
        if given.is_empty() {
            return Err(refuse_form(names.signature, "a list of signatures with a `v1,` and base64 among them"));
        }
        let keys = keys.iter().map(Vec::as_slice);
        self.check_signature(keys, &[id.as_bytes(), b".", timestamp.as_bytes(), b".", self.body], &given)
    }

    fn verify_github(&self) -> Result<(), Refusal> {
        let given = self.read_header(GITHUB_SIGNATURE)?;
        let given = given.strip_prefix("sha256=").and_then(decode_hex);
        let given = given.ok_or_else(|| refuse_form(GITHUB_SIGNATURE, "`sha256=` and 64 hexadecimal digits"))?;
        self.check_signature(self.list_text_keys(), &[self.body], &[given])
    }

    fn verify_stripe(&self) -> Result<(), Refusal> {
        let wrong = || {
            refuse_form(
                STRIPE_SIGNATURE,
                "a list with one `t=` in whole seconds since 1970 and a `v1=` with 64 hexadecimal digits",
            )
        };
        let given = self.read_header(STRIPE_SIGNATURE)?;
        let entries = || given.split(',').filter_map(|entry| entry.trim().split_once('='));
        let mut times = entries().filter(|(key, _)| *key == "t").map(|(_, value)| value);
        let (Some(timestamp), None) = (times.next(), times.next()) else {
            return Err(wrong());
        };
        self.check_time(timestamp, wrong)?;
        let given = entries().filter(|(key, _)| *key == "v1").filter_map(|(_, value)| decode_hex(value));
        let given: Vec<Signature> = given.collect();
        if given.is_empty() {
            return Err(wrong());
        }
        self.check_signature(self.list_text_keys(), &[timestamp.as_bytes(), b".", self.body], &given)
    }

    fn verify_slack(&self) -> Result<(), Refusal> {
        let given = self.read_header(SLACK_SIGNATURE)?;
        let timestamp = self.read_header(SLACK_TIMESTAMP)?;
        self.check_time(timestamp, || refuse_form(SLACK_TIMESTAMP, SECONDS))?;
        let given = given.strip_prefix("v0=").and_then(decode_hex);
        let given = given.ok_or_else(|| refuse_form(SLACK_SIGNATURE, "`v0=` and 64 hexadecimal digits"))?;
        self.check_signature(self.list_text_keys(), &[b"v0:", timestamp.as_bytes(), b":", self.body], &[given])
    }

    fn verify_token(&self, name: &str) -> Result<(), Refusal> {
        let given = self.read_header(name)?;
        // The digests have one length, so that the time doesn't tell that of a secret.
        let digests = [given, strip_bearer(given)].map(Sha256::digest);
        let mut found = Choice::from(0);
        for secret in self.secrets {
            let expected = Sha256::digest(secret);
            for digest in &digests {
                found |= digest.as_slice().ct_eq(expected.as_slice());
            }
        }
        if found.into() { Ok(()) } else { Err(Refusal::WrongToken { name: name.to_owned() }) }
    }

    /// The value of a header that must be there, once or always the same.
    fn read_header(&self, name: &str) -> Result<&'r str, Refusal> {
        let mut values = self.headers.list(name);
        let value = values.next().filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| Refusal::MissingHeader { name: name.to_owned() })?;
        if values.any(|other| other != value) {
            return Err(Refusal::RepeatedHeader { name: name.to_owned() });
        }
        if value.len() > MAX_HEADER_VALUE {
            return Err(refuse_form(name, "short enough to be read"));
        }
        Ok(value)
    }

    /// Whether a time in seconds since 1970 is inside the window. It is signed as it is written, so only digits are taken.
    fn check_time(&self, text: &str, wrong: impl FnOnce() -> Refusal) -> Result<(), Refusal> {
        let is_plain = (1..=12).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        let seconds = text.parse::<i64>().ok().filter(|_| is_plain);
        let seconds = seconds.ok_or_else(wrong)?;
        let sent = seconds * 1000;
        let apart = self.now.0.abs_diff(sent);
        if apart <= u64::from(self.window_seconds) * 1000 {
            return Ok(());
        }
        let (seconds, window_seconds) = (apart.div_ceil(1000), self.window_seconds);
        Err(if sent < self.now.0 {
            Refusal::TooOld { seconds, window_seconds }
        } else {
            Refusal::TooNew { seconds, window_seconds }
        })
    }

    /// The secrets as they are written.
    fn list_text_keys(&self) -> impl Iterator<Item = &'r [u8]> {
        self.secrets.iter().map(|secret| secret.as_bytes())
    }

    /// Compares all with all, so that the time doesn't tell which one it was.
    fn check_signature<'k>(
        &self,
        keys: impl Iterator<Item = &'k [u8]>,
        pieces: &[&[u8]],
        given: &[Signature],
    ) -> Result<(), Refusal> {
        let mut found = Choice::from(0);
        for expected in keys.filter_map(|key| compute_hmac(key, pieces)) {
            for signature in given {
                found |= expected.ct_eq(signature);
            }
        }
        if found.into() { Ok(()) } else { Err(Refusal::WrongSignature { sender: self.sender }) }
    }
}

fn refuse_form(name: &str, expected: &'static str) -> Refusal {
    Refusal::MalformedHeader { name: name.to_owned(), expected }
}

fn decode_hex(text: &str) -> Option<Signature> {
    let mut signature = Signature::default();
    hex::decode_to_slice(text, &mut signature).ok()?;
    Some(signature)
}

/// The token after `Bearer`; all of it where there is no such word.
fn strip_bearer(value: &str) -> &str {
    match value.split_once([' ', '\t']) {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim_start_matches([' ', '\t']),
        _ => value,
    }
}
