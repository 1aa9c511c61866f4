use crate::bench::{Bench, number};
use crate::server::{Server, ok};
use serde_json::json;

const FORM: &str = r#"<!doctype html><title>Form</title><form action="/sent" method="post">
<label>Name <input name="name" value="old"></label>
<label>Country <select name="country"><option value="fr">France<option value="de">Germany</select></label>
<label>Day <input type="date" name="day"></label>
<label>Agree <input type="checkbox" name="agree"></label>
<label>Message <textarea name="message"></textarea></label>
<label>Photo <input type="file" name="photo"></label>
<label>Fixed <input name="fixed" value="x" readonly></label>
<button>Send it</button></form>"#;

#[tokio::test]
async fn a_form_is_filled_in_and_sent() {
    let server = Server::start_whole(|request| {
        let path = request.split(' ').nth(1).unwrap_or("");
        match path {
            "/" => ok("text/html", FORM),
            "/sent" => {
                let body = request.split("\r\n\r\n").nth(1).unwrap_or("");
                ok("text/html", format!("<title>Thanks</title><pre>{body}</pre>"))
            }
            _ => ok("text/html", "<p>nothing"),
        }
    })
    .await;
    let bench = Bench::allowing(&[server.allowed()]);
    let run = bench.run(1);
    let page = run.open(&server.url("/")).await.content;
    let kind = async |words: &str, text: &str| {
        let element = number(&page, words);
        run.call("browser_type", json!({"element": element, "text": text})).await
    };
    let typed = kind("textbox: Name", "Ada & Co").await.unwrap();
    assert!(typed.content.contains("typed `Ada & Co` into textbox “Name”"), "{}", typed.content);
    assert!(typed.content.contains("textbox: Name = Ada & Co"), "{}", typed.content);
    assert!(typed.undo.is_some() && typed.receipt.is_some());
    let wrong = kind("combobox: Country", "Spain").await.unwrap_err().to_string();
    assert!(wrong.contains("France / Germany"), "{wrong}");
    kind("combobox: Country", "Germany").await.unwrap();
    let wrong = kind("Date: Day", "tomorrow").await.unwrap_err().to_string();
    assert!(wrong.contains("2026-11-21"), "{wrong}");
    kind("Date: Day", "2026-12-24").await.unwrap();
    kind("textbox: Message", "two\nlines").await.unwrap();
    for (words, expect) in [
        ("checkbox: Agree", "browser_click"),
        ("button: Photo", "no file is sent"),
        ("textbox: Fixed", "read-only"),
        ("button: Send it", "no field for text"),
    ] {
        let error = kind(words, "x").await.unwrap_err().to_string();
        assert!(error.contains(expect), "{words}: {error}");
    }
    let agree = number(&page, "checkbox: Agree");
    let ticked = run.ok("browser_click", json!({"element": agree})).await;
    assert!(ticked.content.contains("checkbox: Agree, checked"), "{}", ticked.content);
    let name = number(&page, "textbox: Name");
    let arguments = json!({"element": name, "text": "Ada", "submit": true});
    let preview = run.preview("browser_type", arguments.clone()).await;
    assert_eq!(preview.summary, format!("types and sends, in textbox “Name” on {}", server.url("/")));
    assert_eq!(preview.detail.as_deref(), Some("Ada"));
    let sent = run.ok("browser_type", arguments).await;
    for expect in ["Title: Thanks", "name=Ada&country=de&day=2026-12-24&agree=on", "two%0D%0Alines"] {
        assert!(sent.content.contains(expect), "{expect}: {}", sent.content);
    }
    let page = run.open(&server.url("/")).await.content;
    let send = number(&page, "button: Send it");
    let sent = run.ok("browser_click", json!({"element": send})).await;
    assert!(sent.content.contains("name=old&country=fr"), "{}", sent.content);
}

#[tokio::test]
async fn an_element_that_changed_is_not_touched() {
    let server = Server::start(|path| match path {
        "/" => ok(
            "text/html",
            "<title>Trap</title><button id=b onclick=\"fetch('/bought')\">Cancel</button>\
             <button id=g onclick=\"b.textContent='Buy';h.remove();hide.hidden=true\">Go</button>\
             <button id=h>Here</button><span id=hide><button>Hidden soon</button></span>",
        ),
        _ => ok("text/html", ""),
    })
    .await;
    let bench = Bench::allowing(&[server.allowed()]);
    let run = bench.run(1);
    let page = run.open(&server.url("/")).await.content;
    let of = |words: &str| json!({"element": number(&page, words)});
    let changed = run.ok("browser_click", of("button: Go")).await.content;
    assert!(changed.contains("button: Buy"), "{changed}");
    // The numbers of the first look, which is what a person has approved.
    let error = run.refused("browser_click", of("button: Cancel")).await;
    assert!(error.contains("no element"), "{error}");
    let error = run.refused("browser_click", of("button: Here")).await;
    assert!(error.contains("browser_snapshot"), "{error}");
    let error = run.refused("browser_click", of("button: Hidden soon")).await;
    assert!(error.contains("hidden") || error.contains("is now") || error.contains("browser_snapshot"), "{error}");
    let error = run.refused("browser_click", json!({"element": 9999})).await;
    assert!(error.contains("no element 9999"), "{error}");
    assert!(!server.requests.lock().unwrap().iter().any(|request| request.contains("/bought")));
}

#[tokio::test]
async fn a_name_that_changes_by_itself_is_noticed() {
    let server = Server::start(|path| match path {
        "/" => ok(
            "text/html",
            "<title>Trap</title><button id=b onclick=\"fetch('/bought')\">Cancel</button>\
             <script>setTimeout(() => { b.textContent = 'Buy' }, 3000)</script>",
        ),
        _ => ok("text/html", ""),
    })
    .await;
    let bench = Bench::allowing(&[server.allowed()]);
    let run = bench.run(1);
    let page = run.open(&server.url("/")).await.content;
    let element = number(&page, "button: Cancel");
    let preview = run.preview("browser_click", json!({"element": element})).await;
    assert!(preview.summary.contains("“Cancel”"), "{}", preview.summary);
    tokio::time::sleep(std::time::Duration::from_secs(4)).await;
    let error = run.refused("browser_click", json!({"element": element})).await;
    assert!(error.contains("was button “Cancel”, and is button “Buy” now"), "{error}");
    assert!(!server.requests.lock().unwrap().iter().any(|request| request.contains("/bought")));
}
