//! OTLP profiles, also hostile ones. `senders/otlp.test.mjs` has them written by OpenTelemetry's own definitions.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use selfprof_formats::{Format, Thread, WriteOptions, otlp, w3c};
use serde_json::json;

use crate::server::{Server, profile};

/// What `selfprof convert --to otlp` writes.
fn written(samples: usize) -> Vec<u8> {
    let trace = profile("a", samples)["trace"].to_string();
    let (trace, _) = w3c::read(trace.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    otlp::write(&[Thread::main(trace)], &mut bytes, WriteOptions::default()).unwrap();
    assert_eq!(Format::of_name("a.otlp"), Some(Format::Otlp));
    bytes
}

/// A field of a message.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(content.len()).unwrap();
    assert!(length < 128);
    [&[number << 3 | 2, length], content].concat()
}

/// The same request with attributes of the resource.
fn of_service(attributes: &[(&str, &str)], written: &[u8]) -> Vec<u8> {
    let attributes = attributes.iter().flat_map(|(key, value)| {
        let value = field(1, value.as_bytes());
        field(1, &[field(1, key.as_bytes()), field(2, &value)].concat())
    });
    let resource = field(1, &attributes.collect::<Vec<u8>>());
    // The first field of the request is the profiles of a resource, whose parts may come in any order.
    assert_eq!(written[0], 0x0a);
    let (length, begin) = match written[1] {
        low @ 0..0x80 => (usize::from(low), 2),
        low => (usize::from(low & 0x7f) | usize::from(written[2]) << 7, 3),
    };
    let profiles = [&resource[..], &written[begin..begin + length]].concat();
    let mut request = vec![0x0a, profiles.len() as u8 & 0x7f | 0x80, (profiles.len() >> 7) as u8];
    request.extend(profiles);
    request.extend(&written[begin + length..]);
    request
}

#[tokio::test(flavor = "multi_thread")]
async fn profiles_of_services_are_taken_in_once() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let url = format!("{}/v1development/profiles", server.url);
    let post = |body: Vec<u8>| {
        server.client.post(&url).header("content-type", "application/x-protobuf").body(body).send()
    };
    let attributes = [
        ("service.name", "shop"),
        ("service.version", "1.4"),
        ("deployment.environment.name", "test"),
        ("service.instance.id", "a"),
    ];
    let request = of_service(&attributes, &written(5));
    let response = post(request.clone()).await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["content-type"]),
        (200, &"application/x-protobuf".parse().unwrap())
    );
    assert!(response.bytes().await.unwrap().is_empty());
    // Again, gzipped.
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&request).unwrap();
    let request = server.client.post(&url).header("content-encoding", "gzip").body(gzip.finish().unwrap());
    assert_eq!(request.send().await.unwrap().status(), 200);
    server.wait_for(1).await;
    let functions = server.ask("/api/v1/functions?app=shop").await;
    assert_eq!(
        (&functions["profiles"], &functions["samples"], &functions["busy"]["time"]),
        (&json!(1), &json!(5), &json!(50.0))
    );
    assert_eq!(
        functions["functions"][0],
        json!({ "name": "slow", "resource": "https://shop.example/app.js", "line": 9, "column": 3,
            "selfTime": 50.0, "totalTime": 50.0, "selfSamples": 5, "totalSamples": 5 })
    );
    let list = server.ask("/api/v1/profiles?app=shop").await;
    let labels =
        ["release", "environment", "device", "page"].map(|name| list["profiles"][0][name].as_str().unwrap());
    assert_eq!(labels, ["1.4", "test", "server", ""]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_taken_in_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let url = format!("{}/v1development/profiles", server.url);
    let post = async |kind: &str, body: Vec<u8>| {
        let response = server.client.post(&url).header("content-type", kind).body(body).send().await.unwrap();
        let status = response.status().as_u16();
        (status, String::from_utf8_lossy(&response.bytes().await.unwrap()).into_owned())
    };
    let protobuf = "application/x-protobuf";
    // The profile is rejected, and not the request.
    let (status, text) = post(protobuf, of_service(&[("service.name", "my shop")], &written(5))).await;
    assert_eq!((status, text.contains("not a name of an application")), (200, true), "{text}");
    let (status, text) = post(protobuf, written(5)).await;
    assert_eq!((status, text.contains("it is missing")), (200, true), "{text}");
    let (status, text) = post(protobuf, vec![0x0a, 99]).await;
    assert_eq!((status, text.contains("not an OTLP profile")), (400, true), "{text}");
    assert_eq!(post(protobuf, [0x0a, 0].repeat(4_000_000)).await.0, 400);
    assert_eq!(post("application/json", b"{}".to_vec()).await.0, 415);
    assert_eq!(post(protobuf, vec![]).await, (200, String::new()));
    let metrics =
        server.client.get(format!("{}/metrics", server.url)).send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("selfprof_profiles_refused_total 2\n"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_decides_which_application_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("settings.toml");
    fs::write(&config, "[apps.shop]\nkeys = ['0123456789abcdef']").unwrap();
    let server = Server::start(&folder.path().join("data"), &["--config", config.to_str().unwrap()]);
    let post = async |key: &str, body: Vec<u8>| {
        let url = format!("{}/v1development/profiles?key={key}", server.url);
        let response = server.client.post(url).body(body).send().await.unwrap();
        (response.status().as_u16(), response.bytes().await.unwrap().len())
    };
    assert_eq!(post("fedcba9876543210", written(5)).await.0, 401);
    assert_eq!(
        post("0123456789abcdef", of_service(&[("service.name", "unknown_service:node")], &written(5))).await,
        (200, 0)
    );
    assert_eq!(
        post("0123456789abcdef", of_service(&[("service.name", "shop")], &written(6))).await,
        (200, 0)
    );
    let (status, length) =
        post("0123456789abcdef", of_service(&[("service.name", "other")], &written(7))).await;
    assert!((status, length > 0) == (200, true));
    let bearer =
        server.client.post(format!("{}/v1development/profiles", server.url)).bearer_auth("0123456789abcdef");
    assert_eq!(bearer.body(written(8)).send().await.unwrap().status(), 200);
}
