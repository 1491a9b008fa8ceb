import Glibc
import LinuxFiles
import PropertyList

extension PropertyListDate {
  static func nowToTheMillisecond() -> PropertyListDate {
    PropertyListDate(unixMilliseconds: WallClock.unixMilliseconds())
  }
}

extension AuditEvent.Claim {
  static func ofThisProcess() -> AuditEvent.Claim {
    AuditEvent.Claim(
      processID: getpid(), userID: ProcessIdentity.realUserID, executable: ProcessIdentity.executablePath())
  }
}
