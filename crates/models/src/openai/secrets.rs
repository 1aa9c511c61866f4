use std::fmt;
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};

type Lookup = dyn Fn(&str) -> Option<SecretString> + Send + Sync;

/// Finds keys by the names of their environment variables. The binary decides where they lie.
#[derive(Clone)]
pub struct Secrets(Arc<Lookup>);

impl Secrets {
    /// Asks `lookup` at each call, so that a changed key needs no restart.
    pub fn new(lookup: impl Fn(&str) -> Option<SecretString> + Send + Sync + 'static) -> Self {
        Self(Arc::new(lookup))
    }

    /// Knows none.
    pub fn none() -> Self {
        Self::new(|_| None)
    }

    /// The key of this name, if it is set and not blank.
    pub fn get(&self, name: &str) -> Option<SecretString> {
        (self.0)(name).filter(|key| !key.expose_secret().trim().is_empty())
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

/// Longest raw text that an error keeps, bytes.
const DETAIL_LIMIT: usize = 2048;

/// `text` without the secrets, cut to what an error keeps.
pub(super) fn scrub(text: &str, secrets: &[SecretString]) -> String {
    let mut text = text.to_owned();
    for secret in secrets {
        let secret = secret.expose_secret().trim();
        // A shorter one is no secret, and taking it out would leave nothing readable.
        if secret.len() >= 4 {
            text = text.replace(secret, "[secret]");
        }
    }
    if text.len() <= DETAIL_LIMIT {
        return text;
    }
    let end = (0..=DETAIL_LIMIT)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    format!("{}… [{} bytes cut]", &text[..end], text.len() - end)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn keys_are_taken_out_before_the_cut() {
        let key = [SecretString::from("sk-1234567890")];
        let long = format!("{}sk-1234567890", "é".repeat(1020));
        let kept = scrub(&long, &key);
        assert!(!kept.contains("sk-12"), "{kept}");
        assert!(kept.len() < 2100);
        assert_eq!(
            scrub("key sk-1234567890 is wrong", &key),
            "key [secret] is wrong"
        );
    }

    #[test]
    fn blank_keys_are_none() {
        assert!(Secrets::new(|_| Some(" ".into())).get("X").is_none());
        assert!(Secrets::none().get("X").is_none());
        assert_eq!(
            format!("{:?}", Secrets::new(|_| Some("k3y".into()))),
            "Secrets"
        );
    }
}
