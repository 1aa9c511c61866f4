//! Makes a release build look again at the studio's files when they changed: a file with a new name would
//! otherwise stay unseen. Debug builds read them when they run.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("PROFILE").is_some_and(|profile| profile != "debug") {
        println!("cargo::rerun-if-changed=../../web/dist");
    }
}
