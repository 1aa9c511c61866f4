//! Files of the workspace: list, read, search, write, and drafts of mail. All access goes through
//! [`steward_sandbox::files::Workspace`], which the kernel keeps inside the folder.

mod access;
mod draft;
mod evidence;
mod grep;
mod keep;
mod kind;
mod list;
mod read;
pub(crate) mod snapshot;
mod walk;
mod write;

pub use access::open_file;
pub(crate) use access::{blocking, folder, read_text, write_text};
pub use draft::MailDraft;
pub use grep::Grep;
pub(crate) use keep::{Kept, keep_file};
pub use list::List;
pub use read::Read;
pub(crate) use snapshot::restore;
pub use write::Write;
