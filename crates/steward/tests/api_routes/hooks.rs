//! Webhooks start runs of the real server when somebody calls, signed as senders sign.

mod bed;
mod calls;
mod changes;
