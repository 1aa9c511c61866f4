use std::fmt;

use serde::{Deserialize, Serialize};

use crate::clip::clip;
use crate::error::HookError;

/// Characters of a header's name in a setting.
pub const MAX_HEADER_NAME: usize = 100;

/// Bytes of a header's value that are read.
pub const MAX_HEADER_VALUE: usize = 8_192;

/// Headers that hold a secret, or what is made from one.
const CREDENTIALS: &[&str] = &[
    "authorization",
    "cookie",
    "proxy-authorization",
    "stripe-signature",
    "svix-signature",
    "webhook-signature",
    "x-gitlab-token",
    "x-hub-signature",
    "x-hub-signature-256",
    "x-slack-signature",
];

/// The name of a header in a setting, in lower case. Whoever holds one knows that it is valid: reading it checks it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HeaderName(String);

impl HeaderName {
    /// Reads a name in any case.
    pub fn parse(name: &str) -> Result<Self, HookError> {
        // RFC 9110, section 5.6.2.
        let is_sign = |c: char| "!#$%&'*+-.^_`|~".contains(c);
        let is_valid = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || is_sign(c));
        if is_valid && name.len() <= MAX_HEADER_NAME {
            return Ok(Self(name.to_ascii_lowercase()));
        }
        Err(HookError::new(
            format!("`{}` isn't the name of a header.", clip(name, 40)),
            format!(
                "Use letters, digits and hyphens, at most {MAX_HEADER_NAME} characters; for example `X-GitHub-Event`."
            ),
        ))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The header that most senders put a token into.
    pub(crate) fn authorization() -> Self {
        Self("authorization".to_owned())
    }

    /// Whether senders are known to put a secret or a signature there.
    pub(crate) fn is_credential(&self) -> bool {
        CREDENTIALS.contains(&self.as_str())
    }
}

impl TryFrom<String> for HeaderName {
    type Error = HookError;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::parse(&name)
    }
}

impl From<HeaderName> for String {
    fn from(name: HeaderName) -> Self {
        name.0
    }
}

impl fmt::Display for HeaderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The headers of a request in their order, names in lower case. What it shows for debugging has no values, since some are
/// secrets.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(String, String)>", into = "Vec<(String, String)>")]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    pub fn new(pairs: impl IntoIterator<Item = (impl AsRef<str>, impl Into<String>)>) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.as_ref().to_ascii_lowercase(), value.into())).collect())
    }

    /// The first value under a name in any case, without white space around it; its first [`MAX_HEADER_VALUE`] bytes.
    pub fn get(&self, name: &str) -> Option<&str> {
        let value = self.list(name).next()?;
        Some(&value[..value.floor_char_boundary(MAX_HEADER_VALUE)])
    }

    /// Names and values as they came.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// All values under a name in any case, whole.
    pub(crate) fn list(&self, name: &str) -> impl Iterator<Item = &str> {
        let same = move |(held, _): &&(String, String)| held.eq_ignore_ascii_case(name);
        self.0.iter().filter(same).map(|(_, value)| value.trim_matches([' ', '\t']))
    }

    /// Without those that are known to hold a credential, and without `name`.
    pub(crate) fn without_credentials(&self, name: Option<&HeaderName>) -> Self {
        let is_kept = |held: &str| !CREDENTIALS.contains(&held) && name.is_none_or(|name| name.as_str() != held);
        Self(self.0.iter().filter(|(held, _)| is_kept(held)).cloned().collect())
    }
}

impl From<Vec<(String, String)>> for Headers {
    fn from(pairs: Vec<(String, String)>) -> Self {
        Self::new(pairs)
    }
}

impl From<Headers> for Vec<(String, String)> {
    fn from(headers: Headers) -> Self {
        headers.0
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}
