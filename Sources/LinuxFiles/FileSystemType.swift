import CFileSystems
import Glibc

/// What kind of file system a path is on, by the number that statfs(2) gives it.
public struct FileSystemType: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Of a path, or of the nearest directory above it that is there.
  public static func of(_ path: String) throws(FileError) -> FileSystemType {
    var status = statfs()
    do throws(Errno) {
      _ = try retryingOnInterrupt { statfs(path, &status) }
    } catch {
      let parent = FilePath.parent(of: path)
      if error == .noSuchFile, parent != path { return try of(parent) }
      throw FileError("inspect", path: path, errno: error)
    }
    return FileSystemType(rawValue: UInt32(truncatingIfNeeded: status.f_type))
  }

  /// How many bytes the file system of an open file has, full or not; nil where it does not say.
  public static func byteCount(of file: borrowing FileDescriptor) -> Int? {
    var status = statfs()
    guard fstatfs(file.rawValue, &status) == 0, status.f_blocks > 0 else { return nil }
    return Int(clamping: UInt64(status.f_blocks).multipliedReportingOverflow(by: UInt64(status.f_bsize)).partialValue)
  }

  /// Whether other machines (or a host outside this virtual one) may change files here without this kernel's knowing:
  /// inotify is silent about that, and metadata may be some seconds old.
  ///
  /// FUSE counts as such: sshfs and GlusterFS look like any other. Numbers from linux/magic.h, and from file systems that
  /// are built outside the kernel.
  public var isShared: Bool { Self.sharedNames[rawValue] != nil }

  /// For people: `NFS`; nil for a file system that is not shared.
  public var sharedName: String? { Self.sharedNames[rawValue] }

  private static let sharedNames: [UInt32: String] = [
    0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB", 0x5346_414F: "AFS", 0x6B41_4653: "AFS",
    0x7375_7245: "Coda", 0x00C3_6400: "Ceph", 0x6573_5546: "FUSE", 0x0102_1997: "9P", 0x564C: "NCP",
    0x0116_1970: "GFS2", 0x7461_636F: "OCFS2", 0x0BD0_0BD0: "Lustre", 0x4750_4653: "GPFS", 0xAAD7_AAEA: "PanFS",
    0x1983_0326: "BeeGFS", 0x2003_0528: "OrangeFS", 0x786F_4256: "vboxsf", 0xBACB_ACBC: "vmhgfs",
    0x7C7C_6673: "prl_fs",
  ]
}
