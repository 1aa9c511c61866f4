//! Where a call goes.

use super::FILE;
use crate::error::ToolsError;
use secrecy::{ExposeSecret as _, SecretString};
use steward_core::ports::OpenedCredential;
use steward_core::skill::SqlSpec;
use steward_sandbox::sql::remote::Remote;
use url::Url;

pub(super) enum Target {
    File(String),
    Server(SecretString),
}

/// Where a call goes: the skill's own database, with the credential's name and password where it has them, or the
/// credential's.
pub(super) fn place(spec: &SqlSpec, secret: Option<&OpenedCredential>) -> Result<Target, ToolsError> {
    if let Some(path) = spec.database.strip_prefix(FILE) {
        return Ok(Target::File(path.to_owned()));
    }
    let field = |name: &str| {
        let fields = &secret?.fields;
        fields.get(name).map(|value| value.expose_secret().to_owned())
    };
    if spec.database.is_empty()
        && let Some(url) = field("url")
    {
        if let Some(path) = url.strip_prefix(FILE) {
            return Ok(Target::File(path.to_owned()));
        }
        if !Remote::is_url(&url) {
            return Err(ToolsError::refused(
                "the credential's `url` is none of sqlite:PATH, postgres://, mysql:// and mariadb://; correct the credential",
            ));
        }
        return Ok(Target::Server(url.into()));
    }
    let text = if spec.database.is_empty() {
        let need = |name: &str| {
            field(name).ok_or_else(|| {
                ToolsError::Refused(format!(
                    "neither the skill names a database nor the credential a `url` or `{name}`; name one"
                ))
            })
        };
        let port = field("port").map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}/{}", need("engine")?, need("host")?, need("database")?)
    } else {
        spec.database.clone()
    };
    let bad = || {
        ToolsError::Refused(
            "the database is none of sqlite:PATH, postgres://…, mysql://… and mariadb://…; correct the skill"
                .to_owned(),
        )
    };
    let mut url = Url::parse(&text).map_err(|_| bad())?;
    if !Remote::is_url(url.as_str()) {
        return Err(bad());
    }
    if let Some(name) = field("username") {
        url.set_username(&name).map_err(|()| bad())?;
    }
    if let Some(password) = field("password") {
        url.set_password(Some(&password)).map_err(|()| bad())?;
    }
    Ok(Target::Server(url.to_string().into()))
}

/// A server and its database, whoever asks.
pub(super) fn without_user(url: &str) -> String {
    Url::parse(url).map_or_else(
        |_| String::new(),
        |mut url| {
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.to_string()
        },
    )
}

/// Where it goes, for people: no name, no password.
pub(super) fn shown(spec: &SqlSpec) -> String {
    if spec.database.is_empty() {
        return "the credential's database".to_owned();
    }
    match Url::parse(&spec.database) {
        Ok(mut url) if Remote::is_url(url.as_str()) => {
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.to_string()
        }
        _ => spec.database.clone(),
    }
}
