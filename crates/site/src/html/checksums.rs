//! The `integrity` of elements that load scripts which have changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use data_encoding::BASE64;
use parking_lot::Mutex;
use sha2::{Digest, Sha256, Sha384, Sha512};

use std::fs;

/// [Subresource Integrity](https://w3c.github.io/webappsec-subresource-integrity/) knows these, in this order of
/// strength.
const ALGORITHMS: [&str; 3] = ["sha256", "sha384", "sha512"];

/// The checksums of a file, as `integrity` has them, in the order of [`ALGORITHMS`].
type Checksums = [String; 3];

/// Checksums of files, each computed once. All threads share it.
#[derive(Debug, Default)]
pub struct KnownChecksums(Mutex<HashMap<PathBuf, Option<Checksums>>>);

impl KnownChecksums {
    /// The new value of `integrity` for a script that was at `plain` and is now at `instrumented`. `None` if the old
    /// value is not the plain script's: then the script is blocked now as before.
    pub fn replaced(&self, value: &str, plain: &Path, instrumented: &Path) -> Option<String> {
        let (old, new) = (self.of(plain)?, self.of(instrumented)?);
        let words: Vec<&str> =
            value.split_ascii_whitespace().map(|word| word.split('?').next().unwrap_or(word)).collect();
        let is_right = (0..3).any(|index| words.contains(&old[index].as_str()));
        let used = (0..3).filter(|&index| words.iter().any(|word| word.starts_with(ALGORITHMS[index])));
        is_right.then(|| used.map(|index| new[index].as_str()).collect::<Vec<_>>().join(" "))
    }

    fn of(&self, path: &Path) -> Option<Checksums> {
        if let Some(known) = self.0.lock().get(path) {
            return known.clone();
        }
        let sums = fs::read(path).ok().map(|bytes| {
            let sums = [
                BASE64.encode(&Sha256::digest(&bytes)),
                BASE64.encode(&Sha384::digest(&bytes)),
                BASE64.encode(&Sha512::digest(&bytes)),
            ];
            let mut names = ALGORITHMS.iter();
            sums.map(|sum| format!("{}-{sum}", names.next().unwrap_or(&"")))
        });
        self.0.lock().insert(path.to_owned(), sums.clone());
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_checksums_are_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let [plain, new] = ["plain.js", "new.js"].map(|name| directory.path().join(name));
        fs::write(&plain, "").unwrap();
        fs::write(&new, "abc").unwrap();
        // The checksums of nothing and of "abc", from FIPS 180-4's examples.
        const NOTHING: &str = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        const ABC: &str = "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
        let known = KnownChecksums::default();
        let replaced = |value: &str| known.replaced(value, &plain, &new);
        assert_eq!(replaced(NOTHING).as_deref(), Some(ABC));
        assert_eq!(replaced(&format!(" {NOTHING}?x\n")).as_deref(), Some(ABC));
        assert_eq!(replaced(ABC), None);
        assert_eq!(replaced(""), None);
        let both = replaced(&format!("{NOTHING} sha512-x")).unwrap();
        assert!(both.starts_with(ABC) && both.contains(" sha512-") && !both.contains("sha384"), "{both}");
    }
}
