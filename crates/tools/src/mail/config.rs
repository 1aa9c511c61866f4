use super::compose;
use crate::error::{ToolsError, refused};
use crate::outbound::HostPort;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use url::Url;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    /// TLS from the first byte.
    Tls,
    /// TLS after STARTTLS; refused where the server doesn't offer it.
    StartTls,
    /// No TLS: only to this machine, or to a server that the operator allows.
    Plain,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailServer {
    pub host: String,
    pub port: u16,
    pub security: Security,
}

impl fmt::Display for MailServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl MailServer {
    /// Reads `smtps://host`, `smtp://host:587` or `smtp+plain://127.0.0.1:2525`, where `protocol` is `smtp` or `imap`.
    pub fn parse(text: &str, protocol: &str) -> Result<Self, ToolsError> {
        let bad = |why: &str| {
            refused!(
                "`{text}` is no mail server ({why}); write it as {protocol}s://mail.example.org, or {protocol}://mail.example.org for STARTTLS"
            )
        };
        let url = Url::parse(text.trim()).map_err(|error| bad(&error.to_string()))?;
        let security = match url.scheme().strip_prefix(protocol) {
            Some("s") => Security::Tls,
            Some("") => Security::StartTls,
            Some("+plain") => Security::Plain,
            _ => return Err(bad("it must begin with its protocol")),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("user and password belong into a credential"));
        }
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return Err(bad("it must end after the port"));
        }
        let host = url.host_str().filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| bad("it names no host"))?;
        let usual = match (protocol, security) {
            ("smtp", Security::Tls) => 465,
            ("smtp", _) => 587,
            (_, Security::Tls) => 993,
            _ => 143,
        };
        Ok(Self { host: host.trim_matches(['[', ']']).to_owned(), port: url.port().unwrap_or(usual), security })
    }
}

#[derive(Debug, Clone)]
pub struct MailAccount {
    pub name: String,
    pub from: String,
    pub credential: Option<String>,
    pub smtp: Option<MailServer>,
    pub imap: Option<MailServer>,
    /// PEM of a certificate authority to trust beside the system's.
    pub ca: Option<Vec<u8>>,
    /// Mail addresses of the users whose runs may use it; empty: all.
    pub users: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub struct MailConfig {
    /// The first one is the default.
    pub accounts: Vec<MailAccount>,
    pub allow: Vec<HostPort>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    default: Option<String>,
    #[serde(default)]
    accounts: BTreeMap<String, Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    from: String,
    credential: Option<String>,
    smtp: Option<String>,
    imap: Option<String>,
    ca: Option<String>,
    #[serde(default)]
    users: Vec<String>,
}

impl MailConfig {
    /// Reads a settings file (TOML); `load` reads the files that it names.
    pub fn parse(text: &str, load: impl Fn(&str) -> std::io::Result<Vec<u8>>) -> Result<Self, ToolsError> {
        let file: File = toml::from_str(text).map_err(|error| refused!("the mail accounts can't be read: {error}"))?;
        let mut accounts = Vec::new();
        for (name, row) in file.accounts {
            let account = account(&name, row, &load);
            accounts.push(account.map_err(|error| refused!("the mail account {name}: {error}"))?);
        }
        if let Some(first) = file.default {
            let at = accounts.iter().position(|account: &MailAccount| account.name == first);
            let at = at.ok_or_else(|| refused!("`default` names the mail account {first}, which is not there"))?;
            accounts[..=at].rotate_right(1);
        }
        Ok(Self { accounts, allow: Vec::new() })
    }
}

fn account(name: &str, row: Row, load: impl Fn(&str) -> std::io::Result<Vec<u8>>) -> Result<MailAccount, ToolsError> {
    let [from] =
        compose::recipients(&row.from)?.try_into().map_err(|_| ToolsError::refused("`from` must be one address"))?;
    if row.smtp.is_none() && row.imap.is_none() {
        return Err(ToolsError::refused("it needs `smtp`, `imap`, or both"));
    }
    let server = |text: Option<String>, protocol: &str| text.map(|text| MailServer::parse(&text, protocol)).transpose();
    let ca = row.ca.map(|path| load(&path).map_err(|error| refused!("`ca`: {path} can't be read: {error}")));
    Ok(MailAccount {
        name: name.to_owned(),
        from,
        credential: row.credential,
        smtp: server(row.smtp, "smtp")?,
        imap: server(row.imap, "imap")?,
        ca: ca.transpose()?,
        users: row.users,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{MailConfig, MailServer, Security};

    #[test]
    fn servers() {
        let read = |text: &str| MailServer::parse(text, "smtp");
        for (text, host, port, security) in [
            ("smtps://mail.example.org", "mail.example.org", 465, Security::Tls),
            ("smtp://mail.example.org", "mail.example.org", 587, Security::StartTls),
            ("smtp+plain://[::1]:2525", "::1", 2525, Security::Plain),
        ] {
            let server = read(text).unwrap();
            assert_eq!((server.host.as_str(), server.port, server.security), (host, port, security));
        }
        assert_eq!(MailServer::parse("imap://x", "imap").unwrap().port, 143);
        for (bad, expect) in [
            ("mail.example.org", "no mail server"),
            ("imaps://mail.example.org", "begin with its protocol"),
            ("smtps://ann:pw@mail.example.org", "belong into a credential"),
            ("smtps://mail.example.org/x", "end after the port"),
            ("smtps://", "no mail server"),
        ] {
            let error = read(bad).unwrap_err().to_string();
            assert!(error.contains(expect), "{bad}: {error}");
        }
    }

    #[test]
    fn accounts() {
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let text = "default = 'work'\n[accounts.home]\nfrom = 'a@b.c'\nimap = 'imaps://b.c'\n\
                    [accounts.work]\nfrom = 'Ann <a@w.x>'\ncredential = 'work'\nsmtp = 'smtp://w.x'\nusers = ['a@w.x']\n";
        let config = MailConfig::parse(text, none).unwrap();
        let names: Vec<&str> = config.accounts.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["work", "home"]);
        for (bad, expect) in [
            ("[accounts.x]\nfrom = 'a@b.c'\n", "needs `smtp`, `imap`"),
            ("[accounts.x]\nfrom = 'nobody'\nimap = 'imaps://b.c'\n", "no mail address"),
            ("[accounts.x]\nfrom = 'a@b.c, d@e.f'\nimap = 'imaps://b.c'\n", "one address"),
            ("[accounts.x]\nfrom = 'a@b.c'\nimap = 'imaps://b.c'\npassword = 'x'\n", "password"),
            ("[accounts.x]\nfrom = 'a@b.c'\nimap = 'imaps://b.c'\nca = 'x.pem'\n", "x.pem can't be read"),
            ("default = 'y'\n", "is not there"),
        ] {
            let error = MailConfig::parse(bad, none).unwrap_err().to_string();
            assert!(error.contains(expect), "{bad}: {error}");
        }
    }
}
