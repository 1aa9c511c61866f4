use base64::Engine;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::general_purpose::STANDARD as BASE64;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::error::HookError;
use crate::signing::Signing;

/// What stands before the base64 of a Standard Webhooks secret.
const STANDARD_PREFIX: &str = "whsec_";

/// Bytes of a key of Standard Webhooks. The specification wants 24 to 64; senders have shorter ones.
const MIN_KEY: usize = 16;
const MAX_KEY: usize = 64;

/// Characters of any other secret.
const MIN_SECRET: usize = 8;
const MAX_SECRET: usize = 512;

/// Reads secrets as other libraries do: without padding, too, and with bits left over at the end.
const KEY: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The key that a secret of Standard Webhooks stands for; `None`: it isn't base64, or nothing.
pub(crate) fn decode_key(secret: &str) -> Option<Vec<u8>> {
    let text = secret.strip_prefix(STANDARD_PREFIX).unwrap_or(secret);
    KEY.decode(text).ok().filter(|key| !key.is_empty())
}

/// Says whether a secret that somebody enters is usable: for Standard Webhooks base64 of 16 to 64 bytes, else 8 to 512
/// characters.
pub fn check_secret(signing: &Signing, text: &str) -> Result<(), HookError> {
    let new = HookError::new;
    if text.trim().is_empty() {
        return Err(new("The secret is empty.", "Enter the one that the sender uses, or have a new one made."));
    }
    if text.trim() != text {
        return Err(new(
            "The secret begins or ends with white space.",
            "Copy it again without spaces and line breaks.",
        ));
    }
    match signing {
        Signing::Standard => check_key(text),
        Signing::Gitlab if text.starts_with(STANDARD_PREFIX) => check_key(text),
        Signing::Gitlab | Signing::Token { .. } if !text.is_ascii() => Err(new(
            "The secret has characters that a header can't carry.",
            "Use letters, digits and signs of ASCII only.",
        )),
        Signing::Stripe if ["sk_", "rk_", "pk_"].iter().any(|prefix| text.starts_with(prefix)) => Err(new(
            "This is a key of Stripe's API, not the secret of a webhook.",
            "Take the signing secret of the endpoint, from Developers, Webhooks; it begins with `whsec_`.",
        )),
        Signing::Slack if text.starts_with("xox") || text.starts_with("xapp-") => Err(new(
            "This is a token of Slack's API, not the signing secret.",
            "Take the signing secret of the app, from Basic Information, App Credentials.",
        )),
        _ => check_text(text),
    }
}

fn check_key(text: &str) -> Result<(), HookError> {
    if text.starts_with("whsk_") || text.starts_with("whpk_") {
        return Err(HookError::new(
            "This is a key for asymmetric signatures (`v1a`), which aren't supported.",
            "Choose symmetric signatures (`v1`) at the sender; their secret begins with `whsec_`.",
        ));
    }
    let Some(key) = decode_key(text) else {
        return Err(HookError::new(
            "The secret isn't base64.",
            "Copy all of it, from `whsec_` to the last character; it has letters, digits, `+`, `/` and `=` only.",
        ));
    };
    if (MIN_KEY..=MAX_KEY).contains(&key.len()) {
        return Ok(());
    }
    let side = if key.len() < MIN_KEY { "short" } else { "long" };
    Err(HookError::new(
        format!("The secret is too {side}: it stands for {} bytes.", key.len()),
        format!("Use {MIN_KEY} to {MAX_KEY} random bytes, as base64; 32 are usual."),
    ))
}

fn check_text(text: &str) -> Result<(), HookError> {
    let length = text.chars().count();
    let problem = if text.chars().any(char::is_control) {
        "has characters that can't be seen"
    } else if length < MIN_SECRET {
        "is too short to be one"
    } else if length > MAX_SECRET {
        "is too long"
    } else {
        return Ok(());
    };
    Err(HookError::new(
        format!("The secret {problem}."),
        format!("Use {MIN_SECRET} to {MAX_SECRET} visible characters that nobody can guess, such as 32 random bytes."),
    ))
}

/// A new secret from random bytes: `whsec_` and base64 for Standard Webhooks, else hexadecimal.
pub fn make_secret(signing: &Signing, random: [u8; 32]) -> String {
    match signing {
        Signing::Standard => format!("{STANDARD_PREFIX}{}", BASE64.encode(random)),
        _ => hex::encode(random),
    }
}

/// The last four characters of a secret, by which its owner knows it again; nothing of one that has less than eight.
pub fn hint_of(secret: &str) -> String {
    let length = secret.chars().count();
    if length < MIN_SECRET { String::new() } else { secret.chars().skip(length - 4).collect() }
}
