use serde_json::Value;
use steward_app::Account;
use steward_core::{TenantId, UserId};

/// What a handler adds to the entry of its request, as an extension of its answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct AuditNote {
    /// Who it was, where no token says so.
    pub(super) actor: Option<(String, Option<UserId>)>,
    /// Whether it was refused although the status does not say so.
    pub(super) refused: bool,
    /// Why it was refused.
    pub(super) reason: Option<&'static str>,
    /// What it was done to, where the address does not say so.
    pub(super) target: Option<String>,
    /// What was before and is now, for people, by the name of what was changed.
    pub(super) changes: Option<Value>,
    /// In whose trail it stands, where no token says so.
    pub(super) tenant: Option<TenantId>,
}

impl AuditNote {
    /// What was typed in for an email. Anything else may be a password in the wrong field.
    pub fn typed(email: &str) -> Self {
        let email = email.trim().to_lowercase();
        Self { actor: email.contains('@').then_some((email, None)), ..Self::default() }
    }

    pub fn of(email: String, user: UserId) -> Self {
        Self { actor: Some((email, Some(user))), ..Self::default() }
    }

    pub fn login(user: &Account) -> Self {
        Self::of(user.email.clone(), user.id).in_tenant(user.tenant)
    }

    pub fn target(target: String) -> Self {
        Self { target: Some(target), ..Self::default() }
    }

    #[must_use]
    pub fn changes(self, changes: Value) -> Self {
        Self { changes: Some(changes), ..self }
    }

    #[must_use]
    pub fn in_tenant(mut self, tenant: TenantId) -> Self {
        self.tenant = Some(tenant);
        self
    }

    #[must_use]
    pub fn refused(self, reason: &'static str) -> Self {
        Self { refused: true, reason: Some(reason), ..self }
    }

    #[must_use]
    pub fn reason(mut self, reason: &'static str) -> Self {
        self.reason = Some(reason);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::AuditNote;

    #[test]
    fn a_password_in_the_wrong_field_is_not_kept() {
        let typed = |text| AuditNote::typed(text).actor.map(|(email, _)| email);
        assert_eq!(typed(" ADA@example.org "), Some("ada@example.org".to_owned()));
        assert_eq!(typed("correct horse battery"), None);
    }
}
