//! Who is asking: passwords, sessions, tokens, API keys, the first administrator. What they may use:
//! the vault.

mod access;
mod attempts;
mod error;
mod first;
mod identity;
mod keys;
mod known;
mod password;
mod secret;
mod session;
mod token;
mod users;
mod vault;
mod virtual_keys;

pub use access::{Access, AccessDeps};
pub use error::AccessError;
pub use first::FirstStart;
pub use identity::{Account, Identity};
pub use session::{LogIn, OpenSession, REFRESH_LIFETIME};
pub use users::LOCAL_USER;
pub use vault::{FileKeys, FixedKeys, KeySource, PassphraseKeys, SealedVault, VaultDeps, VaultKey};
pub use virtual_keys::NewKey;
