public import ForcedDomain
public import LinuxFiles

/// Why something that changes a host was not done: the fact, the path, and the exact next command.
///
/// Whenever one is thrown, the generation in use is what it was before.
public struct InstallError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Reason: Hashable, Sendable {
    /// A system call failed while reading what the administrator or an earlier installation wrote.
    case reading(FileError)
    /// A system call failed while writing.
    case writing(FileError)
    /// A file that decides something belongs to the wrong user, can be written by others, or is a link.
    case notTrustworthy(String)
    case malformedKey(KeyError)
    case keyExists
    /// The name can't be a key's.
    case malformedKeyName(String)
    /// The host's identity file says something that can't be; on which line (from 1).
    case malformedHostFile(line: Int, String)
    case notEnrolled
    case malformedHostName(HostNameError)
    case notInitialised
    case bundle(BundleError)
    /// The envelope is sound, but its payload is not.
    case payload(ForcedDomainError)
    case refused(TrustRefusal)
    case olderSerial(UInt64, highestSeen: UInt64)
    /// A bundle with this serial number and other contents is installed.
    case serialReused(UInt64)
    /// So high that later bundles would be refused.
    case serialTooHigh(SerialNumber.TooHigh)
    /// A directory with something in it stands where a file of ours belongs.
    case obstructed
    /// The inventory does not list this host.
    case unknownHost(String)
    case unresolvedNames([NameFault])
    case timeZone(TimeZoneError)
    /// Narrowing failed otherwise.
    case narrowing(String)
    /// Nothing was ever installed, so nothing can be refreshed.
    case nothingInstalled
    /// The installed bundle is not the one that the marker names, and no copy of that one is left.
    case installedBundleLost(String)
    /// Another installation has held the lock for too long.
    case busy
    /// The audit log takes no record of it: why.
    case notRecorded(String)
  }

  public let reason: Reason
  /// The file concerned.
  public let path: String
  /// Commands, as they can be typed.
  public let next: [String]

  public init(_ reason: Reason, path: String, next: [String] = []) {
    self.reason = reason
    self.path = path
    self.next = next
  }

  init(reading error: FileError) { self.init(.reading(error), path: error.path) }
  init(writing error: FileError) { self.init(.writing(error), path: error.path) }

  /// DESIGN §6: 65 bad input, 66 no such input, 69 unavailable, 73 can't create, 74 input/output, 77 not permitted.
  public var exitCode: Int32 {
    switch reason {
    case .reading(let error): Self.exitCode(of: error.errno, missing: 66)
    case .writing(let error): Self.exitCode(of: error.errno, missing: 73)
    case .malformedKey, .malformedKeyName, .malformedHostFile, .malformedHostName, .bundle, .payload, .unknownHost,
      .narrowing, .installedBundleLost, .serialTooHigh:
      65
    case .notEnrolled, .notInitialised, .nothingInstalled: 66
    case .unresolvedNames, .timeZone, .busy: 69
    case .notRecorded: 74
    case .keyExists, .obstructed: 73
    case .notTrustworthy, .refused, .olderSerial, .serialReused: 77
    }
  }

  private static func exitCode(of errno: Errno, missing: Int32) -> Int32 {
    switch errno {
    case .permissionDenied, .notPermitted: 77
    case .noSuchFile, .notDirectory, .isDirectory, .fileExists, .tooManySymbolicLinks, .readOnlyFileSystem: missing
    default: 74
    }
  }

  public var description: String {
    switch reason {
    case .reading(let error), .writing(let error): error.description
    case .notTrustworthy(let why): "\(path): \(why)"
    case .malformedKey(let error): "\(path): \(error)"
    case .keyExists: "\(path): there is a key already; it was not replaced"
    case .malformedKeyName(let name): "'\(name)' can't name a key: letters, digits, '.', '_' and '-', at most 64"
    case .malformedHostFile(let line, let why): "\(path):\(line): \(why)"
    case .notEnrolled: "\(path): this host is not enrolled, so it is not known which policies are meant for it"
    case .malformedHostName(let error): error.description
    case .notInitialised: "\(path): this host is not set up for managed preferences"
    case .bundle(let error): "\(path): \(error)"
    case .payload(let error): "\(path): the bundle's payload can't be used: \(error)"
    case .refused(let refusal): "\(path): \(refusal)"
    case .olderSerial(let serial, let highest):
      "\(path): serial number \(serial) is older than \(highest), the highest that was installed here"
    case .serialReused(let serial):
      "\(path): a bundle with serial number \(serial) and other contents is installed here"
    case .serialTooHigh(let error): "\(path): \(error)"
    case .obstructed: "\(path): a directory that is not empty stands where a file of ours belongs"
    case .unknownHost(let name):
      "\(path): host '\(name)' is not in the inventory, and the inventory refuses unknown hosts"
    case .unresolvedNames(let faults): faults.map(\.description).joined(separator: "\n")
    case .timeZone(let error): error.description
    case .narrowing(let why): "\(path): \(why)"
    case .nothingInstalled: "\(path): no bundle has been installed yet"
    case .installedBundleLost(let why): "\(path): \(why)"
    case .busy: "\(path): another installation is running"
    case .notRecorded(let why): "nothing was changed, since the audit log can't tell of it: \(why)"
    }
  }
}

extension InstallError {
  /// The reason in a word, for records: it holds nothing of what was refused.
  public var word: String {
    switch reason {
    case .reading: "reading"
    case .writing: "writing"
    case .notTrustworthy: "not-trustworthy"
    case .malformedKey, .malformedKeyName: "malformed-key"
    case .keyExists: "key-exists"
    case .malformedHostFile, .malformedHostName: "malformed-host"
    case .notEnrolled: "not-enrolled"
    case .notInitialised, .nothingInstalled: "not-installed"
    case .bundle, .payload: "damaged-bundle"
    case .refused(let refusal):
      switch refusal {
      case .unsigned: "unsigned"
      case .unknownSigner: "unknown-signer"
      case .badSignature: "bad-signature"
      case .noKeysLeft: "no-keys-left"
      }
    case .olderSerial: "older-serial"
    case .serialReused: "serial-reused"
    case .serialTooHigh: "serial-too-high"
    case .obstructed: "obstructed"
    case .unknownHost: "unknown-host"
    case .unresolvedNames: "unresolved-names"
    case .timeZone: "time-zone"
    case .narrowing: "narrowing"
    case .installedBundleLost: "bundle-lost"
    case .busy: "busy"
    case .notRecorded: "not-recorded"
    }
  }
}

/// Text that a shell takes as one word.
enum ShellText {
  static func quoted(_ word: String) -> String {
    let plain = word.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/._-+:@%,=".utf8.contains(byte)
      }
    }
    if plain && !word.isEmpty { return word }
    return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}

extension Installation {
  /// A command line of ours for this installation, as it can be typed.
  func command(_ words: String) -> String {
    root.isEmpty ? "sudo policyctl \(words)" : "policyctl --root \(ShellText.quoted(root)) \(words)"
  }
}
