//! One question to the directory: a connection, a search, a bind. Referrals are not followed.

use std::sync::Arc;
use std::time::Duration;

use ldap3::{
    Ldap, LdapConnAsync, LdapConnSettings, LdapError, Scope, SearchEntry, SearchOptions, dn_escape, ldap_escape,
};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use steward_core::sign_on::{Directory, LOGIN_PLACE};
use url::Url;

use super::distinguished_name::DistinguishedName;
use crate::AccessError;
use crate::oidc::is_loopback;

/// For all of one login.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The server's answer to a wrong password.
const INVALID_CREDENTIALS: u32 = 49;
/// There are more entries than asked for.
const SIZE_LIMIT: u32 = 4;
/// Most groups of somebody that are looked at.
const MAX_GROUPS: usize = 1000;

/// Somebody whose password was right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub id: String,
    pub email: Option<String>,
    pub name: Option<String>,
    pub groups: Vec<String>,
}

#[derive(Debug)]
pub(super) enum DirectoryProblem {
    /// Nobody has this name and this password.
    Wrong,
    Unusable(String),
}

impl From<LdapError> for DirectoryProblem {
    fn from(error: LdapError) -> Self {
        match error {
            LdapError::LdapResult { result } if result.rc == INVALID_CREDENTIALS => Self::Wrong,
            // A referral is an error like others: it may lead anywhere.
            LdapError::LdapResult { result } => Self::Unusable(format!("the server answered with code {}", result.rc)),
            other => Self::Unusable(other.to_string()),
        }
    }
}

/// Passwords only go to a server that has proved who it is, or to one on this machine.
pub(crate) fn check_directory(directory: &Directory) -> Result<(), AccessError> {
    let bad = |title: &str| Err(AccessError::invalid("url", title));
    let Ok(url) = Url::parse(&directory.url) else {
        return bad("write the address as ldaps://dc1.example.org");
    };
    let has_more = !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some();
    if has_more || !url.username().is_empty() || url.password().is_some() || url.host_str().is_none_or(str::is_empty) {
        return bad("only the server and its port stand in the address, such as ldaps://dc1.example.org:636");
    }
    match url.scheme() {
        "ldaps" if directory.start_tls => bad("ldaps is encrypted from the start; leave start_tls out"),
        "ldaps" => Ok(()),
        "ldap" if directory.start_tls || is_loopback(&url) => Ok(()),
        "ldap" => bad("passwords would go over the network in plain text; use ldaps, or set start_tls"),
        _ => bad("the address begins with ldaps:// or ldap://"),
    }?;
    match directory.ca.as_deref().map(trusted) {
        Some(Err(title)) => Err(AccessError::Invalid { field: "ca", title }),
        _ => Ok(()),
    }
}

/// `secret`: the password of the account that looks for people.
pub(super) async fn find(
    directory: &Directory,
    secret: Option<&str>,
    login: &str,
    password: &str,
) -> Result<Found, DirectoryProblem> {
    in_time(ask(directory, secret, login, password)).await
}

async fn in_time<T>(asked: impl Future<Output = Result<T, DirectoryProblem>>) -> Result<T, DirectoryProblem> {
    let late = || DirectoryProblem::Unusable(format!("there was no answer within {} s", TIMEOUT.as_secs()));
    tokio::time::timeout(TIMEOUT, asked).await.map_err(|_| late())?
}

async fn ask(
    directory: &Directory,
    secret: Option<&str>,
    login: &str,
    password: &str,
) -> Result<Found, DirectoryProblem> {
    let mut ldap = connect(directory).await?;
    let done = match (&directory.bind_dn, secret, &directory.user_template) {
        (Some(account), Some(secret), _) => {
            search_and_bind(&mut ldap, directory, (account, secret), login, password).await
        }
        (None, _, Some(template)) => bind_at_once(&mut ldap, directory, template, login, password).await,
        _ => Err(DirectoryProblem::Unusable("there is no account to look for people with".to_owned())),
    };
    let _ = ldap.unbind().await;
    done
}

/// Connects, logs the account in that looks for people, and looks for `login` if there is one. What was found, in words, and who.
pub(super) async fn look(
    directory: &Directory,
    secret: Option<&str>,
    login: Option<&str>,
) -> Result<(Vec<String>, Option<Found>), DirectoryProblem> {
    in_time(async {
        let mut ldap = connect(directory).await?;
        let found = look_with(&mut ldap, directory, secret, login).await;
        let _ = ldap.unbind().await;
        found
    })
    .await
}

async fn look_with(
    ldap: &mut Ldap,
    directory: &Directory,
    secret: Option<&str>,
    login: Option<&str>,
) -> Result<(Vec<String>, Option<Found>), DirectoryProblem> {
    let mut found = vec!["the server answers".to_owned()];
    let (Some(account), Some(secret)) = (&directory.bind_dn, secret) else {
        found.push("people bind by themselves, so nothing more can be tried without a password".to_owned());
        return Ok((found, None));
    };
    ldap.simple_bind(account, secret).await?.success()?;
    found.push("the account that looks for people is let in".to_owned());
    let Some(login) = login else { return Ok((found, None)) };
    let Some(entry) = entry_of(ldap, directory, login).await? else {
        found.push("the filter finds nobody of this name, or more than one".to_owned());
        return Ok((found, None));
    };
    let person = person(ldap, directory, &entry).await?;
    let email = person.email.as_deref().unwrap_or("none");
    found.push(format!("found {}: email {email}, {} groups", entry.dn, person.groups.len()));
    Ok((found, Some(person)))
}

async fn connect(directory: &Directory) -> Result<Ldap, DirectoryProblem> {
    let mut settings = LdapConnSettings::new().set_conn_timeout(TIMEOUT).set_starttls(directory.start_tls);
    if let Some(ca) = &directory.ca {
        let roots = trusted(ca).map_err(DirectoryProblem::Unusable)?;
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        settings = settings.set_config(Arc::new(config));
    }
    let (connection, ldap) = LdapConnAsync::with_settings(settings, &directory.url).await?;
    tokio::spawn(async move {
        if let Err(error) = connection.drive().await {
            tracing::debug!(%error, "a connection to the directory ended");
        }
    });
    Ok(ldap)
}

async fn search_and_bind(
    ldap: &mut Ldap,
    directory: &Directory,
    (account, secret): (&str, &str),
    login: &str,
    password: &str,
) -> Result<Found, DirectoryProblem> {
    if let Err(error) = ldap.simple_bind(account, secret).await?.success() {
        return Err(match error.into() {
            DirectoryProblem::Wrong => {
                DirectoryProblem::Unusable("the account that looks for people has another password".to_owned())
            }
            other @ DirectoryProblem::Unusable(_) => other,
        });
    }
    let entry = match entry_of(ldap, directory, login).await? {
        Some(entry) => Some((person(ldap, directory, &entry).await?, entry.dn)),
        None => None,
    };
    // Somebody who is not there takes as long as somebody who is.
    let name = entry.as_ref().map_or_else(|| format!("cn=nobody-here,{}", directory.base), |(_, dn)| dn.clone());
    let bound = ldap.simple_bind(&name, password).await?;
    let Some((found, _)) = entry else {
        return Err(DirectoryProblem::Wrong);
    };
    bound.success()?;
    Ok(found)
}

async fn bind_at_once(
    ldap: &mut Ldap,
    directory: &Directory,
    template: &str,
    login: &str,
    password: &str,
) -> Result<Found, DirectoryProblem> {
    let name = bind_name(template, login).ok_or(DirectoryProblem::Wrong)?;
    ldap.simple_bind(&name, password).await?.success()?;
    let entry = entry_of(ldap, directory, login).await?.ok_or_else(|| {
        DirectoryProblem::Unusable("somebody could bind, but the filter finds no single entry of theirs".to_owned())
    })?;
    // With a DN as the template it must be the one that was bound with.
    let place = DistinguishedName::parse(&entry.dn);
    if template.contains('=') && (place.is_none() || place != DistinguishedName::parse(&name)) {
        return Err(DirectoryProblem::Wrong);
    }
    person(ldap, directory, &entry).await
}

/// The only entry that fits; `None` if there is none, or more than one.
async fn entry_of(
    ldap: &mut Ldap,
    directory: &Directory,
    login: &str,
) -> Result<Option<SearchEntry>, DirectoryProblem> {
    let attributes =
        [&directory.id_attribute, &directory.email_attribute, &directory.name_attribute, &directory.groups_attribute];
    let limits = SearchOptions::new().sizelimit(2).timelimit(i32::try_from(TIMEOUT.as_secs()).unwrap_or(10));
    let filter = filter_for(&directory.filter, login);
    let result = ldap.with_search_options(limits).search(&directory.base, Scope::Subtree, &filter, attributes).await?;
    if result.1.rc == SIZE_LIMIT {
        tracing::warn!("the filter of the directory finds more than one entry");
        return Ok(None);
    }
    let (entries, _) = result.success()?;
    // What leads to another server is not followed.
    let mut entries: Vec<SearchEntry> = entries
        .into_iter()
        .filter(|entry| !entry.is_ref() && !entry.is_intermediate())
        .map(SearchEntry::construct)
        .collect();
    let only = entries.pop().filter(|entry| entries.is_empty() && !entry.dn.is_empty());
    Ok(only)
}

async fn person(ldap: &mut Ldap, directory: &Directory, entry: &SearchEntry) -> Result<Found, DirectoryProblem> {
    let texts = |name: &str| -> &[String] {
        let found = entry.attrs.iter().find(|(attribute, _)| attribute.eq_ignore_ascii_case(name));
        found.map(|(_, values)| values.as_slice()).unwrap_or_default()
    };
    let bytes = entry.bin_attrs.iter().find(|(name, _)| name.eq_ignore_ascii_case(&directory.id_attribute));
    let bytes = bytes.and_then(|(_, values)| values.first()).map(hex::encode);
    let id = texts(&directory.id_attribute).first().cloned().or(bytes);
    let groups = if directory.nested_groups {
        groups_with_nested(ldap, directory, &entry.dn).await?
    } else {
        texts(&directory.groups_attribute).iter().take(MAX_GROUPS).cloned().collect()
    };
    Ok(Found {
        id: id.unwrap_or_else(|| {
            DistinguishedName::parse(&entry.dn).map_or_else(|| entry.dn.to_lowercase(), |dn| dn.to_string())
        }),
        email: texts(&directory.email_attribute).first().cloned(),
        name: texts(&directory.name_attribute).first().cloned(),
        groups,
    })
}

async fn groups_with_nested(ldap: &mut Ldap, directory: &Directory, dn: &str) -> Result<Vec<String>, DirectoryProblem> {
    let filter = filter_of_groups(dn);
    // `1.1`: no attributes, the names will do.
    let (entries, _) = ldap.search(&directory.base, Scope::Subtree, &filter, ["1.1"]).await?.success()?;
    let entries = entries.into_iter().filter(|entry| !entry.is_ref() && !entry.is_intermediate());
    Ok(entries.map(|entry| SearchEntry::construct(entry).dn).take(MAX_GROUPS).collect())
}

fn trusted(pem: &str) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(|error| format!("the certificate is no PEM ({error})"))?;
        roots.add(certificate).map_err(|error| format!("the certificate can't be used ({error})"))?;
    }
    if roots.is_empty() {
        return Err("there is no certificate; it begins with -----BEGIN CERTIFICATE-----".to_owned());
    }
    Ok(roots)
}

/// What somebody typed, as a part of a filter.
fn filter_for(filter: &str, login: &str) -> String {
    filter.replace(LOGIN_PLACE, &ldap_escape(login))
}

/// Members of groups in groups, by Active Directory's own rule.
fn filter_of_groups(dn: &str) -> String {
    format!("(member:1.2.840.113556.1.4.1941:={})", ldap_escape(dn))
}

/// The name that somebody binds with; `None`: nobody can have such a name.
fn bind_name(template: &str, login: &str) -> Option<String> {
    if template.contains('=') {
        return Some(template.replace(LOGIN_PLACE, &dn_escape(login)));
    }
    // `{login}@example.org`, `EXAMPLE\{login}`: no escaping is known there, so only plain names.
    let suffix = template.strip_prefix(LOGIN_PLACE).unwrap_or_default();
    let login = match login.len().checked_sub(suffix.len()) {
        Some(at) if !suffix.is_empty() && login.is_char_boundary(at) && login[at..].eq_ignore_ascii_case(suffix) => {
            &login[..at]
        }
        _ => login,
    };
    let plain = |c: char| c.is_alphanumeric() || "-_.+ '".contains(c);
    (!login.is_empty() && login.chars().all(plain)).then(|| template.replace(LOGIN_PLACE, login))
}

#[cfg(test)]
mod tests {
    use super::{bind_name, check_directory, filter_for};
    use serde_json::json;
    use steward_core::sign_on::Directory;

    #[test]
    fn passwords_go_over_encrypted_connections() {
        for (url, start_tls, expect) in [
            ("ldaps://dc1.example.org", false, true),
            ("ldaps://dc1.example.org:3269/", false, true),
            ("ldap://dc1.example.org", true, true),
            ("ldap://127.0.0.1:389", false, true),
            ("ldap://[::1]:389", false, true),
            ("ldap://localhost", false, true),
            ("ldap://dc1.example.org", false, false),
            ("ldap://localhost.evil.example", false, false),
            ("ldaps://dc1.example.org", true, false),
            ("ldaps://dc1.example.org/dc=x", false, false),
            ("ldaps://dc1.example.org?x", false, false),
            ("ldaps://ada:x@dc1.example.org", false, false),
            ("ldapi:///run/x", false, false),
            ("http://dc1.example.org", false, false),
            ("ldaps://", false, false),
            ("dc1", false, false),
        ] {
            let body = json!({"label": "AD", "url": url, "start_tls": start_tls, "base": "dc=x", "bind_dn": "cn=s"});
            let directory: Directory = serde_json::from_value(body).expect("a directory");
            assert_eq!(check_directory(&directory).is_ok(), expect, "{url} {start_tls}");
        }
        let body = json!({"label": "AD", "url": "ldaps://x", "base": "dc=x", "bind_dn": "cn=s", "ca": "no"});
        assert!(check_directory(&serde_json::from_value(body).expect("a directory")).is_err());
    }

    #[test]
    fn what_is_typed_stays_one_value() {
        for (login, filter) in [
            ("ada", "(uid=ada)"),
            ("*", "(uid=\\2a)"),
            ("a)(uid=*", "(uid=a\\29\\28uid=\\2a)"),
            ("a\\b", "(uid=a\\5cb)"),
            ("a\0b", "(uid=a\\00b)"),
        ] {
            assert_eq!(filter_for("(uid={login})", login), filter);
        }
        let dn = "uid={login},ou=people,dc=x";
        assert_eq!(bind_name(dn, "ada").as_deref(), Some("uid=ada,ou=people,dc=x"));
        for login in ["ada,ou=admins", "a+cn=b", "a\"b", "#a", " a", "a;b", "a<b"] {
            let name = bind_name(dn, login).unwrap_or_default();
            assert!(name.contains('\\') && name.ends_with(",ou=people,dc=x"), "{name}");
        }
        let upn = "{login}@corp.example";
        for (login, expect) in [
            ("ada", Some("ada@corp.example")),
            ("ada@CORP.example", Some("ada@corp.example")),
            ("ada@other.example", None),
            ("other\\ada", None),
            ("ada*", None),
            ("@corp.example", None),
        ] {
            assert_eq!(bind_name(upn, login).as_deref(), expect, "{login}");
        }
        assert_eq!(bind_name("CORP\\{login}", "ada").as_deref(), Some("CORP\\ada"));
    }
}
