public import ForcedDomain
import LinuxFiles
import PropertyList

/// Under which name a host was enrolled, and when: the contents of `host.yaml`.
///
/// Root writes it at enrolment and reads it at installation; what a process says its host is called never counts
/// (POLICY-LANGUAGE rule 7).
public struct HostEnrolment: Hashable, Sendable {
  public let identity: HostIdentity
  /// Unix seconds.
  public let enrolledAt: Int64

  public init(identity: HostIdentity, enrolledAt: Int64) {
    self.identity = identity
    self.enrolledAt = enrolledAt
  }

  /// The enrolment of an installation; an error where there is none.
  public init(of installation: Installation) throws(InstallError) {
    let path = installation.hostFile
    let bytes: [UInt8]
    do throws(InstallError) {
      bytes = try AdministrativeFile.read(path, of: installation, limit: 65536)
    } catch {
      if case .reading(let failure) = error.reason, failure.errno == .noSuchFile {
        throw InstallError(.notEnrolled, path: path, next: [installation.command("enroll --host NAME")])
      }
      throw error
    }
    do throws(HostFileError) { self = try Self(parsing: bytes) } catch {
      throw InstallError(
        .malformedHostFile(line: error.line, error.why), path: path,
        next: [installation.command("enroll --host NAME")])
    }
  }

  var bytes: [UInt8] {
    Array(
      """
      # Who this host is for policies. Written by policyctl enroll; the next apply or install follows a change.
      version: 1
      kind: Host
      name: \(identity.name)
      enrolled: \(PropertyListDate(unixTime: Double(enrolledAt)).rfc3339)

      """.utf8)
  }
}

struct HostFileError: Error, Hashable {
  /// From 1; 0 for the file as a whole.
  let line: Int
  let why: String
}

extension HostEnrolment {
  /// Reads the small part of YAML that the file consists of: comments, and `field: scalar` with a plain or quoted scalar.
  /// Everything else is an error.
  init(parsing bytes: [UInt8]) throws(HostFileError) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw HostFileError(line: 1, why: "it is not UTF-8 text")
    }
    var fields: [String: (value: String, line: Int)] = [:]
    var line = 0
    // By bytes: to Swift, CR and LF together are one character.
    for raw in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      line += 1
      var content = Substring(raw.last == UInt8(ascii: "\r") ? raw.dropLast() : raw)
      if content.hasPrefix("#") { continue }
      if let comment = content.firstRange(ofBytes: " #") { content = content[..<comment.lowerBound] }
      while content.last == " " { content.removeLast() }
      if content.isEmpty || content == "---" && fields.isEmpty { continue }
      guard let colon = content.firstRange(ofBytes: ": ") else {
        throw HostFileError(line: line, why: "'field: value' is expected here")
      }
      let name = String(content[..<colon.lowerBound])
      guard ["version", "kind", "name", "enrolled"].contains(name) else {
        throw HostFileError(
          line: line, why: "there is no field '\(name)'; the fields are version, kind, name, enrolled")
      }
      if let first = fields[name] {
        throw HostFileError(line: line, why: "'\(name)' is given again, after line \(first.line)")
      }
      fields[name] = (try Self.scalar(content[colon.upperBound...], line: line), line)
    }
    func field(_ name: String) throws(HostFileError) -> (value: String, line: Int) {
      guard let field = fields[name] else { throw HostFileError(line: 1, why: "the field '\(name)' is missing") }
      return field
    }
    let version = try field("version")
    guard version.value == "1" else {
      throw HostFileError(
        line: version.line, why: "version '\(version.value)' is unknown; this program reads version 1")
    }
    let kind = try field("kind")
    guard kind.value == "Host" else { throw HostFileError(line: kind.line, why: "kind must be Host here") }
    let name = try field("name")
    do throws(HostNameError) { try HostName.validate(name.value) } catch {
      throw HostFileError(line: name.line, why: error.description)
    }
    let enrolled = try field("enrolled")
    guard let moment = PropertyListDate(rfc3339: enrolled.value) else {
      throw HostFileError(line: enrolled.line, why: "'\(enrolled.value)' is no moment such as 2026-11-30T07:00:00Z")
    }
    self.init(identity: HostIdentity(name: name.value), enrolledAt: Int64(moment.unixTime.rounded(.down)))
  }

  private static func scalar(_ text: Substring, line: Int) throws(HostFileError) -> String {
    let text = text.drop { $0 == " " }
    for quote in ["\"", "'"] as [Character] where text.first == quote {
      let inner = text.dropFirst().dropLast()
      guard text.count >= 2, text.last == quote, !inner.contains(quote), !inner.contains("\\") else {
        throw HostFileError(line: line, why: "this quoted text is not read here; write it plain")
      }
      return String(inner)
    }
    return String(text)
  }
}
