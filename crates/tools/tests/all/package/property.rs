//! Any files survive being written and read.

use super::files;
use proptest::collection::{btree_map, vec};
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use steward_tools::package::{Files, diff, hash, read, write};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn written_and_read_is_the_same(
        more in btree_map("(references|scripts|assets)/[a-z0-9]{1,8}(/[a-zäöü]{1,6}){0,2}\\.md", vec(any::<u8>(), 0..400), 0..12),
    ) {
        let mut all: Files = files("some-package", &[]);
        // The beginnings of archives are refused; a letter in front of them is no archive.
        all.extend(more.into_iter().map(|(path, content)| (path, [b"x".as_slice(), &content].concat())));
        let archive = write("some-package", &all);
        prop_assert_eq!(&archive, &write("some-package", &all));
        let back = read(&archive).unwrap();
        prop_assert_eq!(&back.files, &all);
        prop_assert_eq!(&back.hash, &hash(&all));
        prop_assert!(diff(&all, &back.files).is_empty());
    }

    #[test]
    fn nothing_makes_it_panic(bytes in vec(any::<u8>(), 0..600), at in 0_usize..400, value in any::<u8>()) {
        prop_assert!(read(&bytes).is_err());
        let mut archive = write("p", &files("p", &[("references/a.md", "# A")]));
        let index = at % archive.len();
        archive[index] = value;
        let _ = read(&archive);
    }
}
