//! Makes a release build look again at the studio's files when they changed: a file with a new name would
//! otherwise stay unseen. Debug builds read them when they run. Tells the derive of schemas how ids and times are shown.

include!("../core/schema_aliases.rs");

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../core/schema_aliases.rs");
    if std::env::var_os("PROFILE").is_some_and(|profile| profile != "debug") {
        println!("cargo::rerun-if-changed=../../web/dist");
    }
    write_schema_aliases();
}
