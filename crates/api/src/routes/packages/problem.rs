//! Errors of packages as problems.

use crate::problem::Problem;
use axum::http::StatusCode;
use steward_tools::package::PackageError;

impl From<PackageError> for Problem {
    fn from(error: PackageError) -> Self {
        let title = error.to_string();
        match error {
            PackageError::Store(error) => error.into(),
            PackageError::Unknown(_) => Self::new(StatusCode::NOT_FOUND, title, "see GET /api/skills/packages"),
            PackageError::Dangerous { .. } => Self::conflict(
                "package_dangerous",
                title,
                "look at its findings; an administrator accepts them with `dangers: true`",
            ),
            PackageError::Undeclared { .. } => Self::conflict(
                "package_undeclared",
                title,
                "declare it in the front matter of SKILL.md and import the package again",
            ),
            PackageError::OtherHash { .. } | PackageError::Taken { .. } => {
                Self::conflict("package", title, "load the package anew")
            }
            PackageError::Damaged { .. } | PackageError::Data { .. } | PackageError::Blob(_) => {
                tracing::error!(error = title, "a package can't be read");
                Self::unavailable(title)
            }
            _ => Self::invalid("file", title, "see docs/skill-packages.md for the form of a package"),
        }
    }
}
