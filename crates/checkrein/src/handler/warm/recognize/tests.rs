use super::*;

#[test]
fn interpreters_have_known_names() {
    for (name, language) in [
        ("python", Some(Language::Python)),
        ("python3", Some(Language::Python)),
        ("python3.11", Some(Language::Python)),
        ("node", Some(Language::Node)),
        ("nodejs", Some(Language::Node)),
        ("pythonw", None),
        ("python3-config", None),
        ("node20", None),
        ("mise", None),
        ("", None),
    ] {
        assert_eq!(by_name(name), language, "{name}");
    }
}

#[test]
fn imports_of_whole_packages_are_found() {
    for (line, package) in [
        ("import urllib", Some("urllib")),
        ("    import os, importlib  # both", Some("importlib")),
        ("import urllib.parse", None),
        ("from urllib import parse", None),
        ("import json, urllib.request", None),
        ("important urllib", None),
        ("import concurrent.futures as urllib_like", None),
    ] {
        assert_eq!(bare_package(line), package, "{line}");
    }
}

#[test]
fn variables_that_change_the_start_are_refused() {
    let of = |name: &str, value: &str| start_env(Language::Python, &[(name.to_owned(), value.to_owned())]);
    assert_eq!(of("PYTHONPATH", "/a:/b").unwrap().len(), 1);
    assert_eq!(of("LC_ALL", "C").unwrap().len(), 1);
    assert_eq!(of("OTHER", "x").unwrap().len(), 0);
    assert!(of("PYTHONPATH", "/a:b").is_err());
    assert!(of("PYTHONPATH", "").is_err());
    assert!(of("PYTHONPROFILEIMPORTTIME", "1").is_err());
    let node = |name: &str| start_env(Language::Node, &[(name.to_owned(), "x".to_owned())]);
    assert!(node("NODE_OPTIONS").is_err());
    assert!(node("NODE_V8_COVERAGE").is_err());
    assert_eq!(node("NODE_ENV").unwrap().len(), 1);
}
