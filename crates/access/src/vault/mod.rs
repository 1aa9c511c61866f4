//! The vault: secrets sealed with XChaCha20-Poly1305 in the store, opened for executors only.
//!
//! * What is sealed is bound to its tenant, its credential and its key, so that rows can't be swapped.
//! * All secrets of a tenant are sealed with one key at any instant; [`SealedVault::rotate`] replaces it. A
//!   new key is kept beside the old one before anything is sealed with it, and the old one is forgotten
//!   after nothing is: no crash between can lose a secret.
//! * Keys come from a [`KeySource`]: a file, a list that somebody else keeps, or a passphrase.

mod check;
mod connection;
mod discover;
mod file;
mod fixed;
mod key;
mod passphrase;
mod rotate;
mod seal;
mod service;
mod source;
#[cfg(test)]
mod tests;

pub use file::FileKeys;
pub use fixed::FixedKeys;
pub use key::VaultKey;
pub use passphrase::PassphraseKeys;
pub use service::{SealedVault, VaultDeps};
pub use source::KeySource;
