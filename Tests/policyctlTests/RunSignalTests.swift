import CommandSandbox
import LinuxFiles
import Testing

/// Signals to `policyctl run` are signals to the program.
@Suite(.enabled(if: ContainedRuns.isAvailable)) struct RunSignalTests {
  /// A program that counts a signal, and ends when it is told to.
  private static func counting(_ signal: String) -> String {
    """
    sh -c 'count=0; trap "count=\\$((count + 1)); touch ~/came" \(signal); touch ~/ready
      while ! test -e ~/end; do sleep 0.02; done; echo \(signal) $count; exit 3' &
    pid=$!
    """
  }

  @Test(arguments: ["TERM", "HUP", "USR1", "USR2", "WINCH", "ALRM"]) func aSignalArrivesOnce(_ signal: String) throws {
    let sandbox = try RunSandbox()
    let result = sandbox.outside(
      """
      home='\(sandbox.containerHome())'
      $RUN -- \(Self.counting(signal))
      wait_for $home/ready; kill -\(signal) $pid; wait_for $home/came; sleep 0.2; touch $home/end; wait $pid; echo $?
      """)
    #expect(result.output == "\(signal) 1\n3\n", "\(result.errors)")
  }

  /// To the whole process group: the program has it from there, and bubblewrap's outer process dies of it.
  @Test(arguments: ["TERM", "HUP", "USR1"]) func aSignalToTheGroupArrivesOnce(_ signal: String) throws {
    let sandbox = try RunSandbox()
    let result = sandbox.outside(
      """
      home='\(sandbox.containerHome())'
      $RUN -- \(Self.counting(signal))
      wait_for $home/ready; kill -\(signal) -$pid; wait_for $home/came; sleep 0.2; touch $home/end; wait $pid; echo $?
      """)
    #expect(result.output == "\(signal) 1\n3\n", "\(result.errors)")
  }

  @Test func aSignalThatTheProgramDoesNotTakeEndsIt() throws {
    let sandbox = try RunSandbox()
    let result = sandbox.outside(
      """
      $RUN -- sh -c 'touch ~/ready; exec sleep 1000' & pid=$!
      wait_for '\(sandbox.containerHome())/ready'; kill $pid; wait $pid; echo $?
      """)
    #expect(result.output == "143\n", "\(result.errors)")
  }

  @Test func theProgramEndsWithItsSupervisor() throws {
    let sandbox = try RunSandbox()
    let result = sandbox.outside(
      """
      $RUN -- sh -c 'touch ~/ready; while :; do sleep 0.02; done' > >(cat; touch ended) & pid=$!
      home='\(sandbox.containerHome())'
      wait_for $home/ready; kill -KILL $pid; wait $pid; echo $?
      # Its standard output ends with the last process that has it.
      wait_for ended || exit 1
      ls '\(sandbox.container())/read' | wc -l
      $RUN -- true
      ls '\(sandbox.container())/read' | wc -l
      """)
    // What the killed run left of its copies the next one removes.
    #expect(result.output == "137\n1\n0\n", "\(result.errors)")
  }

  /// What the shell echoes of a command is not what its program prints: words are written apart in it.
  static let dialogue = """
    expect $ 
    send RUN -- bash -c 'trap "echo cau""ght; end=1" INT; echo rea''dy; until test "$end"; do sleep 0.1; done; read it; echo got $it; exit 9'\\n
    expect ready
    send \\x03
    expect caught
    send \\x1a
    expect Stopped
    expect $ 
    send fg\\n
    send word\\n
    expect got word
    expect $ 
    send echo code=$?\\n
    expect code=9
    expect $ 
    send RUN -- sh -c 'echo rea''dy; exec sleep 1000'\\n
    expect ready
    send \\x03
    expect $ 
    send echo code=$?\\n
    expect code=130
    expect $ 
    send RUN -- vim -u NONE file\\n
    expect ~
    send ihello\\x1b
    send \\x1a
    expect Stopped
    expect $ 
    send fg\\n
    send :wq\\n
    expect written
    expect $ 
    send RUN -- less file\\n
    expect hello
    send q
    expect $ 
    send exit\\n

    """

  /// Ctrl-C, Ctrl-Z, `fg`, and programs that take the whole screen, in a shell on a terminal.
  @Test(.enabled(if: ContainedRuns.has("python3", "bash", "vim", "less"))) func aTerminalWorksAsEver() throws {
    let sandbox = try RunSandbox()
    let run = "'\(Sandbox.binary)' --root '\(sandbox.sandbox.root)' run --app \(RunSandbox.application)"
    let result = sandbox.sandbox.execute(
      RunSandbox.asUser + [
        "python3", DocumentationTests.packageRoot + "/Tests/policyctlTests/Programs/terminal.py", "bash", "--norc",
        "--noprofile", "-i",
      ], environment: ["PS1": "$ ", "TERM": "xterm"],
      input: Array(DocumentationTests.replace("RUN", with: run, in: Self.dialogue).utf8))
    #expect(result.exitCode == 0, "\(result.errors)")
    #expect(try sandbox.sandbox.read(sandbox.containerHome() + "/file") == "hello\n")
  }
}
