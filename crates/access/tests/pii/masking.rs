//! Masks, and putting values back.

use steward_access::governance::{Detector, MaskStyle, PiiKind, unmask};

const LETTER: &str = "Ann Lee (ann@example.org) wrote to ann@example.org and bob@example.org.";

#[test]
fn labels_leave_nothing() {
    let masked = Detector::shared().unwrap().mask(LETTER, &PiiKind::ALL, MaskStyle::Label);
    assert_eq!(masked.text, "[person_name] ([email]) wrote to [email] and [email].");
    assert!(masked.masks.is_empty());
    assert_eq!(masked.counts, [(PiiKind::PersonName, 1), (PiiKind::Email, 3)]);
}

#[test]
fn tokens_are_the_same_for_the_same_value_and_come_back() {
    let masked = Detector::shared().unwrap().mask(LETTER, &[PiiKind::Email], MaskStyle::Token);
    assert_eq!(masked.text, "Ann Lee ([email-1]) wrote to [email-1] and [email-2].");
    assert_eq!(unmask(&masked.text, &masked.masks), LETTER);
    assert_eq!(unmask("[email-2] [email-3] [", &masked.masks), "bob@example.org [email-3] [");
}

#[test]
fn tokens_of_the_text_itself_come_back_as_they_were() {
    let text = "[email-1] is a@example.org, not [email-3]; b@example.org and c@example.org";
    let masked = Detector::shared().unwrap().mask(text, &PiiKind::ALL, MaskStyle::Token);
    assert_eq!(masked.text, "[email-1] is [email-2], not [email-3]; [email-4] and [email-5]");
    assert_eq!(unmask(&masked.text, &masked.masks), text);
}

#[test]
fn values_are_not_in_debug_output() {
    let masked = Detector::shared().unwrap().mask(LETTER, &PiiKind::ALL, MaskStyle::Token);
    assert!(!format!("{masked:?}").contains("ann@"), "{masked:?}");
}

#[test]
fn secrets_are_found_to_their_end_however_long_they_are() {
    let detector = Detector::shared().unwrap();
    let masked = |text: &str| detector.mask(text, &[PiiKind::Secret], MaskStyle::Label).text;
    let token = format!("eyJ{}.eyJ{}.{}", "a1".repeat(50), "b2".repeat(5_000), "c3".repeat(50));
    assert_eq!(masked(&format!("It is {token} here.")), "It is [secret] here.");
    let address = format!("postgres://me:s3cret-9@db.example.org/x?{}", "y".repeat(9_000));
    assert_eq!(masked(&format!("At {address} now")), "At [secret] now");
    let key = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", "QUJD".repeat(10_000));
    assert_eq!(masked(&format!("{key}\n")), "[secret]\n");
    // One that is longer than what is searched for its end.
    let cut = format!("-----BEGIN PRIVATE KEY-----\n{}\n", "QUJD".repeat(50_000));
    assert_eq!(masked(&format!("{cut}-- that was all")), "[secret]-- that was all");
    assert_eq!(masked("curl -u deploy:Xk29fkeoWq https://example.org"), "curl -u deploy:[secret] https://example.org");
}

#[test]
fn texts_of_nothing_but_beginnings_are_read_once() {
    let detector = Detector::shared().unwrap();
    for piece in ["z:", "a://", "eyJa-", "password ", "["] {
        let text = piece.repeat(150_000 / piece.len());
        assert!(detector.mask(&text, &PiiKind::ALL, MaskStyle::Token).text == text, "{piece}");
    }
    let openings = "-----BEGIN PRIVATE KEY-----".repeat(6_000);
    assert_eq!(detector.mask(&openings, &[PiiKind::Secret], MaskStyle::Label).counts, [(PiiKind::Secret, 6_000)]);
    let masks = detector.mask(LETTER, &[PiiKind::Email], MaskStyle::Token).masks;
    let text = format!("{}]", "[".repeat(150_000));
    assert_eq!(unmask(&text, &masks), text);
}

/// Each of these once cost its length squared, minutes or hours for one of these texts: a value without an end, a name in a
/// list whose bracket is never closed, words before an address, cells of nothing but tabs.
#[test]
fn what_has_no_end_is_not_looked_for_at_each_place() {
    let detector = Detector::shared().unwrap();
    for piece in [
        "password:",
        "(password!",
        "password.",
        "http://a:b@",
        "name: Ana Ruiz (",
        "Ana'",
        ":a@b.co",
        " -u a:bcdef",
        "key=abcdefgh1=",
    ] {
        let text = piece.repeat(100_000 / piece.len());
        std::hint::black_box(detector.find(&text));
    }
    let table = format!("Name\tGeboren\nAnna Berg\t1.2.1980\n{}", "\t".repeat(1_000_000));
    assert_eq!(detector.mask(&table, &PiiKind::ALL, MaskStyle::Label).counts.len(), 2);
    let addresses: Vec<String> = (0..40_000).map(|number| format!("a{number}@example.org")).collect();
    let text = format!("[email-1] {}", addresses.join(" "));
    let masked = detector.mask(&text, &PiiKind::ALL, MaskStyle::Token);
    assert_eq!((masked.masks.len(), masked.masks[0].token.as_str()), (40_000, "[email-2]"));
    assert_eq!(unmask(&masked.text, &masked.masks), text);
}

/// Once the stack overflowed with them, and the program ended.
#[test]
fn particles_without_end_are_no_name() {
    let detector = Detector::shared().unwrap();
    for begins in ["Herr ", "Frau von "] {
        assert_eq!(detector.find(&format!("{begins}{}", "d'".repeat(300_000))), []);
    }
    assert_eq!(detector.find("Herr d'Arnaud")[0].range, 5..13);
}

proptest::proptest! {
    #[test]
    fn any_text_is_masked_and_comes_back(text in "(\\PC|\n| |@|[0-9]|[+(:.'-]|Herr |Anna |Müller|password=|geb\\. |://|IBAN DE|\u{a0}|’){0,60}") {
        let masked = Detector::shared().unwrap().mask(&text, &PiiKind::ALL, MaskStyle::Token);
        assert_eq!(unmask(&masked.text, &masked.masks), text);
    }
}
