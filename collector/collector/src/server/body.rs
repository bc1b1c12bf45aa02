//! Bodies of requests, within limits: of one, and of all together.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use flate2::read::MultiGzDecoder;
use http_body_util::BodyExt;

use super::problem::Problem;

/// The largest body, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Largest {
    /// As it is sent.
    sent: usize,
    /// After decompression.
    inflated: usize,
}

/// Of profiles.
pub const PROFILES: Largest = Largest { sent: 8 << 20, inflated: 32 << 20 };

/// Of OTLP profiles, which are compact, and become many times as large in memory.
pub const OTLP: Largest = Largest { sent: 8 << 20, inflated: 16 << 20 };

/// Of a source map.
pub const MAP: Largest = Largest { sent: 64 << 20, inflated: 64 << 20 };

/// The bytes of all bodies together.
const MAX_TOGETHER: usize = 128 << 20;

/// How long a body may take.
const BODY_TIME: Duration = Duration::from_secs(30);

/// The first bytes of gzip. Neither JSON nor protobuf begins like this.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The bytes of all bodies that are being read or taken in.
#[derive(Debug, Default)]
pub struct Budget(Arc<AtomicUsize>);

/// Bytes of the budget, which are given back at the end of the request.
#[derive(Debug)]
pub struct Share {
    all: Arc<AtomicUsize>,
    bytes: usize,
}

impl Budget {
    fn share(&self) -> Share {
        Share { all: Arc::clone(&self.0), bytes: 0 }
    }
}

impl Share {
    fn grow(&mut self, bytes: usize) -> Result<(), Problem> {
        self.bytes += bytes;
        if self.all.fetch_add(bytes, Ordering::Relaxed) + bytes > MAX_TOGETHER {
            return Err(Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "too many profiles arrive at the same time",
            )
            .retry_after(1));
        }
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The body of a request, decompressed.
pub async fn read(
    budget: &Budget,
    headers: &HeaderMap,
    body: Body,
    largest: Largest,
) -> Result<(Vec<u8>, Share), Problem> {
    let mut share = budget.share();
    let sent = tokio::time::timeout(BODY_TIME, collect(body, &mut share, largest.sent));
    let sent = sent
        .await
        .map_err(|_| Problem::new(StatusCode::REQUEST_TIMEOUT, "the body took more than 30 seconds"))??;
    let encoding = headers.get(header::CONTENT_ENCODING).map(|value| value.as_bytes().to_ascii_lowercase());
    match encoding.as_deref() {
        // Pages leave the header out, because browsers would ask before each request whether it may have it.
        None if sent.starts_with(&GZIP) => {
            let inflated = inflate(&sent, &mut share, largest.inflated)?;
            Ok((inflated, share))
        }
        None | Some(b"" | b"identity") => Ok((sent, share)),
        Some(b"gzip" | b"x-gzip") => {
            let inflated = inflate(&sent, &mut share, largest.inflated)?;
            Ok((inflated, share))
        }
        Some(_) => Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Content-Encoding is neither gzip nor identity",
        )),
    }
}

async fn collect(mut body: Body, share: &mut Share, limit: usize) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Problem::new(StatusCode::BAD_REQUEST, "the body ended early"))?;
        let Ok(data) = frame.into_data() else { continue };
        share.grow(data.len())?;
        bytes.extend_from_slice(&data);
        if bytes.len() > limit {
            return Err(too_large("body", limit));
        }
    }
    Ok(bytes)
}

fn inflate(sent: &[u8], share: &mut Share, limit: usize) -> Result<Vec<u8>, Problem> {
    let mut decoder = MultiGzDecoder::new(sent);
    let mut bytes = Vec::new();
    let mut piece = [0; 64 << 10];
    loop {
        let length = decoder.read(&mut piece).map_err(|error| {
            Problem::new(StatusCode::BAD_REQUEST, format!("the body is not gzip: {error}"))
        })?;
        if length == 0 {
            return Ok(bytes);
        }
        share.grow(length)?;
        bytes.extend_from_slice(&piece[..length]);
        if bytes.len() > limit {
            return Err(too_large("decompressed body", limit));
        }
    }
}

fn too_large(what: &str, limit: usize) -> Problem {
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the {what} has more than {} MiB", limit >> 20))
}
