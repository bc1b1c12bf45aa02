//! Why there is no response.

use std::fmt;
use std::io;

use rustls::CertificateError;

/// Why there is no response, or no body.
#[derive(Debug)]
pub enum RequestError {
    /// The connection or the server failed.
    Failed(Box<ureq::Error>),
    /// It took longer than the limit.
    TimedOut,
    /// A redirect leads nowhere, or where it must not.
    Redirect(String),
    /// The body is longer than the limit.
    TooLong {
        /// The limit.
        max_bytes: u64,
    },
}

impl RequestError {
    /// What the user can do about it, if that is known.
    pub fn hint(&self) -> Option<&'static str> {
        let Self::Failed(error) = self else { return None };
        match &**error {
            ureq::Error::ConnectProxyFailed(_) | ureq::Error::InvalidProxyUrl => {
                Some("HTTPS_PROXY names the proxy; NO_PROXY lists the hosts that are reached without it")
            }
            error if of_certificate(error).is_some() => Some(
                "SSL_CERT_FILE names a file (PEM) with the certificate authorities to trust instead of the system's",
            ),
            _ => None,
        }
    }
}

impl From<ureq::Error> for RequestError {
    fn from(error: ureq::Error) -> Self {
        match error {
            ureq::Error::Timeout(_) => Self::TimedOut,
            error => Self::Failed(Box::new(error)),
        }
    }
}

/// What is wrong with the certificate of the server, if that is why the connection failed.
fn of_certificate(error: &ureq::Error) -> Option<&CertificateError> {
    let error = match error {
        ureq::Error::Rustls(error) => error,
        ureq::Error::Io(error) => error.get_ref()?.downcast_ref()?,
        _ => return None,
    };
    match error {
        rustls::Error::InvalidCertificate(error) => Some(error),
        _ => None,
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => match (of_certificate(error), &**error) {
                (Some(CertificateError::UnknownIssuer), _) => {
                    f.write_str("the certificate of the server is of an unknown authority")
                }
                (Some(error), _) => write!(f, "the certificate of the server is not valid: {error}"),
                (None, ureq::Error::ConnectProxyFailed(reason)) => {
                    write!(f, "the proxy refuses to connect: {reason}")
                }
                (None, ureq::Error::Io(error)) => write!(f, "{error}"),
                (None, error) => write!(f, "{error}"),
            },
            Self::TimedOut => f.write_str("it took too long"),
            Self::Redirect(reason) => write!(f, "redirect: {reason}"),
            Self::TooLong { max_bytes } => write!(f, "it has more than {} MiB", max_bytes >> 20),
        }
    }
}

impl std::error::Error for RequestError {}

impl From<io::Error> for RequestError {
    fn from(error: io::Error) -> Self {
        ureq::Error::from(error).into()
    }
}
