//! What somebody typed, as a part of a filter or of the name that they bind with.

use ldap3::{dn_escape, ldap_escape};
use steward_core::sign_on::LOGIN_PLACE;

pub(super) fn filter_for(filter: &str, login: &str) -> String {
    filter.replace(LOGIN_PLACE, &ldap_escape(login))
}

/// Members of groups in groups, by Active Directory's own rule.
pub(super) fn filter_of_groups(dn: &str) -> String {
    format!("(member:1.2.840.113556.1.4.1941:={})", ldap_escape(dn))
}

/// `None`: nobody can have such a name.
pub(super) fn bind_name(template: &str, login: &str) -> Option<String> {
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
    use super::{bind_name, filter_for};

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
