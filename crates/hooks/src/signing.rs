use serde::{Deserialize, Serialize};

use crate::error::HookError;
use crate::headers::{HeaderName, Headers};

/// How a sender shows that a request is from it, as in `{"kind": "token", "header": "X-Api-Key"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SigningFields", into = "SigningFields")]
pub enum Signing {
    /// Standard Webhooks 1.0, symmetric (`v1`), also under the header names of Svix.
    Standard,
    /// `X-Hub-Signature-256`. It covers the body only: neither a time nor the other headers, so a copy of a request is valid
    /// for ever and only its id tells that it is one.
    Github,
    /// `Stripe-Signature`.
    Stripe,
    /// `X-Slack-Signature` and `X-Slack-Request-Timestamp`.
    Slack,
    /// Standard Webhooks where there is a `webhook-signature` (newer GitLab with a signing token), else `X-Gitlab-Token`.
    Gitlab,
    /// The secret itself in a header, by itself or after `Bearer`.
    Token { header: HeaderName },
}

impl Signing {
    /// Who sends so, as said in a sentence.
    pub fn sender(&self) -> &'static str {
        match self {
            Self::Standard | Self::Token { .. } => "the sender",
            Self::Github => "GitHub",
            Self::Stripe => "Stripe",
            Self::Slack => "Slack",
            Self::Gitlab => "GitLab",
        }
    }

    /// The headers without secrets and signatures: what may be kept, filtered by, and filled in.
    #[must_use]
    pub fn remove_credentials(&self, headers: &Headers) -> Headers {
        let header = if let Self::Token { header } = self { Some(header) } else { None };
        headers.without_credentials(header)
    }
}

// A tagged enum of serde's would take unknown fields beside a kind that has none.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SigningFields {
    kind: SigningKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    header: Option<HeaderName>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SigningKind {
    Standard,
    Github,
    Stripe,
    Slack,
    Gitlab,
    Token,
}

impl TryFrom<SigningFields> for Signing {
    type Error = HookError;

    fn try_from(fields: SigningFields) -> Result<Self, Self::Error> {
        if fields.header.is_some() && fields.kind != SigningKind::Token {
            return Err(HookError::new(
                "Only the kind `token` has a `header`.",
                "Leave it out: the other kinds have headers of their own.",
            ));
        }
        Ok(match fields.kind {
            SigningKind::Standard => Self::Standard,
            SigningKind::Github => Self::Github,
            SigningKind::Stripe => Self::Stripe,
            SigningKind::Slack => Self::Slack,
            SigningKind::Gitlab => Self::Gitlab,
            SigningKind::Token => Self::Token { header: fields.header.unwrap_or_else(HeaderName::authorization) },
        })
    }
}

impl From<Signing> for SigningFields {
    fn from(signing: Signing) -> Self {
        let (kind, header) = match signing {
            Signing::Standard => (SigningKind::Standard, None),
            Signing::Github => (SigningKind::Github, None),
            Signing::Stripe => (SigningKind::Stripe, None),
            Signing::Slack => (SigningKind::Slack, None),
            Signing::Gitlab => (SigningKind::Gitlab, None),
            Signing::Token { header } => (SigningKind::Token, Some(header)),
        };
        Self { kind, header }
    }
}
