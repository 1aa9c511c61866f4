//! Files outside of the workspace as datasources: looked at anew for each query.

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use steward_core::datasource::Datasource;
use steward_tools::datasource::{DatasourceAccess, Datasources};
use steward_tools::{HostPolicy, HostRules};

fn database(file: &Path, said: &str) {
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.execute_batch("CREATE TABLE notes (said TEXT)").unwrap();
    connection.execute("INSERT INTO notes VALUES (?1)", [said]).unwrap();
}

fn datasource(path: &Path) -> Datasource {
    serde_json::from_value(json!({
        "id": "00000000-0000-0000-0000-000000000001", "name": "a", "database": format!("sqlite:{}", path.display()),
        "visibility": "full", "limits": {}, "writable": true, "as_asking_user": false, "version": 1, "changed_at": 0,
    }))
    .unwrap()
}

#[tokio::test]
async fn a_file_that_becomes_a_link_is_not_opened_again() {
    let top = tempfile::tempdir().unwrap();
    let at = |name: &str| top.path().canonicalize().unwrap().join(name);
    for folder in ["own", "share/sub", "work"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    database(&at("own/shop.db"), "secret");
    database(&at("share/sub/shop.db"), "harmless");
    let places = HostPolicy::new(HostRules { own: vec![at("own")], ..HostRules::default() });
    let open = |path: &Path| DatasourceAccess::new(&datasource(path), None, &at("work"), &places);
    let refused = open(&at("own/shop.db")).unwrap_err().to_string();
    assert!(refused.contains("belongs to Steward itself"), "{refused}");
    let folder = open(&at("share")).unwrap_err().to_string();
    assert!(folder.contains("is a folder"), "{folder}");

    let (access, all) = (open(&at("share/sub/shop.db")).unwrap(), Datasources::default());
    let sql = || "SELECT said FROM notes".to_owned();
    let rows = all.read(&access, sql(), Vec::new()).await.unwrap();
    assert_eq!(rows.rows, [[Value::from("harmless")]]);
    fs::rename(at("share/sub"), at("share/before")).unwrap();
    for target in ["own", "share/before"] {
        let _ = fs::remove_file(at("share/sub"));
        symlink(at(target), at("share/sub")).unwrap();
        let refused = all.read(&access, sql(), Vec::new()).await.unwrap_err().to_string();
        assert!(refused.contains("symbolic link"), "{refused}");
        let change = all.change(&access, "DELETE FROM notes".to_owned(), Vec::new(), |_| async { Ok(()) });
        let refused = change.await.unwrap_err().to_string();
        assert!(refused.contains("symbolic link"), "{refused}");
    }
}
