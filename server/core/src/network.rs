//! The hosts that sandboxed jobs may reach (`sandbox.network`), and the requests to the proxy that enforces the list.
//! Pure: the shell resolves names, connects and copies bytes.

pub mod host_list;
pub mod proxy_request;
