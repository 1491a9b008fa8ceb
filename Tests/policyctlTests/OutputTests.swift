import CommandSandbox
import Glibc
import LinuxFiles
import Testing

/// Files that the user names for output: only regular files are replaced.
@Suite struct OutputTests {
  @Test func aPipeIsWrittenIntoAndStays() throws {
    let sandbox = try Sandbox(applied: true)
    let result = sandbox.execute([
      "/bin/sh", "-c",
      "mkfifo p; cat p >got & '\(Sandbox.binary)' --root '\(sandbox.root)' compile -o p; echo $?; wait; test -p p && echo pipe",
    ])
    #expect(result.output == "0\npipe\n", "\(result.errors)")
    #expect(result.errors.contains("Compiled bundle "))
    #expect(sandbox.run("install", "got").exitCode == 0)
  }

  @Test func standardOutputTakesABundle() throws {
    let sandbox = try Sandbox(applied: true)
    let command = "'\(Sandbox.binary)' --root '\(sandbox.root)' compile -o /dev/stdout | cat >got"
    #expect(sandbox.execute(["/bin/sh", "-c", command]).exitCode == 0)
    #expect(sandbox.run("install", "got").exitCode == 0)
    #expect((try FileMetadata.of("/dev/stdout", followingLinks: false)).isSymbolicLink)
  }

  @Test func aDeviceStaysADevice() throws {
    let sandbox = try Sandbox(applied: true)
    let device = sandbox.work + "/null"
    guard mknod(device, S_IFCHR | 0o666, 0x103) == 0 else {
      print("SKIPPED: this user can't make a device, so writing into one can't be tested")
      return
    }
    let result = sandbox.run("compile", "-o", device)
    #expect((try FileMetadata.of(device, followingLinks: false)).isCharacterDevice, "\(result.errors)")
    #expect(sandbox.run("key", "generate", "-o", device).exitCode == 73)
    #expect((try FileMetadata.of(device, followingLinks: false)).isCharacterDevice)
  }

  @Test(arguments: ["folder", "link"]) func whatIsNoFileIsRefused(_ kind: String) throws {
    let sandbox = try Sandbox(applied: true)
    try sandbox.write("kept", to: "file")
    try Directory.create(sandbox.work + "/folder")
    symlink("file", sandbox.work + "/link")
    let what = kind == "link" ? "a symbolic link" : "a folder"
    for words in [["compile"], ["key", "generate"]] {
      let result = sandbox.runBare(["--root", sandbox.root] + words + ["-o", kind])
      #expect(result.exitCode == 73)
      #expect(result.errors == "policyctl: \(kind) is \(what), which is not replaced by a file\n")
    }
    #expect(try sandbox.read("file") == "kept")
    #expect(SymbolicLink.target(of: sandbox.work + "/link") == "file")
  }

  /// A unit that somebody has masked stays masked.
  @Test func aMaskedUnitStaysMasked() throws {
    let sandbox = try Sandbox(applied: true)
    let unit = sandbox.root + "/etc/systemd/system/managed-preferences-refresh.timer"
    try Directory.createAll(FilePath.parent(of: unit))
    symlink("/dev/null", unit)
    #expect(sandbox.run("refresh", "--install-timer").exitCode == 73)
    #expect(SymbolicLink.target(of: unit) == "/dev/null")
  }
}
