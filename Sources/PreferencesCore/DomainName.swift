import ForcedDomain
import LinuxFiles

/// The domain of all applications' common preferences.
public enum GlobalDomain {
  public static let name = ForcedDomain.globalDomain
}

/// The names of the volatile domains that are searched.
public enum VolatileDomainName {
  public static let argument = "NSArgumentDomain"
  public static let registration = "NSRegistrationDomain"
}

/// Why a text can't be the name of a domain or suite.
public enum DomainNameFault: Error, Sendable, Hashable, CustomStringConvertible {
  case empty
  /// Above `DomainName.maximumBytes` of UTF-8; holds their number.
  case tooLong(Int)
  case slash(String)
  case nul
  case leadingDot(String)
  /// Of a host's identifier: it stands behind the last dot of a file's name.
  case dotInHost(String)
  /// With a host's identifier that is longer than ours are; holds the bytes that the file's name would have.
  case tooLongWithHost(Int)

  public var description: String {
    switch self {
    case .empty: "a domain's name can't be empty"
    case .tooLong(let count):
      "a domain's name can't be longer than \(DomainName.maximumBytes) bytes; this one has \(count)"
    case .slash(let name): "a domain's name can't contain '/': \(name)"
    case .nul: "a domain's name can't contain a NUL character"
    case .leadingDot(let name): "a domain's name can't begin with '.': \(name)"
    case .dotInHost(let host): "a host's identifier can't contain '.': \(host)"
    case .tooLongWithHost(let count):
      "the name of a file can't be longer than \(FilePath.maximumNameBytes) bytes; that of this domain for this host "
        + "has \(count)"
    }
  }
}

/// Domains are files' names, so a name that would lead elsewhere is refused before any path is made of it.
public enum DomainName {
  /// The bytes of UTF-8 that a name may have: the longest name of a file that is made of it, `NAME.HOST.plist` with the 32
  /// digits of `HostIdentifier`, must be one that Linux's file systems take.
  public static let maximumBytes = FilePath.maximumNameBytes - 1 - HostIdentifier.digitCount - ".plist".utf8.count

  /// - Returns: nil when `name` can name a domain or suite (SEMANTICS §5).
  public static func fault(in name: String) -> DomainNameFault? {
    if name.isEmpty { return .empty }
    if name.utf8.contains(0) { return .nul }
    if name.utf8.contains(UInt8(ascii: "/")) { return .slash(name) }
    if name.utf8.first == UInt8(ascii: ".") { return .leadingDot(name) }
    if name.utf8.count > maximumBytes { return .tooLong(name.utf8.count) }
    return nil
  }
}
