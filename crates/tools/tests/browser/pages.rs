use crate::bench::{Bench, number};
use crate::server::{Server, answer, ok, redirect};
use serde_json::{Value, json};
use steward_core::policy::RiskClass;
use steward_core::ports::Tools as _;
use steward_core::tool::EffectClass;

const PAGE: &str = r#"<!doctype html><title>The shop</title>
<h1>Welcome</h1><p>Read the <a href="/news">news</a>.</p>
<ul><li>one<li>two</ul>
<table><tr><th>Item<th>Price<tr><td>Lamp<td>12</table>
<img src="/lamp.png" alt="a lamp">
<p id="late">before</p><script>late.textContent = 'made by ' + 'a script'</script>
<div hidden>not seen</div>"#;

#[tokio::test]
async fn a_page_is_read_as_people_see_it() {
    let server = Server::start(|path| match path {
        "/" => ok("text/html", PAGE),
        "/news" => ok("text/html", "<title>News</title><p>All is well."),
        "/old" => redirect("/news"),
        "/moved" => ok("text/html", "<script>location.replace('/news')</script><p>wait"),
        "/empty" => ok("text/html", ""),
        "/long" => ok(
            "text/html",
            (0..3000).fold(String::from("<title>L</title>"), |all, n| all + &format!("<p>paragraph {n}")),
        ),
        _ => answer(404, &[], "gone"),
    })
    .await;
    let bench = Bench::allowing(&[server.allowed()]);
    let run = bench.run(1);
    let error = run.refused("browser_snapshot", json!({})).await;
    assert!(error.contains("browser_open"), "{error}");
    let page = run.open(&server.url("/")).await;
    for expect in [
        "Title: The shop",
        "# Welcome",
        "- one\n- two",
        "Item | Price\nLamp | 12",
        "(image: a lamp)",
        "made by a script",
        " link: news → http://127.0.0.1",
    ] {
        assert!(page.content.contains(expect), "{expect}:\n{}", page.content);
    }
    assert!(!page.content.contains("not seen") && !page.content.contains("before"));
    assert!(page.provenance.is_from_outside());
    assert_eq!(page.provenance.origins.first(), Some(&server.url("/")));
    assert_eq!(page.data.unwrap()["status"], 200);
    let link = number(&page.content, "link: news");
    let preview = run.preview("browser_click", json!({"element": link})).await;
    assert_eq!(preview.summary, format!("clicks link “news” on {}", server.url("/")));
    assert!(!preview.reversible);
    let news = run.ok("browser_click", json!({"element": link})).await;
    assert!(news.content.contains("All is well."), "{}", news.content);
    assert!(news.provenance.is_from_outside() && news.receipt.unwrap().action == "clicked");
    // The number was of the page before.
    let error = run.refused("browser_click", json!({"element": link})).await;
    assert!(error.contains("browser_snapshot"), "{error}");
    for path in ["/old", "/moved"] {
        let page = run.open(&server.url(path)).await;
        assert_eq!(page.provenance.origins.first(), Some(&server.url("/news")), "{path}");
    }
    let error = run.refused("browser_open", json!({"url": server.url("/nothing")})).await;
    assert!(error.contains("status 404"), "{error}");
    let says = run.ok("browser_snapshot", json!({})).await;
    assert!(says.content.contains("gone"), "{}", says.content);
    assert!(run.open(&server.url("/empty")).await.content.contains("no text"));
    let long = run.open(&server.url("/long")).await;
    assert!(long.content.contains("paragraph 0") && !long.content.contains("paragraph 2999"));
    let parts = long.data.unwrap()["parts"].as_u64().unwrap();
    let last = run.ok("browser_snapshot", json!({"part": parts})).await;
    assert!(last.content.contains("paragraph 2999"));
    let error = run.refused("browser_snapshot", json!({"part": parts + 1})).await;
    assert!(error.contains(&format!("{parts} parts")), "{error}");
    // Nobody was asked for any name, and no place but the server was reached: the browser has nothing of its own to say.
    let asked = bench.names.asked.lock().unwrap().clone();
    assert!(asked.is_empty(), "{asked:?}");
}

#[tokio::test]
async fn dialogs_windows_downloads_and_pictures() {
    let server = Server::start(|path| match path {
        "/" => ok(
            "text/html",
            "<title>D</title><script>alert('look here')</script>\
             <a href='/two' target=_blank>other</a><a href='/file'>file</a>\
             <button onclick=\"window.open('/two')\">window</button>",
        ),
        "/two" => ok("text/html", "<title>Two</title><p>the second page"),
        "/file" => {
            answer(200, &["content-type: application/zip", "content-disposition: attachment; filename=a.zip"], "PK")
        }
        _ => answer(404, &[], ""),
    })
    .await;
    let bench = Bench::allowing(&[server.allowed()]);
    let run = bench.run(1);
    let page = run.open(&server.url("/")).await;
    assert!(page.content.contains("alert: look here"), "{}", page.content);
    for words in ["link: other", "button: window"] {
        let page = run.open(&server.url("/")).await;
        let element = number(&page.content, words);
        let two = run.ok("browser_click", json!({"element": element})).await;
        assert!(two.content.contains("the second page"), "{words}: {}", two.content);
    }
    let page = run.open(&server.url("/")).await;
    let element = number(&page.content, "link: file");
    let clicked = run.ok("browser_click", json!({"element": element})).await;
    assert!(clicked.content.contains("is a download"), "{}", clicked.content);
    let error = run.refused("browser_open", json!({"url": server.url("/file")})).await;
    assert!(error.contains("is a download"), "{error}");
    let error = run.refused("browser_screenshot", json!({})).await;
    assert!(error.contains("browser_open"), "{error}");
    run.open(&server.url("/two")).await;
    let shot = run.ok("browser_screenshot", json!({})).await;
    let data = shot.data.clone().unwrap();
    let path = run.scope.workspace.join(data["path"].as_str().unwrap());
    let png = std::fs::read(&path).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
    assert_eq!(data["bytes"], png.len());
    assert_eq!(data["width"], 1280);
    assert!(shot.content.contains("screenshots/127.0.0.1-"), "{}", shot.content);
    // The same call again writes the same file.
    run.ok("browser_screenshot", json!({})).await;
    let folder = path.parent().unwrap();
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1);
    run.undo(&shot).await.unwrap();
    assert!(!path.exists());
}

#[tokio::test]
async fn agents_have_it_where_they_name_it() {
    let bench = Bench::allowing(&[]);
    let catalogue = bench.tools.catalogue();
    assert_eq!(catalogue.len(), 5);
    let of = |name: &str| catalogue.iter().find(|spec| spec.name == name).unwrap();
    for (name, risk, effect) in [
        ("browser_open", RiskClass::External, EffectClass::Read),
        ("browser_snapshot", RiskClass::Read, EffectClass::Read),
        ("browser_click", RiskClass::External, EffectClass::Write),
        ("browser_type", RiskClass::External, EffectClass::Write),
        ("browser_screenshot", RiskClass::Write, EffectClass::Idempotent),
    ] {
        let spec = of(name);
        assert_eq!((spec.risk, spec.effect), (risk, effect), "{name}");
        assert!(spec.description.len() > 20, "{name}");
        assert!((12..=25).contains(&spec.utterances.len()), "{name}");
        assert_eq!(spec.parameters["additionalProperties"], Value::Bool(false));
    }
    let agent = |tools: &[&str]| {
        serde_json::from_value::<steward_core::agent::Agent>(json!({
            "id": "00000000-0000-0000-0000-000000000002", "name": "a", "instructions": "", "tools": tools,
            "connection": null,
        }))
        .unwrap()
    };
    let tenant = bench.run(1).scope.tenant;
    let has = async |tools: &[&str]| {
        let found = bench.tools.of_agent(tenant, &agent(tools)).await.unwrap();
        found.tools.into_iter().map(|spec| spec.name).collect::<Vec<_>>()
    };
    assert!(has(&[]).await.is_empty());
    assert_eq!(has(&["browser_open"]).await, ["browser_open"]);
}
