//! Reserves a port of this machine for one server.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket, sockopt};

/// While it lives, no process gets this port unless it requests it by number, and connections are refused: the socket
/// is bound and does not listen. A server that reuses addresses (like Python's) can take it nevertheless.
pub(crate) struct Port {
    pub(crate) number: u16,
    _socket: OwnedFd,
}

impl Port {
    pub(crate) fn keep() -> Self {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        sockopt::set_socket_reuseaddr(&socket, true).unwrap();
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = SocketAddrV4::try_from(getsockname(&socket).unwrap()).unwrap();
        Self { number: address.port(), _socket: socket }
    }
}
