import CFileSystems
import Glibc

/// The kernel's randomness, many bytes at a call.
public enum RandomBytes {
  /// So many random bytes, for salts and names that nobody may guess.
  public static func make(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let got = getrandom(buffer.baseAddress.unsafelyUnwrapped + filled, count - filled, 0)
        if got > 0 {
          filled += got
        } else {
          // Only a signal interrupts it: without flags it waits until the kernel has randomness.
          precondition(errno == EINTR, "the kernel gives no random bytes")
        }
      }
    }
  }
}
