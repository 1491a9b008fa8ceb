import LinuxFiles
import Testing

@Suite struct FileSystemTypeTests {
  @Test func tellsWhatOtherMachinesMayChange() throws {
    #expect(try FileSystemType.of("/proc").rawValue == 0x9FA0)
    #expect(try !FileSystemType.of("/proc").isShared)
    let folder = TemporaryFolder()
    #expect(try FileSystemType.of(folder("not/there")) == FileSystemType.of(folder("")))
  }

  /// The numbers that statfs(2) documents.
  @Test(arguments: [
    (0x6969, "NFS"), (0xFF53_4D42, "CIFS"), (0xFE53_4D42, "SMB"), (0x5346_414F, "AFS"), (0x00C3_6400, "Ceph"),
    (0x6573_5546, "FUSE"), (0x0102_1997, "9P"),
  ])
  func knowsNetworkFileSystems(number: UInt32, name: String) {
    #expect(FileSystemType(rawValue: number).sharedName == name)
  }

  @Test(arguments: [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630] as [UInt32])
  func localOnesAreNotShared(number: UInt32) {
    #expect(!FileSystemType(rawValue: number).isShared)
  }
}
