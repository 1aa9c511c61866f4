use crate::api_routes::house::{House, client, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

fn upload(house: &House, name: &str, body: Vec<u8>) -> (u16, Value) {
    let client = client();
    let mut url = url::Url::parse(&format!("{}/api/files", house.server.url)).unwrap();
    url.query_pairs_mut().append_pair("name", name);
    let request =
        client.post(url).bearer_auth(&house.server.key).header("content-type", "application/octet-stream").body(body);
    house.bench.runtime.block_on(async {
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap())
    })
}

#[test]
fn uploads_stay_in_their_folder_and_overwrite_nothing() {
    let house = House::new(Script::always(Behaviour::text("Read.")));
    for (name, body, path) in [
        ("x.csv", "one", "uploads/x.csv"),
        ("x.csv", "two", "uploads/x-2.csv"),
        ("../../x.csv", "three", "uploads/x-3.csv"),
        ("Bericht Öl.md", "four", "uploads/Bericht Öl.md"),
    ] {
        let (status, answer) = upload(&house, name, body.into());
        assert_eq!((status, &answer), (201, &json!({"path": path, "bytes": body.len()})));
        assert_eq!(house.bench.work.read(path).unwrap(), body);
    }
    assert_eq!(upload(&house, "...", b"x".to_vec()).0, 422);
    let (status, problem) = upload(&house, "big.bin", vec![0; 20_000_001]);
    assert_eq!(status, 413, "{problem}");
    assert!(house.bench.work.read("uploads/big.bin").is_err(), "half a file stays");
    assert_eq!(upload(&house, "fits.bin", vec![0; 20_000_000]).0, 201);
}

#[test]
fn attachments_are_named_to_the_agent() {
    let house = House::new(Script::always(Behaviour::text("Read.")));
    upload(&house, "x.csv", b"a,b".to_vec());
    let path = format!("/api/chat/{}", house.agent());
    for missing in ["uploads/y.csv", "../api-key", "/etc/hostname", "uploads"] {
        let body = json!({"message": "Look.", "attachments": [missing]});
        assert_eq!(house.post(&path, body, 422)["field"], "attachments", "{missing}");
    }
    assert!(house.items("/api/runs").is_empty());
    let body = json!({"message": "Look at this.", "attachments": ["uploads/x.csv"]});
    let run = text(&house.post(&path, body, 202)["run_id"]);
    let detail = house.wait(&run, "finished");
    assert_eq!(detail["input"], "Look at this.\n\nAttached files:\n- uploads/x.csv");
    assert_eq!(detail["title"], "Look at this.");
    let asked = house.bench.model.chats()[0].body["messages"].to_string();
    assert!(asked.contains("uploads/x.csv"), "{asked}");
    house.send(Method::PUT, "/api/files", None, 405);
}

#[test]
fn a_file_of_the_workspace_is_handed_out_and_none_outside_it() {
    let house = House::new(Script::always(Behaviour::text("Read.")));
    upload(&house, "x.html", b"<script>alert(1)</script>".to_vec());
    let root = house.bench.work.path();
    std::os::unix::fs::symlink("/etc/hostname", root.join("out")).unwrap();
    std::fs::write(root.parent().unwrap().join("beside"), "secret").unwrap();
    let get = |path: &str, key: Option<&str>| {
        let mut url = url::Url::parse(&format!("{}/api/files", house.server.url)).unwrap();
        url.query_pairs_mut().append_pair("path", path);
        let mut request = client().get(url);
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        house.bench.runtime.block_on(async {
            let answer = request.send().await.unwrap();
            let header = |name: &str| {
                let value = answer.headers().get(name);
                value.map(|value| value.to_str().unwrap().to_owned())
            };
            let seen = ["content-type", "content-disposition", "x-content-type-options"].map(header);
            (answer.status().as_u16(), seen, answer.text().await.unwrap())
        })
    };
    let key = Some(house.server.key.as_str());
    let (status, headers, body) = get("uploads/x.html", key);
    assert_eq!((status, body.as_str()), (200, "<script>alert(1)</script>"));
    assert_eq!(
        headers.map(Option::unwrap),
        ["application/octet-stream", "attachment; filename*=UTF-8''x.html", "nosniff"]
    );
    for path in ["out", "../beside", "/etc/hostname", "uploads", "nothere", "uploads/../../beside"] {
        let (status, _, body) = get(path, key);
        assert_eq!(status, 404, "{path}: {body}");
        assert!(body.contains("no_such_file"), "{path}: {body}");
    }
    assert_eq!(get("uploads/x.html", None).0, 401);
    assert_eq!(get("", key).0, 404);
}
