//! Each setting acts at once, or says why it does not: by the table of settings, so that a new one can't be forgotten. What
//! can't be used changes nothing.

mod bed;
mod observed;

use bed::Bed;
use steward_app::config::{Effect, FIELDS};

/// Everything else acts at once.
const AFTER_RESTART: [&str; 14] = [
    "API_HOST",
    "API_PORT",
    "ADMIN_EMAIL",
    "ADMIN_PASSWORD",
    "CONFIG_FILE",
    "POSTGRES_HOST",
    "POSTGRES_PORT",
    "POSTGRES_DATABASE",
    "POSTGRES_USER",
    "POSTGRES_PASSWORD",
    "DATA_DIR",
    "VAULT_KEY_FILE",
    "VAULT_KEY",
    "VAULT_PASSPHRASE",
];

#[test]
fn only_the_address_the_data_and_what_is_used_once_act_after_a_restart() {
    let after: Vec<_> = FIELDS.iter().filter(|field| field.effect == Effect::AfterRestart).collect();
    assert_eq!(after.iter().map(|field| field.name).collect::<Vec<_>>(), AFTER_RESTART);
    assert!(after.iter().all(|field| field.why_restart.len() > 20));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_other_setting_acts_at_once_and_back_again() {
    let bed = Bed::open().await;
    for field in FIELDS.iter().filter(|field| field.effect == Effect::AtOnce) {
        let name = field.name;
        let (values, companions) = bed.values(name);
        bed.put(&companions).await.unwrap_or_else(|why| panic!("{name}, what it needs: {why}"));
        let before = bed.observe(name).await;
        bed.put(&[companions.clone(), values].concat()).await.unwrap_or_else(|why| panic!("{name}: {why}"));
        let now = bed.observe(name).await;
        assert_ne!(before, now, "{name} is not in force");
        bed.put(&companions).await.unwrap_or_else(|why| panic!("{name}, taken back: {why}"));
        // Another key or token is another one each time.
        let back = bed.observe(name).await;
        assert_eq!(before, back, "{name} is not taken back");
    }
    bed.close().await;
}

type Changes = Vec<(&'static str, String)>;

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_used_is_told_and_changes_nothing() {
    let bed = Bed::open().await;
    let path = |name: &str| bed.path(name).display().to_string();
    std::fs::write(bed.path("broken.toml"), "[accounts.x]\nfrom = 1\n").unwrap();
    std::fs::write(bed.path("no.gguf"), "this is no model").unwrap();
    std::fs::write(bed.path("no.pem"), "this is no certificate").unwrap();
    let nobody = "http://127.0.0.1:1/v1".to_owned();
    let cases: [(&str, Changes, &str); 14] = [
        ("LLM_BASE_URL", vec![("LLM_BASE_URL", nobody.clone()), ("LLM_DEFAULT_MODEL", "m".into())], "nobody answers"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", vec![("OTEL_EXPORTER_OTLP_ENDPOINT", nobody.clone())], "nobody answers"),
        ("NATS_URL", vec![("NATS_URL", "nats://127.0.0.1:1".into())], "no connection to 127.0.0.1:1"),
        ("LOCAL_MODEL_FILE", vec![("LOCAL_MODEL_FILE", path("no.gguf"))], "can't be the local model"),
        ("LOCAL_MODEL_FILE", vec![("LOCAL_MODEL_FILE", path("gone.gguf"))], "can't be the local model"),
        ("MAIL_FILE", vec![("MAIL_FILE", path("broken.toml"))], "broken.toml"),
        ("TERMINAL_FILE", vec![("TERMINAL_FILE", path("broken.toml"))], "broken.toml"),
        ("PYTHON", vec![("PYTHON", path("no.gguf"))], "PYTHON can't be used"),
        ("CHROMIUM", vec![("CHROMIUM", path("no.gguf"))], "no program"),
        ("DEFAULT_CONNECTION", vec![("DEFAULT_CONNECTION", "nowhere".into())], "there is no connection `nowhere`"),
        (
            "PLANNER_MODEL_SPEC",
            vec![("PLANNER_MODEL_SPEC", "nowhere".into())],
            "PLANNER_MODEL_SPEC: there is no connection",
        ),
        ("EXECUTOR_MODEL_SPEC", vec![("EXECUTOR_MODEL_SPEC", "gone".into())], "EXECUTOR_MODEL_SPEC: there is no"),
        ("EMBEDDING_MODEL", vec![("EMBEDDING_MODEL", "nothing".into())], "EMBEDDING_MODEL can't be used"),
        ("TLS_CERT", vec![("TLS_CERT", path("no.pem")), ("TLS_KEY", path("no.pem"))], "no.pem"),
    ];
    for (name, values, told) in cases {
        let before = (bed.observe(name).await, bed.observe("MAX_RUNS").await);
        // One that is right beside it does not count either.
        let values = [values, vec![("MAX_RUNS", "3".to_owned())]].concat();
        let why = bed.put(&values).await.expect_err(name);
        assert!(why.contains(told), "{name}: {why}");
        assert_eq!((bed.observe(name).await, bed.observe("MAX_RUNS").await), before, "{name}");
    }
    bed.close().await;
}
