//! File system rules of the Landlock tier.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope,
};

use crate::process::Plan;

/// The newest interface known to the library; what the kernel lacks of it is left out.
const KNOWN: ABI = ABI::V9;

/// Denies all of the file system, TCP, abstract sockets and signals to the outside, but what the plan lists.
pub(super) fn restrict(plan: &Plan) -> Result<(), String> {
    let text = |e: landlock::RulesetError| e.to_string();
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(KNOWN))
        .and_then(|r| {
            if plan.network {
                return Ok(r);
            }
            r.handle_access(AccessNet::from_all(KNOWN))
        })
        .and_then(|r| r.scope(Scope::from_all(KNOWN)))
        .and_then(Ruleset::create)
        .map_err(text)?;
    let read = AccessFs::from_read(KNOWN);
    let unwanted = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev | AccessFs::ResolveUnix;
    let write = AccessFs::from_all(KNOWN) & !unwanted;
    for (paths, access) in [(&plan.read, read), (&plan.write, write)] {
        for path in paths {
            if let Some((fd, access)) = open(path, access)? {
                ruleset = ruleset.add_rule(PathBeneath::new(fd, access)).map_err(text)?;
            }
        }
    }
    let status = ruleset.restrict_self().map_err(text)?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err("the kernel did not enforce the rules".to_owned());
    }
    Ok(())
}

/// A file takes only the rights of files. What does not exist grants nothing.
fn open(path: &Path, access: BitFlags<AccessFs>) -> Result<Option<(PathFd, BitFlags<AccessFs>)>, String> {
    let Ok(metadata) = path.metadata() else {
        return Ok(None);
    };
    let fd = PathFd::new(path).map_err(|e| e.to_string())?;
    let access = if metadata.is_dir() { access } else { access & AccessFs::from_file(KNOWN) };
    Ok(Some((fd, access)))
}
