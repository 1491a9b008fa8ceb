public import CCrypto
import Glibc
import LinuxFiles

/// The functions of libcrypto, loaded and started at the first digest, signature or verification.
///
/// It is started without its configuration file: what verifies policies must not depend on `OPENSSL_CONF`, engines or
/// providers that somebody configured, and reading the file costs time. Where it is not there, the process ends as one
/// does whose shared libraries are missing.
public let libcrypto: libcrypto_functions = {
  let table = UnsafeMutablePointer<libcrypto_functions>.allocate(capacity: 1)
  defer { table.deallocate() }
  if let reason = libcrypto_load(table) {
    StandardStreams.writeErrorLine("OpenSSL 3 can't be loaded: \(String(cString: reason))")
    StandardStreams.writeErrorLine("Next: install it (on Debian: apt-get install openssl)")
    exit(EX_UNAVAILABLE)
  }
  let flags = LIBCRYPTO_NO_LOAD_CONFIG | LIBCRYPTO_NO_ATEXIT
  precondition(table.pointee.OPENSSL_init_crypto(flags, nil) == 1, "libcrypto does not start")
  return table.move()
}()
