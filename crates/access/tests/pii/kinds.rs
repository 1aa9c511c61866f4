//! Cases by kind. What must be found stands between `«kind:` and `»`; nothing else may be.

use steward_access::governance::Detector;

fn check(marked: &str) {
    let (mut text, mut expected, mut rest) = (String::new(), Vec::new(), marked);
    while let Some((before, after)) = rest.split_once('«') {
        let (kind, after) = after.split_once(':').unwrap();
        let (value, after) = after.split_once('»').unwrap();
        text.push_str(before);
        expected.push((kind, value));
        text.push_str(value);
        rest = after;
    }
    text.push_str(rest);
    let found = Detector::shared().unwrap().find(&text);
    let found: Vec<_> = found.into_iter().map(|found| (found.kind.as_str(), &text[found.range])).collect();
    assert_eq!(found, expected, "{marked}");
}

#[test]
fn addresses_of_mail() {
    check("Write to «email:ann.lee+news@mail.example.org».");
    check("<«email:jörg@müller-bau.de»>, <mailto:«email:a_b@x.io»>");
    check("git@host.example:group/repo.git and logo@2x.png and a@b");
    check("npm i left-pad@1.3.0 react@latest @scope/name@2.0.0");
}

#[test]
fn phones() {
    check("«phone:+49 (0)30 901820-14» or «phone:0044 20 7946 0958»");
    check("Tel. «phone:471 1234»");
    check("«phone:(415) 555-0132», «phone:415-555-0132», «phone:06 12 34 56 78», «phone:0171/2345678»");
    check("order 4155550132, ISBN 978-3-16-148410-0, invoice 0171 2345678, 12.03.2024 10:15, 2024-05-01");
    check("range 1 204 331 to 2 981 005; 3.14159265; 00:00:10,500");
    check("phone booked for 3 days, call at 10:15 on 12.03.2024");
}

#[test]
fn accounts_and_cards() {
    check("«iban:DE89 3704 0044 0532 0130 00» and «iban:GB82WEST12345698765432»");
    check("DE89 3704 0044 0532 0130 01 has a wrong check; DE89 is short");
    check("«payment_card:4111 1111 1111 1111» 12/27, «payment_card:378282246310005»");
    check("4111 1111 1111 1112 and order 4111111111111111");
}

#[test]
fn identities() {
    check("Steuer-ID «national_id:86 095 742 719», SSN «national_id:532-48-7719»");
    check("«national_id:12345678Z» is right, 12345678A is not");
    check("«national_id:RSSMRA85M01H501Q», «national_id:756.9217.0769.85», «national_id:JG 10 37 59 A»");
    check("passport no. «national_id:533401372»");
    check("666-12-3456 and 86095742710 and 44051401358");
}

#[test]
fn names() {
    check("«person_name:Anna Müller» asked «person_name:Jean-Pierre de La Tour».");
    check("Frau Dr. med. «person_name:Xyrna Quell», Mr. «person_name:O'Neill» and M. «person_name:Lefèvre»");
    check("My name is «person_name:Thandiwe Nkosi».");
    check("Dear «person_name:Zoltan»,\nsee below.\nBest regards,\n«person_name:Ulrike Sandmann»");
    check("«person_name:Müller, Anna»; «person_name:DUPONT Jean»; «person_name:J. Smith»");
    check("\"last_name\": \"«person_name:Rautenberg»\"");
    check("«person_name:Qwenda Tarbo» <«email:q@example.org»>");
    check("«person_name:Marcus Bell» came late. Then «person_name:Bell» left again.");
    check("gib «person_name:Lena» Bescheid, «person_name:Peter» Urlaub");
    check("Dear Customer, Hi team, Best regards,\nThe Support Team");
    check("Rue Victor Hugo, Martin GmbH, Robert-Bosch-Schule, St. Mary Hospital, Hurricane Maria");
    check("The Florence office opens in May; Will the April report mention Grace Periods?");
    check("file_name: Blue Widget, product name: Green Lantern");
}

#[test]
fn addresses_of_machines() {
    check("from «ip_address:84.132.77.19» to «ip_address:2001:db8::8a2e:370:7334»");
    check("127.0.0.1, 0.0.0.0, ::1, 255.255.255.0, 10.0.0.0/8");
    check("version 10.2.14.3, v1.2.3.4, section 3.2.1.4, 12:30:45, std::a1::b2, 300.1.1.1, 1.2.3.4.5");
}

#[test]
fn births() {
    check(
        "born on «date_of_birth:2 February 1991», geb. «date_of_birth:04.11.1962», né le «date_of_birth:14 juillet 1969»",
    );
    check("Date of birth: «date_of_birth:March 3rd, 1980»; nacido el «date_of_birth:5 de mayo de 1987»");
    check("due on 12.03.2024, founded on 1 March 1987, 2024-05-01");
}

#[test]
fn secrets() {
    check("password: «secret:hunter2!» and pwd=«secret:s3cr3t_x»");
    check("DB=«secret:postgres://app:Tr0ub4dor@db:5432/ledger», https://example.org/a:b@c");
    check("AWS «secret:AKIAIOSFODNN7ABCDEFG»");
    check(
        "Authorization: Bearer «secret:eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P»",
    );
    check("«secret:-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----»\nrest");
    check("api_key = \"«secret:9fQ2mVxT7cLw4RkZ8sYb»\"");
    check("password=${DB_PASSWORD} token: <token> secret: ******** password: required");
    check("let password = password.to_owned(); let key = rest[1..].split(mark); secrets::hexadecimal(24)");
    check("The password must have 12 characters. The token expires. Commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b");
    check(
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08, 123e4567-e89b-12d3-a456-426614174000",
    );
}

#[test]
fn rows_under_a_heading() {
    check(
        "Name;Vorname;Geburtsdatum;Telefon\n«person_name:Qwendal»;«person_name:Hery»;«date_of_birth:18.12.1992»;«phone:08651 4471»",
    );
    check(
        "| Full name | Team |\n|---|---|\n| «person_name:Thandiwe Nkosi» | Rose |\n| «person_name:Xyrna Quell» | Florence |",
    );
    check("code,product,maker\n77,Bed Luisa,Flou\n78,Lamp Emma,Thonet");
    check("user,password\nbob,«secret:Kelp!forest9»\namy,changeme");
}

#[test]
fn names_by_what_stands_beside_them() {
    check("«person_name:Zeisig, Arnulf»; «person_name:Vogt, Hiltrud»; «person_name:ZERROUKI Samir»");
    check(
        "Attendees: «person_name:Anna Müller», «person_name:Xyrna Quell» and «person_name:Zo Arkwell»\nMinutes: Sales Team",
    );
    check(
        "«person_name:Mathilde Overbeck», geb. «person_name:Lüning», was born «date_of_birth:4 May 1961», moved 7 May 1962",
    );
    check("Ask «person_name:Xyrna Quell», «email:xyrna.quell@example.org», or «person_name:J. R. Castrell».");
    check("Nom : «person_name:Quéméneur»\nPrénom : «person_name:Armelle»\n");
    check("12 sillas Lucía, Stuhl Emma, Sala Leonardo, Lampada Viola, Modell Oskar: 4 Stück");
    check("Write to us, <«email:a@example.org»> or: (\"«email:b@example.org»\")");
}

#[test]
fn secrets_of_commands_and_letters() {
    check("curl -u deploy:«secret:Xk29fkeoWq» https://example.org; docker run -u app:staff image");
    check("the password you gave me, «secret:Sunflower#41», fails; <password>«secret:Kelp!forest9»</password>");
    check("ftp://[user][:pass]@host and --password=FILE");
}
