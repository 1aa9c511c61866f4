//! Where a login, a key or a token belongs. What is handed out says so itself, so that nobody need search all tenants for
//! it; whether it is good, the tenant that it names finds out.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use steward_core::TenantId;
use uuid::Uuid;

use super::identity::{PREFIX, SCIM, VIRTUAL};
use super::secrets::ISSUER;

/// Before the tenant in keys, cookies and invitations. Secrets are hexadecimal or begin with a number, so none begins so.
const MARK: char = 't';
/// A tenant's digits.
const LENGTH: usize = 32;

/// A secret as it is handed out. Those of the default tenant are as they are.
pub(crate) fn marked(tenant: TenantId, secret: &str) -> String {
    if tenant == TenantId::DEFAULT { secret.to_owned() } else { format!("{MARK}{}-{secret}", tenant.0.simple()) }
}

/// What is read of a token before anything of it is believed.
#[derive(Deserialize)]
struct Named {
    iss: String,
    tid: TenantId,
}

/// The tenant that a key, token, cookie or invitation names, which it may do wrongly. `None`: it is of another program.
pub fn claimed_tenant(token: &str) -> Option<TenantId> {
    let secret = [VIRTUAL, SCIM, PREFIX].into_iter().find_map(|kind| token.strip_prefix(kind)).unwrap_or(token);
    if let Some(tenant) = mark_of(secret) {
        return Some(tenant);
    }
    let mut parts = token.split('.');
    let (Some(_), Some(body), Some(_), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Some(TenantId::DEFAULT);
    };
    let body = URL_SAFE_NO_PAD.decode(body).ok()?;
    let named: Named = serde_json::from_slice(&body).ok()?;
    (named.iss == ISSUER).then_some(named.tid)
}

/// The secret without the tenant before it.
pub(crate) fn unmarked(secret: &str) -> &str {
    if mark_of(secret).is_some() { &secret[LENGTH + 2..] } else { secret }
}

fn mark_of(secret: &str) -> Option<TenantId> {
    let rest = secret.strip_prefix(MARK)?;
    let (digits, rest) = rest.split_at_checked(LENGTH)?;
    rest.strip_prefix('-')?;
    Uuid::try_parse(digits).ok().map(TenantId)
}

#[cfg(test)]
mod tests {
    use super::{claimed_tenant, marked, unmarked};
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use steward_core::TenantId;
    use uuid::Uuid;

    #[test]
    fn what_is_handed_out_names_its_tenant() {
        let acme = TenantId(Uuid::from_u128(0xacae));
        for (tenant, secret) in [(acme, "00ff"), (TenantId::DEFAULT, "00ff"), (acme, "1795248000.x.y")] {
            let secret = marked(tenant, secret);
            assert!(unmarked(&secret).len() <= 14, "{secret}");
            let kinds = ["", "sk-steward-", "sk-steward-v-", "sk-steward-scim-"];
            for token in kinds.map(|kind| format!("{kind}{secret}")) {
                let named = claimed_tenant(&token);
                assert_eq!(named, Some(tenant), "{token}");
            }
        }
        let jwt = |body: &str| format!("x.{}.y", URL_SAFE_NO_PAD.encode(body));
        let ours = jwt(&format!(r#"{{"iss": "steward", "tid": "{}", "sub": "s"}}"#, acme.0));
        assert_eq!(claimed_tenant(&ours), Some(acme));
        for foreign in [r#"{"iss": "https://idp.example", "tid": "00000000-0000-0000-0000-000000000002"}"#, "{}", "?"] {
            assert_eq!(claimed_tenant(&jwt(foreign)), None, "{foreign}");
        }
        for odd in ["", "t", "té0000000000000000000000000000000-x", "t12-x", "sk-steward-", "a.b"] {
            assert_eq!(claimed_tenant(odd), Some(TenantId::DEFAULT), "{odd}");
        }
    }
}
