//! Random secrets. They are shown once and kept as hashes.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::Rng;
use subtle::ConstantTimeEq;

fn random(bytes: usize) -> Vec<u8> {
    let mut buffer = vec![0u8; bytes];
    rand::rng().fill_bytes(&mut buffer);
    buffer
}

/// `bytes` random bytes as hexadecimal.
pub(crate) fn hexadecimal(bytes: usize) -> String {
    hex::encode(random(bytes))
}

/// A refresh token: 32 random bytes in base64url.
pub(crate) fn refresh_token() -> String {
    URL_SAFE_NO_PAD.encode(random(32))
}

/// Whether two hashes are the same; takes as long wherever they differ.
pub(crate) fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}
