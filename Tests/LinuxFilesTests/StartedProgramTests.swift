import Glibc
import TestPrograms
import Testing

/// What other tests rest on when they start programs.
@Suite struct StartedProgramTests {
  /// The writing end of a pipe in a server that runs on kept another test's program from seeing the end of its input.
  @Test func itHasNoDescriptorsOfOthers() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    // `ls` itself opens the folder.
    let alone = try StartedProgram(["ls", "/proc/self/fd"], output: .read)
    #expect(alone.all() == "0\n1\n2\n3\n")
    let handed = try StartedProgram(["ls", "/proc/self/fd"], output: .read, handing: ends[0])
    #expect(handed.all() == "0\n1\n2\n3\n4\n")
  }

  @Test func itIsSpokenToAndEnds() throws {
    let program = try StartedProgram(["sh", "-c", "cat; exit 3"], input: .typed, output: .read)
    program.type("one\ntwo\n")
    #expect(program.line() == "one")
    #expect(program.isRunning)
    program.endInput()
    #expect(program.all() == "one\ntwo\n")
    #expect(program.line() == "two")
    #expect(program.line() == nil)
    #expect(program.wait() == 3)
    #expect(!program.isRunning)
  }

  @Test func letGoItIsKilled() throws {
    let process = try StartedProgram(["sleep", "600"]).process
    #expect(kill(process, 0) != 0)
  }

  @Test func itGetsThisEnvironmentAndFolderOnly() throws {
    let program = try StartedProgram(["sh", "-c", "env; pwd"], environment: ["A": "b"], in: "/usr", output: .read)
    #expect(Set(program.all().split(separator: "\n")) == ["A=b", "PWD=/usr", "/usr"])
    #expect(throws: (any Error).self) { try StartedProgram(["env"], environment: ["PATH": "/nonexistent"]) }
  }
}
