//! Who may log in how, as an administrator sets it: lifetimes, second factors, other programs that know the users.

use crate::ports::Role;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Names of the settings.
pub const LOGIN_SETTING: &str = "auth.login";
pub const PROVIDERS_SETTING: &str = "auth.providers";
pub const DIRECTORY_SETTING: &str = "auth.directory";

/// Rules of every login, in force at the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = LoginSettings)]
#[serde(deny_unknown_fields, default)]
pub struct LoginSettings {
    /// How long an access token is good, seconds.
    #[schema(minimum = 60, maximum = 86400)]
    pub access_token_s: u32,
    /// How long a login lasts if nobody prolongs it, seconds.
    #[schema(minimum = 600, maximum = 31_536_000)]
    pub session_s: u32,
    /// How long an invitation is good, seconds.
    #[schema(minimum = 3600, maximum = 7_776_000)]
    pub invitation_s: u32,
    /// How far the clock of a provider may differ from ours, seconds.
    #[schema(maximum = 600)]
    pub clock_skew_s: u32,
    /// Roles that need a second factor to log in with a password.
    pub second_factor_roles: Vec<Role>,
}

impl Default for LoginSettings {
    fn default() -> Self {
        Self {
            access_token_s: 900,
            session_s: 30 * 24 * 3600,
            invitation_s: 7 * 24 * 3600,
            clock_skew_s: 60,
            second_factor_roles: Vec::new(),
        }
    }
}

/// Longest access token that can be set, seconds.
pub const MAX_ACCESS_TOKEN_S: u32 = 86_400;

impl LoginSettings {
    /// The field that can't be that, and why.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let bounds = [
            ("access_token_s", self.access_token_s, 60, MAX_ACCESS_TOKEN_S),
            ("session_s", self.session_s, 600, 365 * 24 * 3600),
            ("invitation_s", self.invitation_s, 3600, 90 * 24 * 3600),
            ("clock_skew_s", self.clock_skew_s, 0, 600),
        ];
        if let Some((field, value, least, most)) =
            bounds.into_iter().find(|(_, value, least, most)| !(least..=most).contains(&value))
        {
            return Some((field, format!("{value} seconds is not between {least} and {most}")));
        }
        (self.access_token_s > self.session_s)
            .then(|| ("access_token_s", "an access token can't last longer than the login that it is of".to_owned()))
    }
}

/// What a group of another program means here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupRole {
    /// Name of the group, as the provider says it; of a directory, its name, or its whole DN in any way to write it.
    #[schema(min_length = 1, max_length = 400)]
    pub group: String,
    /// What its members may do.
    pub role: Role,
}

/// Who of those that a provider vouches for may enter, and as what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Admission {
    /// Roles by group; of several the highest counts. Looked at again at each login, if there are any.
    #[schema(max_items = 200)]
    pub roles: Vec<GroupRole>,
    /// For who is in none of the groups; null: they don't enter.
    pub default_role: Option<Role>,
    /// Domains of emails that may enter; empty: all.
    #[schema(max_items = 50)]
    pub email_domains: Vec<String>,
    /// Whether somebody who has no account gets one at their first login.
    pub provision: bool,
    /// Whether somebody with the email of an account enters as its user, if the provider vouches for the email.
    pub link_by_email: bool,
}

impl Default for Admission {
    fn default() -> Self {
        Self {
            roles: Vec::new(),
            default_role: Some(Role::Viewer),
            email_domains: Vec::new(),
            provision: true,
            link_by_email: false,
        }
    }
}

impl Admission {
    /// The role of who is in the groups that `is_in` says; `None`: they don't enter.
    pub fn role(&self, is_in: impl Fn(&str) -> bool) -> Option<Role> {
        role_by_group(&self.roles, is_in).or(self.default_role)
    }

    pub fn takes_email(&self, email: &str) -> bool {
        let domain = email.rsplit_once('@').map_or("", |(_, domain)| domain);
        self.email_domains.is_empty() || self.email_domains.iter().any(|one| one.eq_ignore_ascii_case(domain))
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        let bad = |domain: &&String| domain.is_empty() || domain.contains(['@', ' ', '/']) || domain.len() > 253;
        if let Some(domain) = self.email_domains.iter().find(bad) {
            return Some(("admission.email_domains", format!("`{domain}` is not a domain; write it as example.org")));
        }
        let nameless = self.roles.iter().any(|one| one.group.trim().is_empty());
        nameless.then(|| ("admission.roles", "a group has no name".to_owned()))
    }
}

/// The highest role that one of the groups has; `None`: none has one.
pub fn role_by_group(roles: &[GroupRole], is_in: impl Fn(&str) -> bool) -> Option<Role> {
    // `Role` is ordered from the most to the least.
    roles.iter().filter(|one| is_in(&one.group)).map(|one| one.role).min_by_key(|role| *role as u8)
}

/// Whether a name is one of these. A group is meant by all of its name, so that nobody gets a role by a group whose name only
/// looks like the place of another.
pub fn is_named(groups: &[String]) -> impl Fn(&str) -> bool {
    |wanted| groups.iter().any(|group| group.eq_ignore_ascii_case(wanted))
}

/// Programs that come with tokens of a provider (OAuth 2.0 client credentials).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramTokens {
    /// What their tokens must be for (`aud`).
    #[schema(min_length = 1, max_length = 400)]
    pub audience: String,
    /// The programs; one that is not named does not enter.
    #[schema(max_items = 200)]
    pub clients: Vec<ClientRole>,
}

/// What a program may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientRole {
    /// Its client id (`azp`, `client_id` or `appid` of its tokens). Only one that no person logs in with.
    #[schema(min_length = 1, max_length = 200)]
    pub client_id: String,
    /// What it may do.
    pub role: Role,
}

/// A provider of OpenID Connect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = OidcSettings)]
#[serde(deny_unknown_fields)]
pub struct OidcProvider {
    /// Shown on the button.
    #[schema(min_length = 1, max_length = 80)]
    pub label: String,
    /// Whether people may log in with it.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// The address that it signs tokens with, such as `https://login.example.org/realms/staff`.
    #[schema(min_length = 8, max_length = 400)]
    pub issuer: String,
    /// By which it knows Steward.
    #[schema(min_length = 1, max_length = 200)]
    pub client_id: String,
    /// What is asked for.
    #[serde(default = "usual_scopes")]
    #[schema(max_items = 20)]
    pub scopes: Vec<String>,
    /// The claim that lists the groups of somebody.
    #[serde(default = "usual_groups")]
    #[schema(max_length = 200)]
    pub groups_claim: String,
    /// Whether its emails are vouched for although it does not say so (`email_verified`), as with Entra ID.
    #[serde(default)]
    pub trust_emails: bool,
    /// Hosts of it that are not on the public internet.
    #[serde(default)]
    #[schema(max_items = 20)]
    pub private_hosts: Vec<String>,
    /// Who enters.
    #[serde(default)]
    pub admission: Admission,
    /// Whether programs may come with its tokens; null: none.
    #[serde(default)]
    pub programs: Option<ProgramTokens>,
}

const fn yes() -> bool {
    true
}

fn usual_scopes() -> Vec<String> {
    ["openid", "email", "profile"].map(str::to_owned).to_vec()
}

fn usual_groups() -> String {
    "groups".to_owned()
}

impl OidcProvider {
    /// The field that can't be that, and why. Its issuer is looked at where requests are made.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        for (field, value, most) in [("label", &self.label, 80), ("client_id", &self.client_id, 200)] {
            if value.trim().is_empty() || value.chars().count() > most || value.chars().any(char::is_control) {
                return Some((field, format!("1 to {most} characters on one line are needed")));
            }
        }
        if !self.scopes.iter().any(|scope| scope == "openid") {
            return Some(("scopes", "the scope `openid` is missing".to_owned()));
        }
        let bad =
            |scope: &&String| scope.is_empty() || scope.contains(|c: char| !c.is_ascii_graphic() || "\"\\".contains(c));
        if let Some(scope) = self.scopes.iter().find(bad) {
            return Some(("scopes", format!("`{scope}` is not a scope: it has no spaces")));
        }
        if let Some(programs) = &self.programs
            && (programs.audience.trim().is_empty()
                || programs.clients.iter().any(|one| one.client_id.trim().is_empty()))
        {
            return Some(("programs", "an audience and the id of each program are needed".to_owned()));
        }
        self.admission.problem()
    }
}

/// A directory that is asked by LDAP, such as Active Directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = DirectorySettings)]
#[serde(deny_unknown_fields)]
pub struct Directory {
    /// Shown to people.
    #[schema(min_length = 1, max_length = 80)]
    pub label: String,
    /// Whether people may log in with it.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// `ldaps://dc1.example.org`, or `ldap://dc1.example.org` with `start_tls`.
    #[schema(min_length = 8, max_length = 400)]
    pub url: String,
    /// Whether a connection to `ldap://` is encrypted before anything is said.
    #[serde(default)]
    pub start_tls: bool,
    /// Certificates (PEM) that the server's is signed with; null: those that this machine trusts.
    #[serde(default)]
    #[schema(max_length = 100_000)]
    pub ca: Option<String>,
    /// Where people are looked for, such as `dc=example,dc=org`.
    #[schema(min_length = 1, max_length = 400)]
    pub base: String,
    /// Finds a person; `{login}` is what they typed.
    #[serde(default = "usual_filter")]
    #[schema(max_length = 1000)]
    pub filter: String,
    /// The account that looks for people; its password is sealed in the vault. Null: people are not looked for first,
    /// but bind by `user_template`.
    #[serde(default)]
    #[schema(max_length = 400)]
    pub bind_dn: Option<String>,
    /// The name that somebody binds with, such as `{login}@example.org` or `uid={login},ou=people,dc=example,dc=org`.
    #[serde(default)]
    #[schema(max_length = 400)]
    pub user_template: Option<String>,
    /// Attribute with an id that stays (`objectGUID`, `entryUUID`).
    #[serde(default = "usual_id")]
    #[schema(max_length = 100)]
    pub id_attribute: String,
    /// Attribute with the email.
    #[serde(default = "usual_mail")]
    #[schema(max_length = 100)]
    pub email_attribute: String,
    /// Attribute with the name to show.
    #[serde(default = "usual_name")]
    #[schema(max_length = 100)]
    pub name_attribute: String,
    /// Attribute that lists the groups.
    #[serde(default = "usual_member_of")]
    #[schema(max_length = 100)]
    pub groups_attribute: String,
    /// Whether groups in groups count too, by the matching rule of Active Directory.
    #[serde(default)]
    pub nested_groups: bool,
    /// Who enters.
    #[serde(default)]
    pub admission: Admission,
}

fn usual_filter() -> String {
    "(&(objectClass=person)(|(mail={login})(uid={login})(sAMAccountName={login})(userPrincipalName={login})))"
        .to_owned()
}

fn usual_id() -> String {
    "entryUUID".to_owned()
}

fn usual_mail() -> String {
    "mail".to_owned()
}

fn usual_name() -> String {
    "cn".to_owned()
}

fn usual_member_of() -> String {
    "memberOf".to_owned()
}

/// Where the typed name goes.
pub const LOGIN_PLACE: &str = "{login}";

impl Directory {
    /// The field that can't be that, and why.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if self.label.trim().is_empty() || self.label.chars().count() > 80 {
            return Some(("label", "1 to 80 characters are needed".to_owned()));
        }
        if self.base.trim().is_empty() {
            return Some(("base", "a place to look in is needed, such as dc=example,dc=org".to_owned()));
        }
        if !self.filter.contains(LOGIN_PLACE) || !self.filter.starts_with('(') || !self.filter.ends_with(')') {
            return Some(("filter", format!("it is in parentheses and has {LOGIN_PLACE} where the typed name goes")));
        }
        if self.user_template.as_ref().is_some_and(|template| !template.contains(LOGIN_PLACE)) {
            return Some(("user_template", format!("it has no {LOGIN_PLACE} where the typed name goes")));
        }
        if self.bind_dn.is_none() && self.user_template.is_none() {
            return Some(("bind_dn", "an account that looks for people is needed, or a user_template".to_owned()));
        }
        let attributes = [
            ("id_attribute", &self.id_attribute),
            ("email_attribute", &self.email_attribute),
            ("name_attribute", &self.name_attribute),
            ("groups_attribute", &self.groups_attribute),
        ];
        let bad = |name: &str| name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-.;".contains(c));
        if let Some((field, name)) = attributes.into_iter().find(|(_, name)| bad(name)) {
            return Some((field, format!("`{name}` is not the name of an attribute")));
        }
        self.admission.problem()
    }
}

#[cfg(test)]
mod tests {
    use super::{Admission, Directory, GroupRole, LoginSettings, OidcProvider, is_named};
    use crate::ports::Role;
    use serde_json::json;

    #[test]
    fn lifetimes_have_bounds() {
        assert_eq!(LoginSettings::default().problem(), None);
        for (field, value) in [
            ("access_token_s", 59),
            ("access_token_s", 86_401),
            ("session_s", 599),
            ("session_s", 31_536_001),
            ("invitation_s", 3599),
            ("invitation_s", 7_776_001),
            ("clock_skew_s", 601),
        ] {
            let settings: LoginSettings = serde_json::from_value(json!({ field: value })).expect("settings");
            assert_eq!(settings.problem().map(|(field, _)| field), Some(field), "{value}");
        }
        let settings = LoginSettings { access_token_s: 3600, session_s: 600, ..LoginSettings::default() };
        assert!(settings.problem().is_some());
    }

    #[test]
    fn the_highest_role_of_the_groups_counts() {
        let map = |group: &str, role| GroupRole { group: group.to_owned(), role };
        let admission = Admission {
            roles: vec![
                map("devs", Role::Developer),
                map("cn=ops,dc=example", Role::Operator),
                map("root", Role::Admin),
            ],
            default_role: None,
            ..Admission::default()
        };
        for (groups, expect) in [
            (&["devs"][..], Some(Role::Developer)),
            (&["DEVS", "root"], Some(Role::Admin)),
            (&["cn=devs,ou=groups,dc=example"], None),
            (&["CN=Ops,DC=Example"], Some(Role::Operator)),
            (&["cn=ops,dc=other"], None),
            (&["ou=x,cn=root"], None),
            (&[], None),
        ] {
            let groups: Vec<String> = groups.iter().map(|&group| group.to_owned()).collect();
            assert_eq!(admission.role(is_named(&groups)), expect, "{groups:?}");
        }
        assert_eq!(Admission::default().role(is_named(&[])), Some(Role::Viewer));
    }

    #[test]
    fn domains_are_whole_ones() {
        let admission = Admission { email_domains: vec!["example.org".to_owned()], ..Admission::default() };
        for (email, expect) in [
            ("ada@example.org", true),
            ("ada@EXAMPLE.org", true),
            ("ada@sub.example.org", false),
            ("ada@badexample.org", false),
            ("ada@example.org@evil.example", false),
            ("ada", false),
        ] {
            assert_eq!(admission.takes_email(email), expect, "{email}");
        }
    }

    #[test]
    fn a_provider_and_a_directory_are_checked() {
        let provider = |change: serde_json::Value| -> Option<&'static str> {
            let mut body = json!({"label": "SSO", "issuer": "https://login.example.org", "client_id": "steward"});
            body.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
            serde_json::from_value::<OidcProvider>(body).expect("a provider").problem().map(|(field, _)| field)
        };
        assert_eq!(provider(json!({})), None);
        assert_eq!(provider(json!({"label": " "})), Some("label"));
        assert_eq!(provider(json!({"scopes": ["email"]})), Some("scopes"));
        assert_eq!(provider(json!({"scopes": ["openid", "a b"]})), Some("scopes"));
        assert_eq!(provider(json!({"programs": {"audience": "", "clients": []}})), Some("programs"));
        assert_eq!(provider(json!({"admission": {"email_domains": ["@x"]}})), Some("admission.email_domains"));
        let directory = |change: serde_json::Value| -> Option<&'static str> {
            let mut body = json!({"label": "AD", "url": "ldaps://dc1", "base": "dc=x", "bind_dn": "cn=s,dc=x"});
            body.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
            serde_json::from_value::<Directory>(body).expect("a directory").problem().map(|(field, _)| field)
        };
        assert_eq!(directory(json!({})), None);
        assert_eq!(directory(json!({"filter": "(uid=*)"})), Some("filter"));
        assert_eq!(directory(json!({"bind_dn": null})), Some("bind_dn"));
        assert_eq!(directory(json!({"user_template": "x@y"})), Some("user_template"));
        assert_eq!(directory(json!({"id_attribute": "a)(b"})), Some("id_attribute"));
    }
}
