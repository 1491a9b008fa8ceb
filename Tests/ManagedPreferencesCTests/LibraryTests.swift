import CManagedPreferences
import ConversionRows
import Foundation
import LinuxFiles
import PropertyList
import Testing

/// The shared library as it is installed, and programs in C and C++ that use it in processes of their own.
@Suite struct LibraryTests {
  static let profile = """
    version: 1
    kind: Profile
    id: org.example.lab.base
    title: Baseline
    forced:
      org.example.Editor:
        AutoSaveInterval: 30
    recommended:
      org.example.Editor:
        Theme: dark

    """

  /// The functions that the header declares.
  static func declaredFunctions() throws -> [String] {
    let header = try String(
      contentsOfFile: Built.package + "/Sources/CManagedPreferences/include/managed_preferences.h", encoding: .utf8)
    let code = header.replacing(/\/\*.*?\*\//.dotMatchesNewlines(), with: "")
    return code.matches(of: /\b(mp_\w+)\(/).map { String($0.1) }.sorted()
  }

  // MARK: The file

  @Test func exportsWhatTheHeaderDeclaresAndNothingElse() async throws {
    let sandbox = try Sandbox()
    let library = try await Built.interface.value + "/lib/libmanagedpreferences.so"
    let run = try await sandbox.run(["nm", "-D", "--defined-only", library])
    try #require(run.status == 0, "\(run.errors)")
    let symbols = run.output.split(separator: "\n").compactMap { $0.split(separator: " ").last }
    // The version is a symbol of its own.
    let exported = symbols.map { String($0.prefix { $0 != "@" }) }.filter { $0 != "MANAGED_PREFERENCES_0" }
    let declared = try Self.declaredFunctions()
    #expect(declared.count > 80)
    #expect(exported.sorted() == declared)
  }

  @Test func needsOnlyTheSystemsCLibrary() async throws {
    let sandbox = try Sandbox()
    let library = try await Built.interface.value + "/lib/libmanagedpreferences.so"
    let run = try await sandbox.run(["readelf", "-d", library])
    let lines = run.output.split(separator: "\n")
    func names(_ tag: String) -> Set<String> {
      Set(
        lines.filter { $0.contains("(\(tag))") }.compactMap {
          $0.split(whereSeparator: { "[]".contains($0) }).dropFirst().first.map(String.init)
        })
    }
    #expect(names("SONAME") == ["libmanagedpreferences.so.0"])
    let system: Set = ["libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2"]
    #expect(names("NEEDED").filter { !$0.hasPrefix("ld-linux") }.isSubset(of: system))
    #expect(names("RPATH").isEmpty && names("RUNPATH").isEmpty)
    #expect(run.output.contains("NODELETE"))
  }

  @Test func packageConfiguration() async throws {
    let sandbox = try Sandbox()
    let run = try await sandbox.run(
      ["pkg-config", "--modversion", "managedpreferences"],
      environment: ["PKG_CONFIG_PATH": try await Built.interface.value + "/lib/pkgconfig"])
    #expect(run == Sandbox.Run(status: 0, output: "\(MP_VERSION)\n", errors: ""))
    #expect(MP_VERSION == "\(MP_VERSION_MAJOR).\(MP_VERSION_MINOR).\(MP_VERSION_PATCH)")
  }

  @Test(arguments: [
    ["clang", "-xc", "-std=c11"], ["clang", "-xc", "-std=c17"], ["clang++", "-xc++", "-std=c++11"],
    ["clang++", "-xc++", "-std=c++17"], ["cc", "-xc", "-std=c11"], ["c++", "-xc++", "-std=c++17"],
  ])
  func headerIsClean(_ compiler: [String]) async throws {
    if !Built.has(compiler[0]) {
      print("SKIPPED: there is no \(compiler[0])")
      return
    }
    let sandbox = try Sandbox()
    try sandbox.write("#include <managed_preferences.h>\n", to: "alone.c")
    let include = Built.package + "/Sources/CManagedPreferences/include"
    let run = try await sandbox.run(
      compiler + ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I\(include)", "alone.c"])
    #expect(run == Sandbox.Run(status: 0, output: "", errors: ""))
  }

  // MARK: Programs

  static let right = Sandbox.Run(status: 0, output: "right\n", errors: "")

  @Test func everyFunctionIsCalled() async throws {
    let program = try String(
      contentsOfFile: Built.package + "/Tests/ManagedPreferencesCTests/Programs/everything.c", encoding: .utf8)
    for function in try Self.declaredFunctions() { #expect(program.contains(function + "("), "\(function)") }
  }

  @Test(.enabled(if: Installed.nowhere)) func everything() async throws {
    let sandbox = try Sandbox()
    try await sandbox.apply(profile: Self.profile)
    let program = try await sandbox.compile("everything.c", ["-lm"])
    #expect(try await sandbox.run([program]) == Self.right)
    #expect(try sandbox.stored()?["unsigned"] == .integer(PropertyListInteger(UInt64.max)))
    #expect(try sandbox.stored()?["AutoSaveInterval"] == .integer(60))
  }

  @Test(.enabled(if: Installed.nowhere)) func threads() async throws {
    let sandbox = try Sandbox()
    try await sandbox.apply(profile: Self.profile)
    #expect(try await sandbox.run([try await sandbox.compile("threads.c")]) == Self.right)
    for writer in 0..<4 { #expect(try sandbox.stored()?["writer\(writer)"] == .integer(1000)) }
  }

  /// Neither a leak nor an access outside; what the Swift runtime keeps for ever is not a leak, and does not grow.
  @Test(.enabled(if: Installed.nowhere)) func underValgrind() async throws {
    if !Built.has("valgrind") {
      print("SKIPPED: there is no valgrind (Scripts/bootstrap --test installs it)")
      return
    }
    let sandbox = try Sandbox()
    try await sandbox.apply(profile: Self.profile)
    let everything = try await sandbox.compile("everything.c", ["-lm"])
    let threads = try await sandbox.compile("threads.c")
    // Some versions of valgrind give up on the debugging information of newer compilers.
    let library = try await Built.interface.value + "/lib/libmanagedpreferences.so.0"
    let stripped = try await sandbox.run(["strip", "--strip-debug", "-o", "libmanagedpreferences.so.0", library])
    try #require(stripped.status == 0, "\(stripped.errors)")
    let valgrind = [
      "valgrind", "--quiet", "--leak-check=full", "--show-leak-kinds=definite,indirect",
      "--errors-for-leak-kinds=definite,indirect", "--error-exitcode=99",
    ]
    let environment = ["LD_LIBRARY_PATH": sandbox.work]
    #expect(try await sandbox.run(valgrind + [everything, "2"], environment: environment) == Self.right)
    let fair = try await sandbox.run(valgrind + ["--fair-sched=yes", threads, "20"], environment: environment)
    #expect(fair == Self.right)
    // Blocks in use at the end, after 2 and after 22 rounds: a block that each round leaves behind would be twenty.
    // What another thread holds at the moment of the exit differs from run to run, so the least of a few counts.
    var left = [Int.max, Int.max]
    for _ in 0..<4 where left[1] == Int.max || left[1] - left[0] >= 20 {
      for (place, rounds) in ["2", "22"].enumerated() {
        let run = try await sandbox.run(
          ["valgrind", "--leak-check=no", everything, rounds], environment: environment)
        let counted = run.errors.firstMatch(of: /in use at exit: [\d,]+ bytes in ([\d,]+) blocks/)
        let blocks = try #require(counted.flatMap { Int($0.1.replacing(",", with: "")) }, "\(run.errors)")
        left[place] = min(left[place], blocks)
      }
    }
    #expect(left[1] - left[0] < 20, "\(left)")
  }

  @Test func inCPlusPlus() async throws {
    let sandbox = try Sandbox()
    #expect(try await sandbox.run([try await sandbox.compile("header.cpp")]) == Self.right)
  }

  /// The table of conversions through a process of its own, from the disk and from the forced domain.
  @Test(.enabled(if: Installed.nowhere), arguments: [false, true]) func matrix(_ isForced: Bool) async throws {
    let sandbox = try Sandbox()
    let rows = ConversionTests.rows
    let values = Dictionary(uniqueKeysWithValues: rows.enumerated().map { ("k\($0)", $1.stored) })
    if isForced { try sandbox.install(values) } else { try sandbox.store(values) }
    let run = try await sandbox.run([try await sandbox.compile("matrix.c"), "\(rows.count)"])
    try #require(run.status == 0, "\(run.errors)")
    func hexadecimal(_ bytes: [UInt8]?) -> String {
      bytes.map { $0.map { String($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() } ?? "NULL"
    }
    let expected = rows.enumerated().map { index, row in
      let strings = row.strings
      let float = row.double.isNaN ? 1 : Float(row.double).bitPattern
      let double = row.double.isNaN ? 1 : row.double.bitPattern
      return "k\(index) \(row.stored.type) bool=\(row.bool ? 1 : 0) integer=\(row.integer)"
        + " float=\(String(float, radix: 16)) double=\(String(double, radix: 16))"
        + " string=\(hexadecimal(row.string.map { Array($0.utf8) })) data=\(hexadecimal(row.stored.dataValue))"
        + " strings=\(strings.map { $0.map { "<\($0)>" }.joined() } ?? "NULL")"
        + " array=\(row.stored.type == .array ? 1 : 0) dictionary=\(row.stored.type == .dictionary ? 1 : 0)"
        + " forced=\(isForced ? 1 : 0)"
    }
    #expect(run.output.split(separator: "\n").map(String.init) == expected)
  }

  /// A Swift program with a runtime, and engine, of its own takes the library as well: neither disturbs the other.
  @Test func besideAnotherSwiftRuntime() async throws {
    let sandbox = try Sandbox()
    let library = try await Built.interface.value + "/lib/libmanagedpreferences.so.0"
    await #expect(processExitsWith: .success) { [library = library as String, home = sandbox.home as String] in
      setenv("HOME", home, 1)
      unsetenv("XDG_CONFIG_HOME")
      let handle = try #require(dlopen(library, RTLD_NOW | RTLD_GLOBAL))
      let version = try #require(dlsym(handle, "mp_version"))
      typealias Version = @convention(c) () -> UnsafePointer<CChar>?
      #expect(String(cString: unsafeBitCast(version, to: Version.self)()!) == MP_VERSION)
      // Its functions, not those of the same names in this program.
      typealias Open = @convention(c) (UnsafeMutablePointer<OpaquePointer?>) -> mp_status
      typealias Set = @convention(c) (OpaquePointer?, UnsafePointer<CChar>, UnsafePointer<CChar>) -> mp_status
      typealias Close = @convention(c) (OpaquePointer?) -> Void
      let open = unsafeBitCast(try #require(dlsym(handle, "mp_open")), to: Open.self)
      let set = unsafeBitCast(try #require(dlsym(handle, "mp_set_string")), to: Set.self)
      let synchronize = unsafeBitCast(
        try #require(dlsym(handle, "mp_synchronize")), to: (@convention(c) (OpaquePointer?) -> mp_status).self)
      let close = unsafeBitCast(try #require(dlsym(handle, "mp_close")), to: Close.self)
      var (theirs, ours) = (OpaquePointer?.none, OpaquePointer?.none)
      #expect(open(&theirs) == MP_OK)
      #expect(mp_open(&ours) == MP_OK)
      #expect(set(theirs, "Theirs", "1") == MP_OK)
      #expect(mp_set_string(ours, "Ours", "2") == MP_OK)
      // Generic metadata, casts and errors of this program's runtime, Foundation's among them.
      let mixed: [any Hashable] = [1, "a", Date(timeIntervalSince1970: 0), ["k": [1.5]]]
      #expect(mixed.map { AnyHashable($0) } as [AnyHashable] == mixed.map { AnyHashable($0) })
      #expect(throws: (any Error).self) { try JSONSerialization.jsonObject(with: Data("{".utf8)) }
      #expect(synchronize(theirs) == MP_OK)
      #expect(mp_synchronize(ours) == MP_OK)
      var text: UnsafeMutablePointer<CChar>?
      #expect(mp_get_string(ours, "Theirs", &text, nil) == MP_OK)
      #expect(text.map { String(cString: $0) } == "1")
      mp_free(text)
      close(theirs)
      mp_close(ours)
      dlclose(handle)
    }
  }
}

/// Programs find this test's root by an environment variable, which does not count beside a system-wide installation.
enum Installed {
  static let nowhere: Bool = {
    let isInstalled = FileManager.default.fileExists(atPath: "/var/lib/managed-preferences/generation")
    if isInstalled { print("SKIPPED: this machine has a system-wide installation, which binds its programs") }
    return !isInstalled
  }()
}
