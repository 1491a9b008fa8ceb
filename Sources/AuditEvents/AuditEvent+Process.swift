import Glibc
import LinuxFiles
import PropertyList

extension PropertyListDate {
  static func nowToTheMillisecond() -> PropertyListDate {
    PropertyListDate(unixTime: Double(WallClock.unixMilliseconds()) / 1000)
  }
}

extension AuditEvent.Claim {
  static func ofThisProcess() -> AuditEvent.Claim {
    AuditEvent.Claim(
      processID: getpid(), userID: ProcessIdentity.realUserID, executable: ProcessIdentity.executablePath())
  }
}
