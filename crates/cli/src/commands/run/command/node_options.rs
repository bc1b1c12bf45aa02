//! The options of Node.js that have a value, to find the script after them.

use std::ffi::{OsStr, OsString};

/// Options whose value may be the next word, in Node.js 20 to 26. Options of V8 have theirs after `=`.
#[rustfmt::skip]
const WITH_VALUE: &[&str] = &[
    "--allow-fs-read", "--allow-fs-write", "--bench-isolation", "--bench-name-pattern", "--bench-reporter",
    "--bench-reporter-destination", "--bench-samples", "--bench-warmup",
    "--build-snapshot-config", "--conditions", "--cpu-prof-dir", "--cpu-prof-interval", "--cpu-prof-name",
    "--debug-port", "--diagnostic-dir", "--disable-proto", "--disable-warning", "--dns-result-order",
    "--env-file", "--env-file-if-exists", "--experimental-config-file", "--experimental-default-config-file",
    "--experimental-default-type", "--experimental-loader", "--experimental-package-map",
    "--experimental-policy", "--experimental-sea-config", "--experimental-test-isolation",
    "--experimental-test-tag-filter", "--heap-prof-dir", "--heap-prof-interval", "--heap-prof-name",
    "--heapsnapshot-near-heap-limit", "--heapsnapshot-signal", "--icu-data-dir", "--import", "--input-type",
    "--inspect-port", "--inspect-publish-uid", "--loader", "--localstorage-file", "--max-http-header-size",
    "--max-old-space-size-percentage", "--network-family-autoselection-attempt-timeout", "--openssl-config",
    "--policy-integrity", "--redirect-warnings", "--report-dir", "--report-directory", "--report-filename",
    "--report-signal", "--require", "--secure-heap", "--secure-heap-min", "--security-revert", "--snapshot-blob",
    "--stack-trace-limit", "--test-concurrency", "--test-coverage-branches", "--test-coverage-exclude",
    "--test-coverage-functions", "--test-coverage-include", "--test-coverage-lines", "--test-global-setup",
    "--test-isolation", "--test-name-pattern", "--test-random-seed", "--test-reporter",
    "--test-reporter-destination", "--test-rerun-failures", "--test-shard", "--test-skip-pattern",
    "--test-timeout", "--title", "--tls-cipher-list", "--tls-keylog", "--trace-event-categories",
    "--trace-event-file-pattern", "--unhandled-rejections", "--use-largepages", "--v8-pool-size", "--vfs-load",
    "--vfs-mount", "--watch-kill-signal", "--watch-path", "-C", "-r",
];

/// Options with a program in place of a script.
const WITHOUT_SCRIPT: [&str; 8] = ["-e", "--eval", "-p", "-pe", "--print", "--run", "--build-sea", "-"];

/// The script among the arguments of Node.js. It is a guess only for options of other versions of Node.js.
pub fn script(arguments: &[OsString]) -> Option<&OsStr> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        // What is not Unicode is a path.
        let option = word.to_str().filter(|word| word.starts_with('-'));
        match option
            .map(|option| option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value))))
        {
            None => return Some(word),
            Some(("--", None)) => return words.next().map(OsString::as_os_str),
            Some((name, _)) if WITHOUT_SCRIPT.contains(&name) => return None,
            Some((name, None)) if WITH_VALUE.contains(&name.replace('_', "-").as_str()) => {
                words.next();
            }
            Some(_) => {}
        }
    }
    None
}

/// Whether the options turn on Node.js's permission model.
pub fn have_permission_model(arguments: &[OsString]) -> bool {
    let script = script(arguments);
    let options = arguments
        .iter()
        .take_while(|word| !script.is_some_and(|script| std::ptr::eq(script, word.as_os_str())));
    options.into_iter().any(|option| is_permission_model(&option.to_string_lossy()))
}

/// Whether this option turns on Node.js's permission model.
pub fn is_permission_model(option: &str) -> bool {
    matches!(option, "--permission" | "--experimental-permission")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_permission_model_is_an_option_before_the_script() {
        #[track_caller]
        fn check(arguments: &str, expected: bool) {
            let words: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
            assert_eq!(have_permission_model(&words), expected, "{arguments}");
        }
        check("--permission a.js", true);
        check("--import x --experimental-permission --allow-fs-read=* a.js", true);
        check("a.js --permission", false);
        check("--import --permission a.js", true);
        check("-e 1 --permission", true);
    }

    #[test]
    fn scripts_are_found_after_options() {
        #[track_caller]
        fn check(arguments: &str, expected: Option<&str>) {
            let arguments: Vec<OsString> = arguments.split_whitespace().map(OsString::from).collect();
            assert_eq!(script(&arguments), expected.map(OsStr::new), "{arguments:?}");
        }
        check("a.js b.js", Some("a.js"));
        check("--import tsx a.mts", Some("a.mts"));
        check("--import=tsx a.mts --import b", Some("a.mts"));
        check("--max-old-space-size=100 --expose-gc a.js", Some("a.js"));
        check("-r ./x -C dev a.js", Some("a.js"));
        check("--env_file .env a.js", Some("a.js"));
        check("--env-file=.env -- a.js", Some("a.js"));
        check("--test a.test.js", Some("a.test.js"));
        check("--test-reporter spec --test", None);
        check("-e 1 a.js", None);
        check("--eval=1 a.js", None);
        check("-pe 1 a.js", None);
        check("--run build", None);
        check("- a.js", None);
        check("--", None);
        check("--import", None);
        check("", None);
    }
}
