//! The four packages that come with Steward.

use super::ports::Shelf;
use steward_core::TenantId;
use steward_core::package::PackageState;
use steward_core::ports::Skills as _;
use steward_core::skill::SkillSpec;
use steward_tools::package::{DangerousFindings, bundled, bundled_names, read, scan};

const NAMES: [&str; 4] = ["finance-agent", "infra-agent", "legal-agent", "presales-agent"];

#[tokio::test]
async fn all_four_are_clean_and_work_after_acceptance() {
    assert_eq!(bundled_names(), NAMES);
    let shelf = Shelf::new();
    for name in NAMES {
        let bytes = bundled(name).unwrap();
        let findings = scan(&read(&bytes).unwrap()).unwrap();
        assert!(findings.is_empty(), "{name}: {findings:#?}");
        let package = shelf.packages.import(TenantId::DEFAULT, bytes, "ada").await.unwrap();
        let accepted = shelf
            .packages
            .accept(TenantId::DEFAULT, name, &package.hash, "ada", DangerousFindings::Refuse)
            .await
            .unwrap();
        assert_eq!(accepted.state, PackageState::Active);
        let skill = shelf.memory.skill(TenantId::DEFAULT, accepted.skills[0]).await.unwrap();
        assert_eq!(skill.name, name.replace('-', "_"));
        let SkillSpec::Internal(spec) = skill.spec else {
            panic!("{name} has no prompt");
        };
        for path in accepted.files.keys().filter(|path| path.starts_with("references/")) {
            assert!(spec.prompt.contains(path.as_str()), "{name} doesn't list {path}");
        }
    }
}

#[test]
fn they_hold_what_they_promise() {
    for (name, wanted) in [
        ("presales-agent", &["rfp-templates.md", "objection-handling.md", "roi-models.md"][..]),
        ("finance-agent", &["financial-models.md", "compliance-frameworks.md"]),
        (
            "infra-agent",
            &[
                "runbooks/incident-response.md",
                "runbooks/patching.md",
                "runbooks/backup-and-recovery.md",
                "runbooks/capacity-planning.md",
                "runbooks/disk-full.md",
                "runbooks/certificate-expiry.md",
                "runbooks/database-failover.md",
                "architecture-guides/high-availability.md",
            ],
        ),
        ("legal-agent", &["contract-templates.md", "regulatory-guides.md"]),
    ] {
        let package = read(&bundled(name).unwrap()).unwrap();
        let words = |text: &str| text.split_whitespace().count();
        assert!(words(&package.body) < 600, "{name}: {}", words(&package.body));
        for file in wanted {
            let path = format!("references/{file}");
            let text = String::from_utf8(package.files[&path].clone()).unwrap();
            assert!((800..=2500).contains(&words(&text)), "{path}: {}", words(&text));
            assert!(text.starts_with("# "), "{path}");
            assert!(package.body.contains(&path), "{name} doesn't say when to use {path}");
        }
        // Files that its prompt names are there.
        let named = package.body.split(|c: char| !(c.is_ascii_alphanumeric() || "-./".contains(c)));
        for path in named.filter(|word| word.starts_with("references/")) {
            assert!(package.files.contains_key(path), "{name} names {path}");
        }
    }
    assert!(bundled("nothing").is_none());
    assert!(bundled("").is_none());
}
