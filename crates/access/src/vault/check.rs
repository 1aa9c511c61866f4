//! What a credential must look like.

use secrecy::ExposeSecret;
use steward_core::Timestamp;
use steward_core::credential::CredentialKind;
use steward_core::ports::VaultError;

use super::sealing::Fields;

/// Longest name, characters.
const NAME: usize = 128;
/// Longest description, characters.
const DESCRIPTION: usize = 2000;
const FIELDS: usize = 32;
/// Longest value, bytes.
const VALUE: usize = 64 * 1024;

fn wrong<T>(message: String) -> Result<T, VaultError> {
    Err(VaultError::Invalid(message))
}

pub(super) fn name(name: &str) -> Result<(), VaultError> {
    let length = name.chars().count();
    if length == 0 || length > NAME || name.trim() != name || name.chars().any(char::is_control) {
        return wrong(format!(
            "{name:?} is no name for a credential; choose 1 to {NAME} characters on one line, with no \
             space at the ends"
        ));
    }
    Ok(())
}

pub(super) fn description(text: &str) -> Result<(), VaultError> {
    let length = text.chars().count();
    if length > DESCRIPTION {
        return wrong(format!("the description has {length} characters; {DESCRIPTION} are the most"));
    }
    Ok(())
}

pub(super) fn ends(at: Option<Timestamp>, now: Timestamp) -> Result<(), VaultError> {
    match at {
        Some(at) if at <= now => {
            wrong(format!("expires_at is {}, which is over; choose a later time, or leave it out", at.rfc3339()))
        }
        _ => Ok(()),
    }
}

/// All fields of a credential of `kind`.
pub(super) fn fields(kind: CredentialKind, fields: &Fields) -> Result<(), VaultError> {
    let word = kind.as_str();
    if fields.len() > FIELDS {
        return wrong(format!("a credential has {FIELDS} fields at most"));
    }
    for (name, value) in fields {
        let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if name.is_empty() || name.len() > 64 || !name.bytes().all(known) {
            return wrong(format!("{name:?} is no name for a field; use a to z, 0 to 9 and _, 64 at most"));
        }
        let size = value.expose_secret().len();
        if size > VALUE {
            return wrong(format!("the field {name} has {size} bytes; {VALUE} are the most"));
        }
    }
    for field in kind.fields().iter().filter(|field| field.required) {
        if text(fields, field.name).is_none() {
            let all: Vec<_> = kind.fields().iter().map(|field| field.name).collect();
            return wrong(format!(
                "a credential of kind {word} needs the field {}; its fields are {}",
                field.name,
                all.join(", ")
            ));
        }
    }
    shape(kind, fields)
}

fn text<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    let value = fields.get(name)?.expose_secret();
    (!value.trim().is_empty()).then_some(value)
}

fn shape(kind: CredentialKind, fields: &Fields) -> Result<(), VaultError> {
    let pem = |name: &str, label: &str| match text(fields, name) {
        Some(value) if !(value.contains("-----BEGIN ") && value.contains(label)) => {
            wrong(format!("the field {name} is not PEM: it begins with -----BEGIN … {label}"))
        }
        _ => Ok(()),
    };
    match kind {
        CredentialKind::SshKey => pem("private_key", "PRIVATE KEY-----"),
        CredentialKind::Certificate => {
            pem("certificate", "CERTIFICATE-----")?;
            pem("private_key", "PRIVATE KEY-----")
        }
        CredentialKind::ApiKey => header(fields),
        CredentialKind::Oauth2 => match text(fields, "token_url") {
            Some(url) if !url.starts_with("https://") && !url.starts_with("http://") => {
                wrong("the field token_url is no address; it begins with https://".to_owned())
            }
            _ => Ok(()),
        },
        CredentialKind::Database => database(fields),
        CredentialKind::Password | CredentialKind::Token => Ok(()),
    }
}

fn header(fields: &Fields) -> Result<(), VaultError> {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    match text(fields, "header") {
        Some(name) if !name.bytes().all(token) => {
            wrong(format!("{name:?} is no name of an HTTP header; an example is X-Api-Key"))
        }
        _ => Ok(()),
    }
}

fn database(fields: &Fields) -> Result<(), VaultError> {
    if text(fields, "url").is_some() {
        return Ok(());
    }
    let Some(engine) = text(fields, "engine") else {
        return wrong("a credential of kind database needs the field url, or engine, host and database".to_owned());
    };
    if engine != "sqlite" && text(fields, "host").is_none() {
        return wrong(format!("a database credential for {engine} needs the field host"));
    }
    match text(fields, "port") {
        Some(port) if port.parse::<u16>().is_ok_and(|port| port > 0) => Ok(()),
        None => Ok(()),
        Some(_) => wrong("the field port is no number from 1 to 65535".to_owned()),
    }
}
