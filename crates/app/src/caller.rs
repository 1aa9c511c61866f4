use std::net::IpAddr;
use std::sync::Arc;
use steward_access::{Account, Identity, LOCAL_USER};
use steward_core::UserId;
use steward_core::event::{Origin, RequestSource, RequestedBy};
use steward_core::permission::Permissions;
use steward_core::ports::Principal;
use uuid::Uuid;

#[derive(Debug, Clone)]
pub struct Caller {
    pub principal: Principal,
    pub email: String,
    /// Their login; `None`: they came with an API key.
    pub session: Option<Uuid>,
    /// What grants let them do with single resources.
    pub permissions: Arc<Permissions>,
    pub origin: Origin,
    /// The network address that they come from.
    pub address: Option<IpAddr>,
}

impl Caller {
    /// `command_line`: whether the request says it is from our own commands; believed only of the machine's own user.
    pub fn new(identity: Identity, command_line: bool) -> Self {
        let Identity { principal, email, session, permissions } = identity;
        let origin = match session {
            _ if command_line && email == LOCAL_USER => Origin::Cli,
            Some(_) => Origin::Chat,
            None => Origin::Api,
        };
        Self { principal, email, session, permissions, origin, address: None }
    }

    #[must_use]
    pub fn at(mut self, address: Option<IpAddr>) -> Self {
        self.address = address;
        self
    }

    pub fn user(&self) -> UserId {
        self.principal.user
    }

    /// How they are named in logs and approvals.
    pub fn by(&self) -> String {
        self.email.clone()
    }

    pub(crate) fn source(&self) -> RequestSource {
        let address = self.address.map(|address| address.to_canonical().to_string());
        RequestSource { account: self.email.clone(), user: Some(self.user()), origin: self.origin, address }
    }

    pub(crate) fn requested_by(&self) -> RequestedBy {
        RequestedBy { name: self.by(), source: Some(self.source()) }
    }

    pub fn account(&self) -> Account {
        Account {
            tenant: self.principal.tenant,
            id: self.principal.user,
            email: self.email.clone(),
            name: self.principal.name.clone(),
            role: self.principal.role,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::Caller;
    use std::sync::Arc;
    use steward_access::{Identity, LOCAL_USER};
    use steward_core::event::Origin;
    use steward_core::ports::{Principal, Role};
    use steward_core::{TenantId, UserId};
    use uuid::Uuid;

    /// User 1 with this role, by an API key.
    pub(crate) fn caller(email: &str, role: Role, session: Option<Uuid>, command_line: bool) -> Caller {
        let user = UserId(Uuid::from_u128(1));
        let principal = Principal { tenant: TenantId::DEFAULT, user, name: String::new(), role, key: None };
        let permissions = Arc::default();
        Caller::new(Identity { principal, email: email.to_owned(), session, permissions }, command_line)
    }

    #[test]
    fn only_the_user_of_this_machine_is_believed_to_be_the_command_line() {
        let session = Some(Uuid::from_u128(2));
        for (email, session, command_line, expect) in [
            (LOCAL_USER, None, true, Origin::Cli),
            (LOCAL_USER, None, false, Origin::Api),
            ("ada@example.org", None, true, Origin::Api),
            ("ada@example.org", session, true, Origin::Chat),
        ] {
            let origin = caller(email, Role::Operator, session, command_line).origin;
            assert_eq!(origin, expect, "{email} {command_line}");
        }
    }
}
