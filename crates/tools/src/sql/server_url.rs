use secrecy::{ExposeSecret as _, SecretString};
use steward_core::ports::OpenedCredential;
use steward_sandbox::sql::remote::Remote;
use url::Url;

/// The address of a database server, with the login of the credential if it has one.
pub fn server_url(text: &str, secret: Option<&OpenedCredential>) -> Result<SecretString, String> {
    let bad = || {
        "the database is none of sqlite:PATH, postgres://HOST/NAME, mysql://HOST/NAME and mariadb://HOST/NAME; correct it"
            .to_owned()
    };
    let field = |name: &str| {
        let fields = &secret?.fields;
        fields.get(name).map(|value| value.expose_secret().to_owned())
    };
    let mut url = Url::parse(text).map_err(|_| bad())?;
    if !Remote::is_url(url.as_str()) {
        return Err(bad());
    }
    if let Some(name) = field("username") {
        url.set_username(&name).map_err(|()| bad())?;
    }
    if let Some(password) = field("password") {
        url.set_password(Some(&password)).map_err(|()| bad())?;
    }
    Ok(url.to_string().into())
}
