//! Servers and proxies of a test.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A request without a body.
#[derive(Clone, Debug)]
pub struct Request {
    /// The path with the query.
    pub path: String,
    /// The first line and the headers, whose names are in lower case.
    pub head: Vec<String>,
}

impl Request {
    /// Whether it has this header: `name: value`.
    pub fn has(&self, header: &str) -> bool {
        self.head.iter().any(|line| line == header)
    }
}

/// A server, whose threads end with the test.
pub struct Server {
    pub address: SocketAddr,
    /// The requests that have come.
    pub requests: Receiver<Request>,
}

/// What the client trusts: a certificate authority, and the certificate of a server.
pub struct Certificates {
    config: Arc<ServerConfig>,
    folder: tempfile::TempDir,
}

impl Certificates {
    /// For these hosts.
    pub fn new(hosts: &[&str]) -> Self {
        let mut of_authority = CertificateParams::default();
        of_authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(of_authority, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
        let certificate = CertificateParams::new(hosts).unwrap().signed_by(&key, &authority).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("authority.pem"), authority.pem()).unwrap();
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        Self { config: Arc::new(config), folder }
    }

    /// The file with the authority, as SSL_CERT_FILE names it.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }
}

impl Server {
    /// Answers each request with a head, which is a status and lines that each end with a line break, and a body. Then
    /// closes the connection.
    pub fn start<B: AsRef<[u8]>>(answer: impl Fn(&Request) -> (String, B) + Clone + Send + 'static) -> Self {
        Self::serve(None, answer)
    }

    /// As [`Server::start`], with TLS.
    pub fn with_tls<B: AsRef<[u8]>>(
        certificates: &Certificates,
        answer: impl Fn(&Request) -> (String, B) + Clone + Send + 'static,
    ) -> Self {
        Self::serve(Some(Arc::clone(&certificates.config)), answer)
    }

    fn serve<B: AsRef<[u8]>>(
        tls: Option<Arc<ServerConfig>>,
        answer: impl Fn(&Request) -> (String, B) + Clone + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, tls, sender, answer) =
                    (stream.unwrap(), tls.clone(), sender.clone(), answer.clone());
                let answer = move |request: Request| {
                    let _ = sender.send(request.clone());
                    answer(&request)
                };
                thread::spawn(move || match tls {
                    Some(config) => {
                        respond(StreamOwned::new(ServerConnection::new(config).unwrap(), stream), answer)
                    }
                    None => respond(stream, answer),
                });
            }
        });
        Self { address, requests }
    }
}

/// Answers one request. Clients may be gone at any time.
fn respond<B: AsRef<[u8]>>(
    mut stream: impl Read + Write,
    answer: impl FnOnce(Request) -> (String, B),
) -> Option<()> {
    let request = read(&mut stream)?;
    let (head, body) = answer(request);
    let body = body.as_ref();
    // A length in the head stands for a server that ends early.
    let length = match head.contains("content-length") {
        true => String::new(),
        false => format!("content-length: {}\r\n", body.len()),
    };
    write!(stream, "HTTP/1.1 {head}connection: close\r\n{length}\r\n").ok()?;
    stream.write_all(body).and_then(|()| stream.flush()).ok()
}

fn read(stream: &mut impl Read) -> Option<Request> {
    let lines = BufReader::with_capacity(1, stream).lines();
    let mut head: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let path = head.first()?.split(' ').nth(1)?.to_owned();
    for line in head.iter_mut().skip(1) {
        let (name, value) = line.split_once(':')?;
        *line = format!("{}:{value}", name.to_lowercase());
    }
    Some(Request { path, head })
}

/// A proxy that connects all hosts to this address, or refuses without one. Returns its address, and what was asked of
/// it.
pub fn proxy(to: Option<SocketAddr>) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, requests) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, sender) = (stream.unwrap(), sender.clone());
            thread::spawn(move || {
                let request = read(&mut stream)?;
                let _ = sender.send(request.head[0].clone());
                let Some(to) = to else {
                    return write!(stream, "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").ok();
                };
                write!(stream, "HTTP/1.1 200 Connected\r\n\r\n").ok()?;
                tunnel(&stream, &TcpStream::connect(to).ok()?);
                Some(())
            });
        }
    });
    (address, requests)
}

fn tunnel(one: &TcpStream, other: &TcpStream) {
    let copy = |mut from: &TcpStream, mut to: &TcpStream| {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    };
    thread::scope(|scope| {
        scope.spawn(|| copy(one, other));
        copy(other, one);
    });
}
