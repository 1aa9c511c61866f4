//! Pages that are pictures: read by Tesseract and by the models, in confined processes, and found like other documents.

use crate::api_routes::house::{House, text};
use crate::common::{Bench, Server};
use image::GrayImage;
use serde_json::{Value, json};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use steward_core::extracted::{ExtractFailureKind, OcrEngine, PageReading};
use steward_core::ports::PageReader as _;
use steward_knowledge::confined::{ConfinedPages, Engines, LANGUAGES};
use steward_sandbox::process::Helper;
use steward_testkit::model_server::{Behaviour, Script};
use steward_testkit::scans::{PageText, Spoiled, character_errors, page_texts, pdf_of_scans, scan};
use steward_testkit::{cache, set_up};

const PATIENCE: Duration = Duration::from_mins(10);

fn engines() -> Engines {
    let folders: Vec<PathBuf> = std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect();
    let models = set_up("models/pp-ocrv6-tiny/rec.onnx").parent().unwrap().to_owned();
    Engines::find(&folders, models, Some(LANGUAGES.to_owned()))
}

fn reader() -> ConfinedPages {
    let helper = Helper { program: env!("CARGO_BIN_EXE_steward").into(), prefix: vec!["sandbox-exec".into()] };
    ConfinedPages::new(helper, engines())
}

fn page(kind: Spoiled) -> (PageText, GrayImage) {
    let (text, _) = page_texts().into_iter().find(|(text, one)| *one == kind && text.layout == "plain").unwrap();
    let picture = scan(&text, kind);
    (text, picture)
}

fn encoded(picture: &GrayImage, format: image::ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    picture.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

fn all_text(reading: &PageReading) -> String {
    reading.blocks.iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn both_engines_read_pages_as_scanners_give_them() {
    let (reader, folder) = (reader(), tempfile::tempdir().unwrap());
    assert_eq!(reader.engines(), [OcrEngine::Onnx, OcrEngine::Tesseract], "run: scripts/setup.sh test");
    for kind in [Spoiled::Clean, Spoiled::Turned, Spoiled::Skewed] {
        let (text, picture) = page(kind);
        let file = folder.path().join("page.png");
        picture.save(&file).unwrap();
        for engine in reader.engines() {
            let found = reader.read(engine, &file, 1).await.unwrap();
            let errors = character_errors(&text.text, &all_text(&found));
            assert!(errors < 0.03, "{engine:?} {kind:?}: {errors} {found:?}");
            assert!(found.confidence >= 0.6, "{engine:?} {kind:?}: {}", found.confidence);
            for area in found.blocks.iter().map(|block| block.area.unwrap()) {
                assert!(area.width < 0.95 && area.x >= 0.0 && area.y + area.height <= 1.001, "{area:?}");
            }
        }
    }
    let (_, picture) = page(Spoiled::Clean);
    let file = folder.path().join("page.tiff");
    std::fs::write(&file, encoded(&picture, image::ImageFormat::Tiff)).unwrap();
    // All of the text stands in the upper half of the page.
    let found = reader.read(OcrEngine::Tesseract, &file, 1).await.unwrap();
    let area = found.blocks[0].area.unwrap();
    assert!((0.05..0.15).contains(&area.y) && (0.07..0.11).contains(&area.x), "{area:?}");
    assert!(reader.show(&file, 1).await.unwrap().starts_with(b"\x89PNG"));
}

#[tokio::test]
async fn files_that_are_no_pictures_are_refused_with_what_to_do() {
    let (reader, folder) = (reader(), tempfile::tempdir().unwrap());
    let (_, picture) = page(Spoiled::Small);
    let png = encoded(&picture, image::ImageFormat::Png);
    // A bitmap of 60,000 pixels in each direction.
    let mut giant = b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x60\xea\0\0\x60\xea\0\0\x01\0\x18\0".to_vec();
    giant.resize(200, 0);
    let cases: [(&str, Vec<u8>, u32, ExtractFailureKind); 5] = [
        ("cut off", png[..png.len() / 3].to_vec(), 1, ExtractFailureKind::Broken),
        ("giant", giant, 1, ExtractFailureKind::TooLarge),
        ("noise", vec![0x7f; 900], 1, ExtractFailureKind::Broken),
        ("no such page", pdf_of_scans(std::slice::from_ref(&picture)), 7, ExtractFailureKind::Broken),
        ("no such page of a TIFF", encoded(&picture, image::ImageFormat::Tiff), 2, ExtractFailureKind::Broken),
    ];
    for (what, bytes, number, kind) in cases {
        let file = folder.path().join("file");
        std::fs::write(&file, bytes).unwrap();
        for engine in reader.engines() {
            let failure = reader.read(engine, &file, number).await.unwrap_err();
            assert_eq!(failure.kind, kind, "{what}: {failure:?}");
            assert!(failure.hint.ends_with('.'), "{failure:?}");
        }
    }
    let missing = reader.read(OcrEngine::Onnx, Path::new("/nowhere.png"), 1).await.unwrap_err();
    assert_eq!(missing.kind, ExtractFailureKind::Unreadable);
    let none = reader.read(OcrEngine::Vision, Path::new("/nowhere.png"), 1).await.unwrap_err();
    assert_eq!(none.kind, ExtractFailureKind::Unavailable);
}

fn upload(house: &House, collection: &str, name: &str, body: Vec<u8>) -> String {
    let mut url = url::Url::parse(&format!("{}/api/documents/upload", house.server.url)).unwrap();
    url.query_pairs_mut().append_pair("collection", collection).append_pair("name", name);
    let request = crate::api_routes::house::client().post(url).bearer_auth(&house.server.key).body(body);
    house.bench.runtime.block_on(async {
        let answer = request.header("content-type", "application/octet-stream").send().await.unwrap();
        let answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        text(&answer["document"]["id"])
    })
}

fn settled(house: &House, id: &str) -> Value {
    let begun = Instant::now();
    loop {
        let document = house.get(&format!("/api/documents/{id}"));
        if !matches!(document["status"].as_str(), Some("waiting" | "embedding")) {
            return document;
        }
        assert!(begun.elapsed() < PATIENCE, "{document}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn chunks(house: &House, id: &str) -> Vec<Value> {
    house.items(&format!("/api/documents/{id}/chunks"))
}

#[test]
fn a_scanned_pdf_is_found_whichever_way_it_came() {
    let house = House::new(Script::default());
    let ((first, one), (second, two)) = (page(Spoiled::Clean), page(Spoiled::Turned));
    let pdf = pdf_of_scans(&[one, two]);
    house.post("/api/collections", json!({"name": "Sent"}), 201);
    house.post("/api/collections", json!({"name": "Scanned"}), 201);
    let sent = upload(&house, "Sent", "scan.pdf", pdf.clone());
    // Texts don't wait for pictures.
    let note = upload(&house, "Sent", "note.txt", b"The pump is serviced in May.".to_vec());
    assert_eq!(settled(&house, &note)["status"], "ready");
    let document = settled(&house, &sent);
    assert_eq!(document["status"], "ready", "{document}");
    let facts = &document["facts"];
    assert_eq!((&facts["pages"], &facts["scans"]), (&json!(2), &json!(0)), "{facts}");
    assert_eq!((&facts["ocr"]["pages"], &facts["ocr"]["done"]), (&json!(2), &json!(2)), "{facts}");
    assert!(["tesseract", "onnx"].contains(&text(&facts["ocr"]["read"][1]["engine"]).as_str()), "{facts}");
    assert!(facts["ocr"]["confidence"].as_u64() >= Some(60), "{facts}");
    let listed = house.items("/api/documents").into_iter().find(|one| one["id"] == sent.as_str()).unwrap();
    assert_eq!((&listed["facts"]["ocr"]["pages"], &listed["facts"]["ocr"]["read"]), (&json!(2), &Value::Null));
    let read = chunks(&house, &sent);
    let whole: String = read.iter().map(|chunk| text(&chunk["text"]) + " ").collect();
    for text in [first, second] {
        let errors = character_errors(&text.text, &text_near(&whole, &text.text));
        assert!(errors < 0.05, "{errors}: {whole}");
    }
    assert!(read.iter().all(|chunk| !chunk["areas"].as_array().unwrap().is_empty()), "{read:?}");

    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("scan.pdf"), pdf).unwrap();
    house.post("/api/documents/batch-scan", json!({"path": folder.path(), "collection": "Scanned"}), 201);
    let begun = Instant::now();
    let found = loop {
        let all = house.items("/api/documents?status=ready");
        if let Some(found) = all.into_iter().find(|one| one["origin"] == "path") {
            break found;
        }
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(chunks(&house, &text(&found["id"])), read);
}

/// As much of `whole` as `text` is long, from where it begins.
fn text_near(whole: &str, text: &str) -> String {
    let begin: String = text.chars().take(12).collect();
    let from = whole.find(&begin).unwrap_or_else(|| panic!("`{begin}` is not in {whole}"));
    whole[from..].chars().take(text.chars().count()).collect()
}

/// A machine on which nothing reads pictures.
fn bare_machine() -> tempfile::TempDir {
    let bare = tempfile::tempdir().unwrap();
    let (programs, models) = (bare.path().join("bin"), bare.path().join("cache/models"));
    std::fs::create_dir_all(&programs).unwrap();
    std::fs::create_dir_all(&models).unwrap();
    if Path::new("/usr/bin/bwrap").exists() {
        std::os::unix::fs::symlink("/usr/bin/bwrap", programs.join("bwrap")).unwrap();
    }
    let embedder = "all-MiniLM-L6-v2-int8";
    std::os::unix::fs::symlink(cache().join("models").join(embedder), models.join(embedder)).unwrap();
    bare
}

fn serve(bench: Bench, bare: &Path, vision: &str) -> House {
    let (programs, cache) = (bare.join("bin").display().to_string(), bare.join("cache").display().to_string());
    let variables = [("PATH", programs.as_str()), ("STEWARD_CACHE", &cache), ("STEWARD_OCR_VISION", vision)];
    let server = Server::start_with(&bench, &variables);
    House { bench, server }
}

#[test]
fn without_an_engine_it_is_said_what_to_install() {
    let bare = bare_machine();
    let house = serve(Bench::new(Script::default()), bare.path(), "in_house");
    house.post("/api/collections", json!({"name": "Sent"}), 201);
    let (_, picture) = page(Spoiled::Clean);
    let document = settled(&house, &upload(&house, "Sent", "scan.png", encoded(&picture, image::ImageFormat::Png)));
    assert_eq!((&document["status"], &document["facts"]["ocr"]), (&json!("failed"), &Value::Null), "{document}");
    let problem = &document["problem"];
    assert!(text(&problem["message"]).contains("pictures") && text(&problem["hint"]).contains("tesseract-ocr"));
}

#[test]
fn a_model_that_sees_reads_what_others_can_not() {
    let (text_of_page, picture) = page(Spoiled::Small);
    let script = Script::always(Behaviour::text(text_of_page.text.clone()));
    let bare = bare_machine();
    let house = serve(Bench::new(script), bare.path(), "off");
    house.post("/api/collections", json!({"name": "Sent"}), 201);
    let input = json!({"name": "eyes", "provider": "compatible", "base_url": house.bench.model.base_url(),
        "model": "scripted", "auth": {"kind": "none"}, "capabilities": {"vision": true}});
    house.post("/api/connections", input, 201);
    let id = upload(&house, "Sent", "page.png", encoded(&picture, image::ImageFormat::Png));
    assert_eq!(settled(&house, &id)["status"], "failed");
    let was_shown = house.bench.model.requests().iter().any(|one| format!("{one:?}").contains("image_url"));
    assert!(!was_shown);

    let House { bench, server } = house;
    server.kill();
    let house = serve(bench, bare.path(), "in_house");
    house.post(&format!("/api/documents/{id}/process"), json!({}), 200);
    let read = settled(&house, &id);
    assert_eq!(read["status"], "ready", "{read}");
    assert_eq!(read["facts"]["ocr"]["read"][0]["engine"], "vision", "{read}");
    assert!(text(&chunks(&house, &id)[0]["text"]).contains(&text_of_page.text[..30]));
}
