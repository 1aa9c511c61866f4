//! The parts of Standard Webhooks 1.0 that both directions need.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::error::HookError;
use crate::headers::Headers;
use crate::secret::decode_key;

/// What stands before each symmetric signature.
pub(crate) const VERSION: &str = "v1,";

/// The three headers.
pub(crate) struct StandardHeaders {
    pub id: &'static str,
    pub timestamp: &'static str,
    pub signature: &'static str,
}

const NAMES: StandardHeaders =
    StandardHeaders { id: "webhook-id", timestamp: "webhook-timestamp", signature: "webhook-signature" };

/// Those before the standard, which many still send.
const SVIX_NAMES: StandardHeaders =
    StandardHeaders { id: "svix-id", timestamp: "svix-timestamp", signature: "svix-signature" };

/// The three that belong together. Never one of each: the id that is verified is the one by which retries are recognised,
/// also once [`remove_credentials`](crate::Signing::remove_credentials) took the signature away.
pub(crate) fn choose_names(headers: &Headers) -> &'static StandardHeaders {
    let is_there = |name| headers.list(name).next().is_some();
    let is_svix = if is_there(NAMES.signature) || is_there(SVIX_NAMES.signature) {
        !is_there(NAMES.signature)
    } else {
        !is_there(NAMES.id) && is_there(SVIX_NAMES.id)
    };
    if is_svix { &SVIX_NAMES } else { &NAMES }
}

/// Whether `id` can be signed: with a full stop in it, one signature would fit several messages.
pub(crate) fn is_valid_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'.')
}

/// HMAC-SHA256 of what the pieces are together.
pub(crate) fn compute_hmac(key: &[u8], pieces: &[&[u8]]) -> Option<[u8; 32]> {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key).ok()?;
    for piece in pieces {
        mac.update(piece);
    }
    Some(mac.finalize().into_bytes().into())
}

/// The `webhook-signature` of a message that goes out; several, with a space between, while secrets are rotated.
///
/// `timestamp_seconds` is when it is sent, in seconds since 1970: the same text goes into `webhook-timestamp`.
pub fn sign_standard(secret: &str, id: &str, timestamp_seconds: i64, body: &[u8]) -> Result<String, HookError> {
    let key = decode_key(secret).ok_or_else(|| {
        HookError::new("The secret isn't base64.", "Use `whsec_` and the base64 of 24 to 64 random bytes.")
    })?;
    if !is_valid_id(id) {
        return Err(HookError::new(
            "The id of the message is empty, or has a full stop or characters that can't be seen.",
            "Use letters, digits, `_` and `-` only.",
        ));
    }
    if timestamp_seconds < 0 {
        return Err(HookError::new("The message is from before 1970.", "Sign it with the present time."));
    }
    let timestamp = timestamp_seconds.to_string();
    let pieces = [id.as_bytes(), b".", timestamp.as_bytes(), b".", body];
    let signature = compute_hmac(&key, &pieces)
        .ok_or_else(|| HookError::new("The secret can't be used as a key.", "Have a new one made."))?;
    Ok(format!("{VERSION}{}", BASE64.encode(signature)))
}
