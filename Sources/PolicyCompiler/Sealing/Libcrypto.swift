internal import CCrypto

/// The one place that starts libcrypto.
enum Libcrypto {
  /// Starts libcrypto without its configuration file: what verifies policies must not depend on `OPENSSL_CONF`, engines
  /// or providers that somebody configured, and reading the file costs time.
  static let started: Void = {
    let flags = UInt64(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT)
    precondition(OPENSSL_init_crypto(flags, nil) == 1, "libcrypto does not start")
  }()
}
