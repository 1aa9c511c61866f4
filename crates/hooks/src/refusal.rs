use std::fmt;

/// Why a request isn't taken. What it says never has a secret, a signature or a value from the request in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The hook has no secret.
    NoSecret,
    /// None of the hook's secrets can be used for this way of signing.
    UnusableSecret,
    MissingHeader {
        name: String,
    },
    /// The header is there several times, with different values.
    RepeatedHeader {
        name: String,
    },
    /// `expected` says what the header must look like.
    MalformedHeader {
        name: String,
        expected: &'static str,
    },
    /// It was sent `seconds` ago.
    TooOld {
        seconds: u64,
        window_seconds: u32,
    },
    /// It says that it will be sent in `seconds`.
    TooNew {
        seconds: u64,
        window_seconds: u32,
    },
    /// `sender` is who should have signed it.
    WrongSignature {
        sender: &'static str,
    },
    /// The header doesn't hold one of the secrets.
    WrongToken {
        name: String,
    },
}

impl Refusal {
    /// What is wrong, as a sentence.
    pub fn problem(&self) -> String {
        match self {
            Self::NoSecret => "The webhook has no secret, so nothing can be verified.".to_owned(),
            Self::UnusableSecret => "The webhook's secret isn't base64, so no signature can be verified.".to_owned(),
            Self::MissingHeader { name } => format!("The header `{name}` is missing or empty."),
            Self::RepeatedHeader { name } => format!("The header `{name}` is there twice, with different values."),
            Self::MalformedHeader { name, expected } => format!("The header `{name}` isn't {expected}."),
            Self::TooOld { seconds, window_seconds } => {
                format!("The request was signed {seconds} s ago; at most {window_seconds} s are allowed.")
            }
            Self::TooNew { seconds, window_seconds } => {
                format!("The request was signed {seconds} s in the future; at most {window_seconds} s are allowed.")
            }
            Self::WrongSignature { .. } => "The signature doesn't match.".to_owned(),
            Self::WrongToken { name } => format!("The token in `{name}` is wrong."),
        }
    }

    /// What the sender or the owner of the hook should do, as a sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::NoSecret => "Have a secret made for the webhook and enter it at the sender.".to_owned(),
            Self::UnusableSecret => {
                "Enter the signing secret of the sender at the webhook; it begins with `whsec_`.".to_owned()
            }
            Self::MissingHeader { name } => format!(
                "Check that the sender has a secret and sends `{name}`, that no proxy removes it, and that the webhook's way \
                 of signing is the sender's."
            ),
            Self::RepeatedHeader { name } => format!("Send `{name}` once; look for a proxy that adds another one."),
            Self::MalformedHeader { .. } => {
                "Check that the webhook's way of signing is the sender's, and that no proxy changes headers.".to_owned()
            }
            Self::TooOld { .. } => {
                "Sign each try with its own time, and check the clocks of the sender and of this server.".to_owned()
            }
            Self::TooNew { .. } => "Check the clocks of the sender and of this server.".to_owned(),
            Self::WrongSignature { sender } => format!(
                "Check that the webhook has the secret that {sender} signs with, and that nothing between changes the body: \
                 it must arrive byte for byte as it was signed."
            ),
            Self::WrongToken { name } => {
                format!("Send the webhook's secret in `{name}`, or enter the sender's token as the webhook's secret.")
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.problem(), self.hint())
    }
}

impl std::error::Error for Refusal {}
